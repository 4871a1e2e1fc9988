import { join } from 'node:path'
import type { Config } from '../config.ts'
import { AppError } from '../core/errors.ts'
import { m } from '../messages.gen.ts'
import { defineSlot, type Registry } from '../registry.ts'
import type { FileStore } from './file-store.ts'
import { createLocalStore } from './local-store.ts'
import { createS3Store, type S3Settings } from './s3-store.ts'

export { type FileStore, isKey, type StoredFile } from './file-store.ts'
export { bucketProblem, createS3Store, type S3Settings } from './s3-store.ts'

/** Buckets from the account area. A bucket that has been used stays known, because files may be in it. */
export interface ConfiguredBuckets {
  /** The bucket for new files; null if none is configured. */
  current(): { id: string; settings: S3Settings } | null
  /** A bucket that is or was configured, by its id; null if it is unknown. */
  find(id: string): Promise<S3Settings | null>
}

export const CONFIGURED_BUCKETS = defineSlot<ConfiguredBuckets>('storage.buckets')

/**
 * The stores of uploaded files. Each file knows its store by an id, so that another store for new files leaves those
 * that are already stored readable.
 */
export interface FileStores {
  /** The store for new files. `id` is null for the store of the environment: its bucket, or the data folder. */
  current(): { id: string | null; store: FileStore }
  /** The store with the id. @throws STORAGE_MISSING if it is unknown */
  get(id: string | null): Promise<FileStore>
}

/** `S3_BUCKET` takes precedence over the bucket of the account area. */
export function openFileStores(
  config: Pick<Config, 'dataDir' | 's3Bucket'> & Omit<S3Settings, 's3Bucket'>,
  registry: Registry,
): FileStores {
  const own = openOwnStore(config)
  /** Opened buckets by their settings, which are replaced when they change. */
  const opened = new WeakMap<S3Settings, FileStore>()

  function open(settings: S3Settings): FileStore {
    const known = opened.get(settings) ?? createS3Store(settings)
    opened.set(settings, known)
    return known
  }

  return {
    current() {
      const bucket = config.s3Bucket === null ? registry.get(CONFIGURED_BUCKETS).current() : null
      return bucket ? { id: bucket.id, store: open(bucket.settings) } : { id: null, store: own }
    },
    async get(id) {
      if (id === null) return own
      const settings = await registry.get(CONFIGURED_BUCKETS).find(id)
      if (!settings) throw new AppError('STORAGE_MISSING', m.storage_error_unknown_bucket())
      return open(settings)
    },
  }
}

/** The store of the environment: a bucket if set, else a folder in the data folder. */
export function openOwnStore(
  config: Pick<Config, 'dataDir' | 's3Bucket'> & Omit<S3Settings, 's3Bucket'>,
): FileStore {
  const { s3Bucket } = config
  return s3Bucket === null
    ? createLocalStore(join(config.dataDir, 'attachments'))
    : createS3Store({ ...config, s3Bucket })
}
