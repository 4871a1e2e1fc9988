import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readConfig } from '../config.ts'
import type { Repository } from '../db/backups/repository.ts'
import { checkRestoredFile, restoreFile } from '../db/backups/restore-backup.ts'
import { restoreInstallation } from '../db/backups/restore-installation.ts'
import { openConfigured, refuseRestoreBesidePostgres } from '../db/backups/target.ts'
import { parsed, placeOf } from './backup.ts'
import { type Command, UsageError } from './command.ts'

const HELP = `Usage: sheaf restore [--from PLACE] [--backup ID] [--to FOLDER] [--replace]
       sheaf restore --base ID --file FILE [--from PLACE] [--backup ID]

Restores a backup as the data of an installation, whose server is stopped. PLACE
is where “sheaf backup” stored it; without --from it is BACKUP_TARGET. “sheaf
backup --list” lists the backups. Everything is checked before it is used.

  --backup ID   the backup; without it the latest
  --to FOLDER   the data folder; without it DATA_DIR
  --replace     if the folder has data: they move to a folder replaced-… in it, and
                can be deleted when they are no longer wanted
  --passphrase-file FILE
                the passphrase of encrypted backups; without it BACKUP_PASSPHRASE
  --base ID --file FILE
                only writes the database of one base to a new file (SQLite). To
                restore a base in a running server, use Account, Backups`

/** `sheaf restore`: from a folder or bucket. */
export const restore: Command = {
  summary: 'restores all data, or the file of one base, from a backup',
  help: HELP,
  async run(args, env, print) {
    const options = parsed(args, {
      from: { type: 'string' },
      backup: { type: 'string' },
      to: { type: 'string' },
      replace: { type: 'boolean', default: false },
      'passphrase-file': { type: 'string' },
      base: { type: 'string' },
      file: { type: 'string' },
    })
    if ((options.base === undefined) !== (options.file === undefined))
      throw new UsageError('--base and --file belong together')
    const config = readConfig(env)
    // The file of one base replaces nothing.
    if (options.base === undefined) refuseRestoreBesidePostgres(config)
    const place = placeOf(config, options.from, options['passphrase-file'], '--from')
    const repository = await openConfigured(config, place, false)
    const backupId = options.backup ?? (await latestOf(repository))
    if (options.base !== undefined && options.file !== undefined) {
      await restoreBaseFile(repository, backupId, options.base, resolve(options.file))
      print(`Restored the base ${options.base} of ${backupId} to ${resolve(options.file)}`)
      return 0
    }
    const dataDir = options.to === undefined ? config.dataDir : resolve(options.to)
    const former = await restoreInstallation(repository, backupId, dataDir, { mayReplace: options.replace })
    print(`Restored ${backupId} to ${dataDir}, everything checked. Start the server now.`)
    if (!existsSync(join(dataDir, 'secrets')) && config.jwtSecret === null)
      print(
        `The backup has no keys: copy the folder secrets of the former installation to ${dataDir}, or set JWT_SECRET and ` +
          'CONNECTION_SECRET to new ones. With new ones everyone signs in again, and the connections to other databases, mail ' +
          'servers and buckets have to be entered again.',
      )
    if (former !== null) print(`The former data are in ${former}: delete it when you no longer want them.`)
    return 0
  },
}

/** @throws Error if there is none */
async function latestOf({ ids, store }: Repository): Promise<string> {
  const latest = (await ids()).at(-1)
  if (latest === undefined) throw new Error(`There are no backups in ${store.label}`)
  return latest
}

async function restoreBaseFile(
  repository: Repository,
  backupId: string,
  baseId: string,
  path: string,
): Promise<void> {
  const { files } = await repository.manifest(backupId)
  const file = files.find((one) => one.path === `bases/${baseId}.db`)
  if (!file) throw new Error(`The backup ${backupId} has no base ${baseId.slice(0, 40)} in a file`)
  if (existsSync(path)) throw new Error(`${path} exists already`)
  await restoreFile(repository, file, path)
  checkRestoredFile(file, path)
}
