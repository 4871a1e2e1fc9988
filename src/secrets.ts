import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from './config.ts'

/** Keys made for this installation. They never leave the process, and are in no log. */
export interface Secrets {
  /** Signs access tokens (HS256). */
  jwt: Uint8Array
}

/**
 * The configured secrets, or those of the data folder, which are made at first start: a file that
 * only the owner may read. Losing it signs everyone out and nothing more.
 */
export function openSecrets(config: Pick<Config, 'dataDir' | 'jwtSecret'>): Secrets {
  return { jwt: new TextEncoder().encode(config.jwtSecret ?? readOrMake(config.dataDir, 'jwt.secret')) }
}

function readOrMake(dataDir: string, name: string): string {
  const folder = join(dataDir, 'secrets')
  const file = join(folder, name)
  if (!existsSync(file)) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const made = Buffer.from(crypto.getRandomValues(new Uint8Array(48))).toString('base64url')
    // 'wx': where two processes start together, the second reads what the first has written.
    try {
      writeFileSync(file, made, { flag: 'wx', mode: 0o600 })
    } catch (error) {
      if (!existsSync(file)) throw error
    }
    chmodSync(file, 0o600)
  }
  return readFileSync(file, 'utf8').trim()
}
