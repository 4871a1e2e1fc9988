import { S3Client } from 'bun'
import { bucketProblem, type S3Settings } from '../../../storage/index.ts'
import { type BackupStore, requireName, type StoredObject } from './backup-store.ts'

/** Attempts of a request, and the pause before the second; later pauses are twice as long each. */
const ATTEMPTS = 4
const PAUSE_MS = 250

/** Keeps backups in a bucket of an S3-compatible server, below a prefix (`team/sheaf`, or empty). */
export function openS3Store({ s3Bucket, ...settings }: S3Settings, prefix: string): BackupStore {
  const client = new S3Client({
    bucket: s3Bucket,
    ...(settings.s3Region && { region: settings.s3Region }),
    ...(settings.s3Endpoint && { endpoint: settings.s3Endpoint }),
    ...(settings.s3AccessKeyId && { accessKeyId: settings.s3AccessKeyId }),
    ...(settings.s3SecretAccessKey && { secretAccessKey: settings.s3SecretAccessKey }),
  })
  const root = prefix === '' ? '' : `${prefix}/`
  const label = `the bucket ${s3Bucket}${prefix === '' ? '' : ` (${prefix})`}`
  const keyOf = (name: string) => `${root}${requireName(name)}`

  return {
    label,
    folder: null,
    isRemote: true,
    async put(name, bytes) {
      await attempt(label, () => client.write(keyOf(name), bytes, { type: 'application/octet-stream' }))
    },
    get: (name) => attempt(label, () => client.file(keyOf(name)).bytes().catch(unlessMissing)),
    getRange: (name, offset, length) =>
      attempt(label, () =>
        client
          .file(keyOf(name))
          .slice(offset, offset + length)
          .bytes()
          .catch(unlessMissing),
      ),
    async list(folder) {
      const found: StoredObject[] = []
      let continuationToken: string | undefined
      do {
        const page = await attempt(label, () =>
          client.list({ prefix: `${root}${folder}`, ...(continuationToken && { continuationToken }) }),
        )
        for (const { key, size, lastModified } of page.contents ?? []) {
          if (!key.startsWith(root)) continue
          const storedAt = Date.parse(lastModified ?? '')
          found.push({ name: key.slice(root.length), size: Number(size ?? 0), storedAt })
        }
        continuationToken = page.isTruncated ? page.nextContinuationToken : undefined
      } while (continuationToken !== undefined)
      return found
    },
    async remove(name) {
      await attempt(label, () => client.file(keyOf(name)).delete().catch(unlessMissing))
    },
  }
}

/** Repeats a request that failed for a reason that may pass: all of ours may be repeated. */
async function attempt<T>(label: string, request: () => Promise<T>): Promise<T> {
  for (let count = 1; ; count++) {
    try {
      return await request()
    } catch (error) {
      if (count === ATTEMPTS || isRefusal(error)) {
        throw new Error(`${label} cannot be used: ${bucketProblem(error)}`, { cause: error })
      }
      await Bun.sleep(PAUSE_MS * 2 ** (count - 1))
    }
  }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : ''

/** True for an answer that stays the same, such as wrong credentials. */
const isRefusal = (error: unknown): boolean =>
  /AccessDenied|InvalidAccessKey|SignatureDoesNotMatch|NoSuchBucket|InvalidBucket|ERR_S3_(MISSING|INVALID)/.test(
    codeOf(error),
  )

function unlessMissing(error: unknown): null {
  if (/NoSuchKey|NotFound|404/.test(codeOf(error))) return null
  throw error
}
