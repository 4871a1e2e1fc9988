import { existingConnectionKey, unseal } from '../../secrets.ts'
import { createS3Store, type FileStore, type S3Settings } from '../../storage/index.ts'
import type { ChunkWriter } from './chunk-writer.ts'
import type { BackupFile } from './manifest.ts'
import type { BackupConfig } from './target.ts'

/** An attached file as the metadata have it. */
export interface AttachedFile {
  /** As in cells: `download/…`. */
  path: string
  /** The bucket that has it; null: the store of the environment. */
  storeId: string | null
  /** Bytes. */
  size: number
}

/** A bucket of the account area, as the metadata have it. */
export interface BucketRow {
  id: string
  /** Sealed `S3Settings`. */
  settings: string
}

/** Id in backups of the bucket that `S3_BUCKET` names. */
const OWN_BUCKET = 'S3_BUCKET'

/** Files on their way at the same time. */
const MAX_IN_FLIGHT = 4
const PIECE_BYTES = 256 * 1024

/** The key of a file in its store, and its path in backups below `attachments`. */
const keyOf = ({ path }: Pick<AttachedFile, 'path'>): string => path.replace(/^download\//, '')

/** The files that are in buckets. */
export const inBuckets = (files: readonly AttachedFile[], hasOwnBucket: boolean): AttachedFile[] =>
  files.filter(({ storeId }) => storeId !== null || hasOwnBucket)

/**
 * Opens buckets by their ids in backups.
 *
 * @param secretsIn the data folder with the key that has sealed their settings
 * @throws Error from the result, for a bucket that is unknown or whose settings cannot be read
 */
export function bucketOpener(
  config: Pick<
    BackupConfig,
    's3Bucket' | 's3Region' | 's3Endpoint' | 's3AccessKeyId' | 's3SecretAccessKey' | 'connectionSecret'
  >,
  rows: readonly BucketRow[],
  secretsIn: string,
): (id: string) => FileStore {
  const opened = new Map<string, FileStore>()
  const key = existingConnectionKey({ ...config, dataDir: secretsIn })
  function settingsOf(id: string): S3Settings {
    if (id === OWN_BUCKET) {
      if (config.s3Bucket === null)
        throw new Error('S3_BUCKET is not set, but attached files belong into its bucket')
      return { ...config, s3Bucket: config.s3Bucket }
    }
    const row = rows.find((one) => one.id === id)
    const text = row && key ? unseal(key, row.settings) : null
    if (text === null)
      throw new Error(
        `The access to the bucket ${id} of attached files cannot be read: CONNECTION_SECRET is another one`,
      )
    return JSON.parse(text) as S3Settings
  }
  return (id) => {
    const store = opened.get(id) ?? createS3Store(settingsOf(id))
    opened.set(id, store)
    return store
  }
}

/**
 * Stores attached files of buckets. Those that the previous backup has are not read again: they never change.
 *
 * @returns the files, and the number of those that are missing in their bucket, or of which it answers a part only
 * @throws Error that names the bucket
 */
export async function storeBucketFiles(
  files: readonly AttachedFile[],
  open: (id: string) => FileStore,
  writer: ChunkWriter,
  known: ReadonlyMap<string, BackupFile>,
): Promise<{ stored: BackupFile[]; missing: number }> {
  const stored: BackupFile[] = []
  let missing = 0
  async function storeOne(file: AttachedFile): Promise<void> {
    const bucket = file.storeId ?? OWN_BUCKET
    const path = `attachments/${keyOf(file)}`
    const before = known.get(path)
    if (before && before.bucket === bucket && before.size === file.size && writer.hasAll(before.chunks)) {
      stored.push(before)
      return
    }
    const found = await open(bucket).find(keyOf(file)).catch(naming(bucket))
    if (found === null) {
      missing++
      return
    }
    const content = found.read()
    const contents = writer.begin()
    for await (const piece of piecesOf(content instanceof Blob ? content.stream() : content))
      await contents.add(piece)
    const { size, chunks } = await contents.end()
    if (size === found.size) stored.push({ path, bucket, size, chunks })
    else missing++
  }
  await eachOf(files, storeOne)
  return { stored, missing }
}

/** Puts attached files back into their buckets, except those that are there. @throws Error that names the bucket */
export async function returnBucketFiles(
  files: readonly BackupFile[],
  open: (id: string) => FileStore,
  restore: (file: BackupFile) => Promise<string>,
): Promise<void> {
  await eachOf(files, async (file) => {
    const { bucket = OWN_BUCKET, path, size } = file
    const key = path.slice('attachments/'.length)
    const found = await open(bucket).find(key).catch(naming(bucket))
    if (found?.size === size) return
    await open(bucket)
      .keep(key, await restore(file), 'application/octet-stream')
      .catch(naming(bucket))
  })
}

async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values()
  const run = async () => {
    for (const item of left) await work(item)
  }
  await Promise.all(Array.from({ length: MAX_IN_FLIGHT }, run))
}

async function* piecesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  let held: Uint8Array[] = []
  let size = 0
  for await (const bytes of stream) {
    held.push(bytes)
    size += bytes.length
    if (size < PIECE_BYTES) continue
    const joined = Buffer.concat(held, size)
    const whole = joined.length - (joined.length % PIECE_BYTES)
    for (let at = 0; at < whole; at += PIECE_BYTES) yield joined.subarray(at, at + PIECE_BYTES)
    held = [joined.subarray(whole)]
    size = joined.length - whole
  }
  if (size > 0) yield Buffer.concat(held, size)
}

const naming =
  (bucket: string) =>
  (error: unknown): never => {
    const reason = error instanceof Error ? error.message || error.name : String(error)
    throw new Error(`The bucket ${bucket} of attached files cannot be used: ${reason}`, { cause: error })
  }
