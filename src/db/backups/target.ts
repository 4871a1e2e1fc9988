import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../config.ts'
import { openRepository, type Repository } from './repository.ts'
import { openBackupStore } from './stores/index.ts'
import { explainPath } from './unusable-path.ts'

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
  | 'connectionSecret'
>

/** The variables that say what is backed up. */
export type BackupSource = Omit<BackupConfig, 'backupTarget' | 'backupPassphrase'>

/** As plain values, for a task in another process. */
export const sourceOf = (config: BackupSource): BackupSource => ({
  dataDir: config.dataDir,
  databaseUrl: config.databaseUrl,
  s3Bucket: config.s3Bucket,
  s3Region: config.s3Region,
  s3Endpoint: config.s3Endpoint,
  s3AccessKeyId: config.s3AccessKeyId,
  s3SecretAccessKey: config.s3SecretAccessKey,
  connectionSecret: config.connectionSecret,
})

/** Folder of backups before an upgrade where `BACKUP_TARGET` names no other place. */
export const ownBackups = (dataDir: string): string => join(dataDir, 'backups')

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

/** The folder of this machine that a place names; null for a bucket. @throws Error for an address that is neither */
export const folderOf = (config: BackupConfig, { url }: RepositoryRef): string | null =>
  openBackupStore({ ...config, url }).folder

/** The passphrase in a file, without the line break at its end. @throws Error if it is too short, or the file cannot be read */
export function readPassphrase(file: string): string {
  let text: string
  try {
    text = readFileSync(file, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    throw explainPath(`The file ${file}`, error)
  }
  if (text.length < MIN_PASSPHRASE)
    throw new Error(`The passphrase in ${file} is shorter than ${MIN_PASSPHRASE} characters`)
  return text
}

/** Shortest passphrase; as for the other secrets of the environment. */
const MIN_PASSPHRASE = 16
