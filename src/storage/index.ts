import { join } from 'node:path'
import type { Config } from '../config.ts'
import type { FileStore } from './file-store.ts'
import { createLocalStore } from './local-store.ts'
import { createS3Store, type S3Config } from './s3-store.ts'

export { type FileStore, isKey, type StoredFile } from './file-store.ts'

/** The configured store: a bucket if set, else a folder in the data folder. */
export function openFileStore(config: Pick<Config, 'dataDir'> & S3Config): FileStore {
  return config.s3Bucket === null
    ? createLocalStore(join(config.dataDir, 'attachments'))
    : createS3Store(config)
}
