import { accessSync, constants, mkdirSync } from 'node:fs'
import { isIP } from 'node:net'
import type { Config } from './config.ts'

/** A message that explains why the server does not start and names the setting to check. */
export function startFailure(what: string, error: unknown): Error {
  const reason = error instanceof Error ? error.message || error.name : String(error)
  return new Error(`${what}: ${reason}`, { cause: error })
}

/** Creates the data folder if missing. @throws Error if it is not writable */
export function requireDataDir({ dataDir }: Pick<Config, 'dataDir'>): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    throw startFailure(`The data folder ${dataDir} (DATA_DIR) cannot be used`, error)
  }
}

/** Starts listening by `serve`. @throws Error naming PORT or HOST, whichever has to change */
export function listen<T>({ host, port }: Pick<Config, 'host' | 'port'>, serve: () => T): T {
  try {
    return serve()
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'EADDRINUSE')
      throw new Error(`Port ${port} of ${host} is in use: end what listens there, or set PORT to another`)
    if (code !== 'EACCES' && (isHostName(host) || code === 'EADDRNOTAVAIL'))
      throw new Error(`HOST is not an address of this machine: ${host}`)
    throw startFailure(`Cannot listen on port ${port} of ${host} (PORT, HOST)`, error)
  }
}

/**
 * True for a name that has to be resolved. The error for an unknown name depends on the machine's resolver (ENOENT,
 * EINVAL, EAGAIN, ENOTFOUND), so its code is not reliable.
 */
const isHostName = (host: string): boolean => isIP(host.replace(/^\[(.*)\]$/, '$1')) === 0
