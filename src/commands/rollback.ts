import { readConfig } from '../config.ts'
import { openConfigured, refuseRestoreBesidePostgres } from '../db/backups/target.ts'
import { latestUpgrade, rollBack } from '../db/backups/upgrade.ts'
import { parsed, placeOf } from './backup.ts'
import type { Command } from './command.ts'

/** `sheaf rollback`: takes back the latest upgrade. */
export const rollback: Command = {
  summary: 'restores the state before the latest “sheaf upgrade”',
  help: `Usage: sheaf rollback --yes

Restores the backup that the latest “sheaf upgrade” has made, with the server
stopped. Everything that was changed since is lost to the restored state; the present
data are kept in a folder replaced-… in DATA_DIR. Then start the version that the
data had before.

  --yes         confirms that; without it the command only says what it would do
  --passphrase-file FILE
                the passphrase of encrypted backups; without it BACKUP_PASSPHRASE`,
  async run(args, env, print) {
    const options = parsed(args, {
      yes: { type: 'boolean', default: false },
      'passphrase-file': { type: 'string' },
    })
    const config = readConfig(env)
    refuseRestoreBesidePostgres(config)
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
    const former = await rollBack(await openConfigured(config, place, false), done, config.dataDir)
    print(`Restored the state before the upgrade to Sheaf ${done.to}. Start the version that you had before.`)
    if (former !== null) print(`The upgraded data are in ${former}: delete it when you no longer want them.`)
    return 0
  },
}
