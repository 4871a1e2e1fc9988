import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from './config.ts'

/** Keys made for this installation. They never leave the process, and are in no log. */
export interface Secrets {
  /** Signs access tokens (HS256). */
  jwt: Uint8Array
  /** Encrypts how other databases are reached, and mails that wait (AES-256). */
  connections: Uint8Array
}

/**
 * The configured secrets, or those of the data folder, which are made at first start: a file that
 * only the owner may read. Losing them signs everyone out, and connections to other databases have to be
 * entered again.
 */
export function openSecrets(config: Pick<Config, 'dataDir' | 'jwtSecret' | 'connectionSecret'>): Secrets {
  const connections = config.connectionSecret ?? readOrMake(config.dataDir, 'connections.secret')
  return {
    jwt: new TextEncoder().encode(config.jwtSecret ?? readOrMake(config.dataDir, 'jwt.secret')),
    connections: createHash('sha256').update(connections).digest(),
  }
}

/** Fewer characters are what a stop or a full disk left of a file: a key that one could guess. */
const LEAST_LENGTH = 16

function readOrMake(dataDir: string, name: string): string {
  const folder = join(dataDir, 'secrets')
  const file = join(folder, name)
  const known = read(file)
  if (known.length >= LEAST_LENGTH) return known
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const made = Buffer.from(crypto.getRandomValues(new Uint8Array(48))).toString('base64url')
  // Written beside it and moved: under its own name the file is there whole or not at all.
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, made, { mode: 0o600, flush: true })
  renameSync(draft, file)
  // Where two processes start together, both go on with what lies there in the end.
  return read(file)
}

function read(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : ''
}
