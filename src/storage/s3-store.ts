import { rm } from 'node:fs/promises'
import { S3Client } from 'bun'
import type { Config } from '../config.ts'
import { type FileStore, requireKey } from './file-store.ts'

/** Location and credentials of a bucket. */
export type S3Settings = Pick<Config, 's3Region' | 's3Endpoint' | 's3AccessKeyId' | 's3SecretAccessKey'> & {
  s3Bucket: string
}

/**
 * Stores files in a bucket of an S3-compatible server. Contents pass through this process, so that the bucket needs no
 * public access. The server may have a private address: the operator chooses it, often in the local network.
 */
export function createS3Store(config: S3Settings): FileStore {
  const bucket = new S3Client({
    bucket: config.s3Bucket,
    ...(config.s3Region && { region: config.s3Region }),
    ...(config.s3Endpoint && { endpoint: config.s3Endpoint }),
    ...(config.s3AccessKeyId && { accessKeyId: config.s3AccessKeyId }),
    ...(config.s3SecretAccessKey && { secretAccessKey: config.s3SecretAccessKey }),
  })
  const fileOf = (key: string) => bucket.file(requireKey(key))
  return {
    prepare: async () => {},
    async keep(key, file, mimetype) {
      await bucket.write(requireKey(key), Bun.file(file), { type: mimetype })
      await rm(file, { force: true })
    },
    async find(key) {
      const file = fileOf(key)
      const found = await file.stat().catch(unlessMissing)
      if (!found) return null
      return {
        size: found.size,
        // As a stream: an S3 file as a response body would redirect the client to the bucket.
        read: (from = 0, to = found.size) => file.slice(from, to).stream(),
        bytes: () => file.bytes(),
      }
    },
    async remove(key) {
      await fileOf(key).delete().catch(unlessMissing)
    },
  }
}

/** Reasons of failed requests that the runtime only calls “an unexpected error”, and one that does not name our variables. */
const REASONS: Record<string, string> = {
  ConnectionRefused: 'its server refuses the connection',
  // The answer to a HEAD request has no body.
  UnknownError: 'its server refuses the request without a reason: are the access key and the bucket right?',
  DNSResolveFailed: 'the name of its server is unknown',
  ERR_S3_MISSING_CREDENTIALS: 'an access key is needed (S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY)',
}

/** Why a request to a bucket failed, for operators: a reason of ours, or the message of the server with its code. */
export function bucketProblem(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const code = 'code' in error ? String(error.code) : ''
  const known = REASONS[code]
  if (known !== undefined) return known
  const message = error.message || error.name
  return code === '' || message.includes(code) ? message : `${message} (${code})`
}

function unlessMissing(error: unknown): null {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (/NoSuchKey|NotFound|404/.test(code)) return null
  throw error
}
