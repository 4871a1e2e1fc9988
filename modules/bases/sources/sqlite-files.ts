import { existsSync, mkdirSync, realpathSync, statSync } from 'node:fs'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { badRequest } from '../../../src/core/errors.ts'
import type { ConnectionConfig } from '../../../src/db/connection.ts'

/**
 * The connection with its file looked up. A file of this machine is read with the rights of the server, so
 * only those of one folder are let in, which its operator fills; nothing that leads out of it.
 *
 * @throws BAD_REQUEST where the file is not there; the same words for what is there but outside, so that
 *   nobody learns which files the machine has
 */
export function withAllowedFile(folder: string, config: ConnectionConfig): ConnectionConfig {
  if (!('file' in config)) return config
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const root = realpathSync(folder)
  const wanted = isAbsolute(config.file) ? config.file : resolve(root, config.file)
  const refusal = () =>
    badRequest(
      `There is no file "${config.file.slice(0, 200)}" in the folder that SQLite files are read from`,
    )
  if (!isInside(root, wanted) || !existsSync(wanted)) throw refusal()
  // A link in the folder may lead anywhere.
  const file = realpathSync(wanted)
  if (!isInside(root, file) || !statSync(file).isFile()) throw refusal()
  return { client: 'sqlite3', file: join(root, relative(root, file)) }
}

const isInside = (root: string, path: string): boolean => {
  const way = relative(root, path)
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}
