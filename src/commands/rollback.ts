import { readConfig } from '../config.ts'
import { REPLACED_DAYS } from '../db/backups/postgres/schemas.ts'
import { openConfigured } from '../db/backups/target.ts'
import { latestUpgrade, rollBack } from '../db/backups/upgrade.ts'
import { parsed, placeOf } from './backup.ts'
import type { Command } from './command.ts'
import { tellReplaced } from './restore.ts'

/** `sheaf rollback`: takes back the latest upgrade. */
export const rollback: Command = {
  summary: 'restores the state before the latest “sheaf upgrade”',
  help: `Usage: sheaf rollback --yes

Restores the backup that the latest “sheaf upgrade” has made, with the server
stopped. Everything that was changed since is lost to the restored state; the present
data are kept in a folder replaced-… in DATA_DIR, and for ${REPLACED_DAYS} days in schemas
sheaf_replaced_… of the database. Then start the version that the data had before.

  --yes         confirms that; without it the command only says what it would do
  --passphrase-file FILE
                the passphrase of encrypted backups; without it BACKUP_PASSPHRASE`,
  async run(args, env, print) {
    const options = parsed(args, {
      yes: { type: 'boolean', default: false },
      'passphrase-file': { type: 'string' },
    })
    const config = readConfig(env)
    const done = latestUpgrade(config.dataDir)
    if (done === null) throw new Error(`There is no upgrade in ${config.dataDir} to take back`)
    if (!options.yes) {
      print(
        `Would restore the backup ${done.backupId} from before the upgrade to Sheaf ${done.to} (${done.at}). ` +
          'All changes since are lost to it. Repeat the command with --yes.',
      )
      return 1
    }
    const place = placeOf(config, done.url, options['passphrase-file'], '--from')
    const former = await rollBack(config, await openConfigured(config, place, false), done)
    print(`Restored the state before the upgrade to Sheaf ${done.to}. Start the version that you had before.`)
    tellReplaced(former, print)
    return 0
  },
}
