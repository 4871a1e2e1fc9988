import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from './config.ts'

/** Keys of this installation. They never leave the process and are never logged. */
export interface Secrets {
  /** Newly created keys: their files, and the variables that replace them. */
  made: { file: string; variable: 'JWT_SECRET' | 'CONNECTION_SECRET' }[]
  /** Signs access tokens (HS256). */
  jwt: Uint8Array
  /** Encrypts connections to external databases and waiting mails (AES-256). */
  connections: Uint8Array
}

/**
 * The configured secrets, or those of the data folder, created at first start in files that only the owner can read.
 * Losing them signs everyone out, and connections to external databases must be entered again.
 */
export function openSecrets(config: Pick<Config, 'dataDir' | 'jwtSecret' | 'connectionSecret'>): Secrets {
  const made: Secrets['made'] = []
  const keyOf = (name: string, variable: Secrets['made'][number]['variable']) => {
    const file = join(config.dataDir, 'secrets', name)
    if (read(file).length < LEAST_LENGTH) made.push({ file, variable })
    return readOrMake(config.dataDir, name)
  }
  const connections = config.connectionSecret ?? keyOf('connections.secret', 'CONNECTION_SECRET')
  return {
    jwt: new TextEncoder().encode(config.jwtSecret ?? keyOf('jwt.secret', 'JWT_SECRET')),
    connections: connectionKey(connections),
    made,
  }
}

/** The key that encrypts connections, without creating it; null if there is none yet. */
export function existingConnectionKey({
  dataDir,
  connectionSecret,
}: Pick<Config, 'dataDir' | 'connectionSecret'>): Uint8Array | null {
  const secret = connectionSecret ?? read(join(dataDir, 'secrets', 'connections.secret'))
  return secret.length < LEAST_LENGTH ? null : connectionKey(secret)
}

const connectionKey = (secret: string): Uint8Array => createHash('sha256').update(secret).digest()

/**
 * Removes newly created keys if existing data needs the former ones.
 *
 * @param needed true if there is data that only the former key can decrypt or has signed
 * @throws Error naming the file, if so
 */
export function refuseNewKeys(
  { made }: Secrets,
  needed: Record<Secrets['made'][number]['variable'], boolean>,
): void {
  for (const { file, variable } of made) {
    if (!needed[variable]) continue
    rmSync(file, { force: true })
    throw lostSecret(file, variable)
  }
}

const lostSecret = (file: string, variable: string): Error =>
  new Error(
    `${file} is missing or damaged, but this installation is in use: restore it from a backup, ` +
      `or set ${variable} to a key (a new one loses what the former one protects). Nothing was created`,
  )

/** A shorter file was truncated by a crash or a full disk and would be guessable. */
const LEAST_LENGTH = 16

function readOrMake(dataDir: string, name: string): string {
  const folder = join(dataDir, 'secrets')
  const file = join(folder, name)
  const known = read(file)
  if (known.length >= LEAST_LENGTH) return known
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const made = Buffer.from(crypto.getRandomValues(new Uint8Array(48))).toString('base64url')
  // Written under another name and renamed, so that the file is complete or missing.
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, made, { mode: 0o600, flush: true })
  renameSync(draft, file)
  // If two processes start together, both read the file that was written last.
  return read(file)
}

function read(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : ''
}

/** First byte of sealed text, for future formats. */
const VERSION = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * Encrypts and authenticates a text (AES-256-GCM): version, nonce, tag and ciphertext, in base64url.
 *
 * @param key 32 bytes: `secrets.connections`
 */
export function seal(key: Uint8Array, text: string): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), sealed]).toString('base64url')
}

/** Decrypts the output of `seal`; null if the key differs or the text was altered. */
export function unseal(key: Uint8Array, sealed: string): string | null {
  const bytes = Buffer.from(sealed, 'base64url')
  const nonce = bytes.subarray(1, 1 + NONCE_BYTES)
  const tag = bytes.subarray(1 + NONCE_BYTES, 1 + NONCE_BYTES + TAG_BYTES)
  if (bytes[0] !== VERSION || tag.length !== TAG_BYTES) return null
  const decipher = createDecipheriv('aes-256-gcm', key, nonce)
  decipher.setAuthTag(tag)
  const text = decipher.update(bytes.subarray(1 + NONCE_BYTES + TAG_BYTES))
  try {
    return Buffer.concat([text, decipher.final()]).toString('utf8')
  } catch {
    // Wrong key or altered text.
    return null
  }
}
