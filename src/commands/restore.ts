import { existsSync, statSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { type Config, readConfig } from '../config.ts'
import { copyToFiles } from '../db/backups/other-kind.ts'
import type { ReplacedData } from '../db/backups/postgres/restore-postgres.ts'
import { REPLACED_DAYS } from '../db/backups/postgres/schemas.ts'
import type { Repository } from '../db/backups/repository.ts'
import { checkRestoredFile, restoreFile } from '../db/backups/restore-backup.ts'
import { refuseOtherVersion, restoreInstallation } from '../db/backups/restore-installation.ts'
import { requireOutsideBackups, requireSeparateFolders } from '../db/backups/separate-folders.ts'
import { folderOf, openConfigured } from '../db/backups/target.ts'
import { explainPath } from '../db/backups/unusable-path.ts'
import { parsed, placeOf } from './backup.ts'
import { type Command, type LeftAsItIs, type Program, UsageError } from './command.ts'

const HELP = `Usage: sheaf restore [--from PLACE] [--backup ID] [--to FOLDER] [--replace]
       sheaf restore --base ID --file FILE [--from PLACE] [--backup ID]
       sheaf restore --base ID --at TIME [--title TITLE]

Restores a backup as the data of an installation, whose server is stopped. PLACE
is where “sheaf backup” stored it; without --from it is BACKUP_TARGET. “sheaf
backup --list” lists the backups. Everything is checked before it is used. With
DATABASE_URL it is restored into that database, else into files; the backup may
be of either.

  --backup ID   the backup; without it the latest
  --to FOLDER   the data folder; without it DATA_DIR
  --replace     if the folder has data: they move to a folder replaced-… in it, and
                can be deleted when they are no longer wanted
  --passphrase-file FILE
                the passphrase of encrypted backups; without it BACKUP_PASSPHRASE
  --without-bucket-files
                leaves attached files that their buckets have lost unrestored
  --base ID --file FILE
                only writes the database of one base to a new file (SQLite), also of
                one that was in PostgreSQL
  --base ID --at TIME
                restores one base as it was at that time (2026-11-26T16:30Z, or without
                a zone in UTC) as a new base of the first super admin. It is taken from
                the first backup since that time in the place that is set under
                Account, Backups, or as it is now, and rewound by its change log.
                Nothing else changes. With files, no server may run: in a
                running one use Account, Backups. With PostgreSQL, servers may run
  --title TITLE the title of that base`

/** `sheaf restore`: from a folder or bucket. */
export const restore: Command = {
  summary: 'restores all data, or one base, from a backup or an earlier time',
  help: HELP,
  async run(args, env, print, program) {
    const options = parse(args)
    if ((options.base === undefined) !== (options.file === undefined && options.at === undefined))
      throw new UsageError('--base belongs to --file or --at')
    requireEffect(options)
    const config = readConfig(env)
    if (options.base !== undefined && options.at !== undefined)
      return restoreAt(config, { baseId: options.base, at: options.at, title: options.title }, print, program)
    const from = placeOf(config, options.from, options['passphrase-file'], '--from')
    const dataDir = options.to === undefined ? config.dataDir : resolve(options.to)
    const folder = folderOf(config, from)
    if (options.file === undefined) requireSeparateFolders(folder, dataDir)
    else requireOutsideBackups(resolve(options.file), folder)
    const repository = await openConfigured(config, from, false)
    const backupId = options.backup ?? (await latestOf(repository))
    if (options.base !== undefined && options.file !== undefined) {
      await restoreBaseFile(repository, backupId, options.base, resolve(options.file))
      print(`Restored the base ${options.base} of ${backupId} to ${resolve(options.file)}`)
      return 0
    }
    const former = await restoreInstallation({ ...config, dataDir }, repository, backupId, {
      mayReplace: options.replace,
      withBucketFiles: !options['without-bucket-files'],
      command: 'sheaf restore',
    })
    const place = config.databaseUrl === null ? dataDir : `the database of DATABASE_URL and ${dataDir}`
    print(`Restored ${backupId} to ${place}, everything checked. Start the server now.`)
    if (!existsSync(join(dataDir, 'secrets')) && config.jwtSecret === null)
      print(
        `The backup has no keys: copy the folder secrets of the former installation to ${dataDir}, or set JWT_SECRET and ` +
          'CONNECTION_SECRET to new ones. With new ones everyone signs in again, and the connections to other databases, mail ' +
          'servers and buckets have to be entered again.',
      )
    tellReplaced(former, print)
    return 0
  },
}

const parse = (args: readonly string[]) =>
  parsed(args, {
    from: { type: 'string' },
    backup: { type: 'string' },
    to: { type: 'string' },
    replace: { type: 'boolean', default: false },
    'passphrase-file': { type: 'string' },
    base: { type: 'string' },
    file: { type: 'string' },
    at: { type: 'string' },
    title: { type: 'string' },
    'without-bucket-files': { type: 'boolean', default: false },
  })

type RestoreArguments = ReturnType<typeof parse>

/** @throws UsageError for an option that has no effect with the others, and an empty folder, as of a variable that is not set */
function requireEffect({ at, base, ...others }: RestoreArguments): void {
  if (others.to?.trim() === '') throw new UsageError('--to needs a folder')
  const without = (names: readonly (keyof typeof others)[], mode: string, hint = '') => {
    const given = names.find((name) => others[name] !== undefined && others[name] !== false)
    if (given !== undefined) throw new UsageError(`--${given} has no effect ${mode}${hint}`)
  }
  if (at !== undefined)
    without(
      ['from', 'backup', 'file', 'to', 'replace', 'passphrase-file', 'without-bucket-files'],
      'with --at',
      ': the backups are those of Account, Backups',
    )
  else if (base !== undefined) without(['to', 'replace', 'title', 'without-bucket-files'], 'with --file')
  else without(['title'], 'without --at')
}

/** @throws UsageError for a text that is not a time */
async function restoreAt(
  config: Config,
  { baseId, at: text, title = null }: { baseId: string; at: string; title?: string | null },
  print: (line: string) => void,
  program: Program,
): Promise<number> {
  const hasZone = /(Z|[+-]\d\d:?\d\d)$/i.test(text)
  const at = new Date(hasZone || !text.includes('T') ? text : `${text}Z`)
  if (!/^\d{4}-\d\d-\d\d/.test(text) || Number.isNaN(at.getTime()))
    throw new UsageError(`--at needs a time such as 2026-11-26T16:30Z, not “${text.slice(0, 60)}”`)
  const asked = { baseId, at: at.toISOString(), title }
  const { id, title: restored, filesMissing, notRewound } = await program.restoreBaseAt(config, asked)
  print(`Restored the base ${baseId} of ${at.toISOString()} as “${restored}” (${id}).`)
  if (filesMissing > 0)
    print(`${filesMissing} of its attached files are neither on this server nor in a backup.`)
  for (const [reason, text] of NOT_REWOUND) {
    const names = notRewound.filter((each) => each.reason === reason).map(nameOf)
    if (names.length > 0) print(`${text}: ${names.join(', ')}`)
  }
  return 0
}

const NOT_REWOUND: readonly [LeftAsItIs['reason'], string][] = [
  ['purged', 'Not in it, because they were deleted forever since'],
  ['changed', 'Not as they were then, because they were changed since and their former state is not kept'],
  ['connected', 'Not rewound, because they are in connected databases and were changed since'],
]

function nameOf({ kind, title, count = 0 }: LeftAsItIs): string {
  if (kind === 'records' || kind === 'comments') return `${count} ${kind} of the table “${title}”`
  return `the ${kind} “${title}”`
}

/** Says where the replaced data are. */
export function tellReplaced(former: ReplacedData | null, print: (line: string) => void): void {
  if (former === null) return
  print(`The former data are in ${former.folder}: delete it when you no longer want them.`)
  if (former.schemas !== null)
    print(
      `The former tables are in the schemas ${former.schemas}…: a server drops them after ${REPLACED_DAYS} days.`,
    )
}

/** @throws Error if there is none */
async function latestOf({ ids, store }: Repository): Promise<string> {
  const latest = (await ids()).at(-1)
  if (latest === undefined) throw new Error(`There are no backups in ${store.label}`)
  return latest
}

/** Writes the database of a base as an SQLite file. */
async function restoreBaseFile(
  repository: Repository,
  backupId: string,
  baseId: string,
  path: string,
): Promise<void> {
  const manifest = await repository.manifest(backupId)
  const name = `bases/${baseId}.db`
  const file = manifest.files.find((one) => one.path === name)
  if (!file && !manifest.postgres?.some((schema) => schema.baseId === baseId))
    throw new Error(`The backup ${backupId} has no base ${baseId.slice(0, 40)}`)
  if (existsSync(path)) throw new Error(`${path} exists already`)
  if (!existsSync(dirname(path))) throw new Error(`There is no folder ${dirname(path)}`)
  // Complete or not there: another program may watch the folder.
  const part = `${path}.part`
  if (statSync(part, { throwIfNoEntry: false })?.isDirectory())
    throw new Error(`${part} exists already: remove it first`)
  await rm(part, { force: true })
  try {
    let made = part
    if (file) {
      await restoreFile(repository, file, part).catch((error: unknown) => {
        throw explainPath(path, error)
      })
    } else {
      // Of a base in PostgreSQL, beside a copy of the metadata, which say what is in its columns.
      refuseOtherVersion(manifest)
      await mkdir(part, { mode: 0o700 }).catch((error: unknown) => {
        throw explainPath(path, error)
      })
      await copyToFiles(repository, manifest, part, [baseId])
      made = join(part, name)
    }
    checkRestoredFile(file ?? { path: name }, made)
    await rename(made, path)
  } finally {
    await rm(part, { recursive: true, force: true })
  }
}
