import { readConfig } from '../config.ts'
import { requireSeparateFolders } from '../db/backups/separate-folders.ts'
import { folderOf, ownBackups } from '../db/backups/target.ts'
import { upgrade } from '../db/backups/upgrade.ts'
import { VERSION } from '../version.ts'
import { parsed, placeOf } from './backup.ts'
import type { Command } from './command.ts'

/** `sheaf upgrade`: to this version, rehearsed and with a backup. */
export const upgradeCommand: Command = {
  summary: 'upgrades the data to this version, after a backup and a rehearsal',
  help: `Usage: sheaf upgrade [--to PLACE]

Upgrades the data of an older version to this one, with its server stopped:

  1. checks the free space, and backs everything up to PLACE (BACKUP_TARGET, or
     without it DATA_DIR/backups)
  2. takes all steps of the upgrade in a copy, and checks it
  3. takes them in the data

Until the third step nothing is changed. “sheaf rollback” restores the state before.
A server that is started without it upgrades the data as well, but without 1 and 2.

  --passphrase-file FILE
                the passphrase of encrypted backups; without it BACKUP_PASSPHRASE`,
  async run(args, env, print) {
    const options = parsed(args, { to: { type: 'string' }, 'passphrase-file': { type: 'string' } })
    const config = readConfig(env)
    const url = options.to ?? config.backupTarget ?? `file:${ownBackups(config.dataDir)}`
    const place = placeOf(config, url, options['passphrase-file'], '--to')
    requireSeparateFolders(folderOf(config, place), config.dataDir)
    const done = await upgrade(config, place, print)
    if (done === null) print(`The data are of Sheaf ${VERSION} already.`)
    else
      print(
        `Upgraded to Sheaf ${VERSION}. Start the server now; “sheaf rollback --yes” would restore the state before.`,
      )
    return 0
  },
}
