import { parseArgs } from 'node:util'
import { type Config, readConfig } from '../config.ts'
import { testRestore } from '../db/backups/restore-test.ts'
import { prune, type Retention, verifyChunks } from '../db/backups/retention.ts'
import { requireSeparateFolders } from '../db/backups/separate-folders.ts'
import {
  type BackupConfig,
  folderOf,
  openConfigured,
  type RepositoryRef,
  readPassphrase,
} from '../db/backups/target.ts'
import { neededBackups } from '../db/backups/upgrade.ts'
import { writeBackup } from '../db/backups/write-backup.ts'
import { lowerProcessPriority } from '../db/priority.ts'
import { type Command, counted, UsageError } from './command.ts'

const HELP = `Usage: sheaf backup [--to PLACE] [options]
       sheaf backup --list | --verify ID [--to PLACE]

Backs up accounts, bases, records, their history and trash, and attached files,
while the server runs or not, at the lowest priority. Only what has changed since
earlier backups is stored, from files as well as from PostgreSQL (DATABASE_URL).
PLACE is a folder (file:/mnt/backups) or a bucket (s3://bucket/folder); without
--to it is BACKUP_TARGET. It must be outside of DATA_DIR, and not have it inside.

  --test             then restores the backup into a temporary folder in DATA_DIR
                     and checks everything in it
  --passphrase-file FILE
                     encrypts the backups of a new place, and is needed for each
                     later one; without it BACKUP_PASSPHRASE
  --with-secrets     also backs up the keys in DATA_DIR/secrets. Without encryption,
                     whoever can read the backup can use them. Encrypted backups
                     always have them
  --without-bucket-files
                     leaves out attached files that are in buckets. Otherwise they
                     are copied, each only once
  --keep-last N, --keep-daily N, --keep-weekly N, --keep-monthly N
                     then removes all backups except the latest N, and the latest
                     of each of the latest N days, weeks and months
  --list             lists the backups
  --verify ID        reads and checks all contents of a backup`

/** `sheaf backup`: into a folder or bucket. */
export const backup: Command = {
  summary: 'backs up all data to a folder or a bucket',
  help: HELP,
  async run(args, env, print) {
    const options = parse(args)
    const config = readConfig(env)
    const place = placeOf(config, options.to, options['passphrase-file'], '--to')
    if (options.list) return list(config, place, print)
    if (options.verify !== undefined) return verify(config, place, options.verify, print)
    await run(config, place, options, print)
    return 0
  },
}

function parse(args: readonly string[]) {
  return parsed(args, {
    to: { type: 'string' },
    'passphrase-file': { type: 'string' },
    test: { type: 'boolean', default: false },
    'without-bucket-files': { type: 'boolean', default: false },
    'with-secrets': { type: 'boolean', default: false },
    'keep-last': { type: 'string' },
    'keep-daily': { type: 'string' },
    'keep-weekly': { type: 'string' },
    'keep-monthly': { type: 'string' },
    list: { type: 'boolean', default: false },
    verify: { type: 'string' },
  })
}

type Options = ReturnType<typeof parse>

/** The options of a command. @throws UsageError for one that it does not have */
export function parsed<const T extends NonNullable<Parameters<typeof parseArgs>[0]>['options']>(
  args: readonly string[],
  options: T,
) {
  try {
    return parseArgs({ args: [...args], options }).values
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

/** @throws UsageError if neither the option nor the environment names a place */
export function placeOf(
  config: BackupConfig,
  place: string | undefined,
  passphraseFile: string | undefined,
  option: '--to' | '--from',
): RepositoryRef {
  const url = place ?? config.backupTarget
  if (url === null) throw new UsageError(`Name the place of the backups with ${option} or BACKUP_TARGET`)
  return {
    url,
    passphrase: passphraseFile === undefined ? config.backupPassphrase : readPassphrase(passphraseFile),
  }
}

/** @throws UsageError for a number that is none */
function retentionOf(options: Options): Retention {
  const numberOf = (name: 'keep-last' | 'keep-daily' | 'keep-weekly' | 'keep-monthly'): number => {
    const text = options[name] ?? '0'
    if (!/^\d{1,4}$/.test(text))
      throw new UsageError(`--${name} needs a number from 0 to 9999, not “${text}”`)
    return Number(text)
  }
  return {
    last: numberOf('keep-last'),
    daily: numberOf('keep-daily'),
    weekly: numberOf('keep-weekly'),
    monthly: numberOf('keep-monthly'),
  }
}

async function run(
  config: Config,
  place: RepositoryRef,
  options: Options,
  print: (line: string) => void,
): Promise<void> {
  const retention = retentionOf(options)
  requireSeparateFolders(folderOf(config, place), config.dataDir)
  lowerProcessPriority('lowest')
  const repository = await openConfigured(config, place, true)
  const withSecrets = options['with-secrets'] || repository.codec.isEncrypted
  const summary = await writeBackup(config, repository, {
    kind: 'manual',
    withSecrets,
    withBucketFiles: !options['without-bucket-files'],
  })
  print(
    `Backed up ${counted(summary.bases.length, 'base')} to ${repository.store.label}: ${inMegabytes(summary.size)}, ` +
      `${inMegabytes(summary.added)} of them new, in ${(summary.durationMs / 1000).toFixed(1)} s`,
  )
  if (summary.filesElsewhere > 0)
    print(
      options['without-bucket-files']
        ? `${summary.filesElsewhere} attached files in buckets are not in it.`
        : `${summary.filesElsewhere} attached files are missing in their buckets or incomplete, and not in it.`,
    )
  if (!summary.hasSecrets)
    print('The keys in DATA_DIR/secrets are not in it: keep a copy of them, or use --with-secrets.')
  print(`Backup: ${summary.id}`)
  if (options.test) {
    const { problem, durationMs } = await testRestore(repository, summary.id, config)
    if (problem !== null) throw new Error(`The backup cannot be restored: ${problem}`)
    print(`Restored it into a temporary folder and checked it in ${(durationMs / 1000).toFixed(1)} s.`)
  }
  if (Object.values(retention).every((count) => count === 0)) return
  const { backups, bytes } = await prune(repository, retention, [
    summary.id,
    ...neededBackups(config.dataDir),
  ])
  if (backups > 0) print(`Removed ${counted(backups, 'old backup')}: ${inMegabytes(bytes)} freed`)
}

async function list(config: Config, place: RepositoryRef, print: (line: string) => void): Promise<number> {
  const repository = await openConfigured(config, place, false)
  for (const { id, summary, test } of await repository.list()) {
    const tested =
      test === null ? 'not tested' : test.problem === null ? `restored ${test.at}` : `FAILED: ${test.problem}`
    const facts = summary
      ? `${summary.at.slice(0, 16).replace('T', ' ')}  ${summary.kind.padEnd(9)}  Sheaf ${summary.version}  ${counted(summary.bases.length, 'base')}  ${inMegabytes(summary.size)}`
      : 'damaged'
    print(`${id}  ${facts}  ${tested}`)
  }
  return 0
}

async function verify(
  config: Config,
  place: RepositoryRef,
  id: string,
  print: (line: string) => void,
): Promise<number> {
  const repository = await openConfigured(config, place, false)
  const problems = await verifyChunks(repository, id)
  for (const problem of problems) print(`FAIL  ${problem}`)
  if (problems.length === 0) print(`ok    All contents of ${id} are as they were backed up`)
  return problems.length === 0 ? 0 : 1
}

/** Bytes for people: `12.3 MB`. */
export const inMegabytes = (bytes: number): string => `${(bytes / 1024 ** 2).toFixed(1)} MB`
