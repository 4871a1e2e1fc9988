import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../config.ts'
import { openRepository, type Repository } from './repository.ts'
import { openBackupStore } from './stores/index.ts'

/** The variables that say where backups are. */
export type BackupConfig = Pick<
  Config,
  | 'dataDir'
  | 'databaseUrl'
  | 's3Bucket'
  | 's3Region'
  | 's3Endpoint'
  | 's3AccessKeyId'
  | 's3SecretAccessKey'
  | 'backupTarget'
  | 'backupPassphrase'
>

/** Place of backups before an upgrade where `BACKUP_TARGET` names no other. */
export const ownBackups = (dataDir: string): string => `file:${join(dataDir, 'backups')}`

/** Where backups are, and their passphrase. */
export interface RepositoryRef {
  url: string
  passphrase: string | null
}

/**
 * Opens the backups at an address with the access of the environment: buckets use `S3_ENDPOINT`, `S3_REGION`,
 * `S3_ACCESS_KEY_ID` and `S3_SECRET_ACCESS_KEY`.
 */
export const openConfigured = (
  config: BackupConfig,
  { url, passphrase }: RepositoryRef,
  mayCreate: boolean,
): Promise<Repository> => openRepository(openBackupStore({ ...config, url }), passphrase, { mayCreate })

/**
 * Refuses to restore the data folder of a server that keeps its data in PostgreSQL: it would not use what is restored.
 *
 * @throws Error that says what to do
 */
export function refuseRestoreBesidePostgres({ databaseUrl }: Pick<Config, 'databaseUrl'>): void {
  if (databaseUrl === null) return
  throw new Error(
    'DATABASE_URL is set: the server keeps its data in PostgreSQL and would not use restored files. Restore that ' +
      'database with its own tools, such as pg_restore, or unset DATABASE_URL to run on files: see docs/backup.md',
  )
}

/** The passphrase in a file, without the line break at its end. @throws Error if it is too short */
export function readPassphrase(file: string): string {
  const text = readFileSync(file, 'utf8').replace(/\r?\n$/, '')
  if (text.length < MIN_PASSPHRASE)
    throw new Error(`The passphrase in ${file} is shorter than ${MIN_PASSPHRASE} characters`)
  return text
}

/** Shortest passphrase; as for the other secrets of the environment. */
const MIN_PASSPHRASE = 16
