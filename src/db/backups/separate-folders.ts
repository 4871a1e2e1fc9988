import { realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { ownBackups } from './target.ts'

/**
 * Refuses backups in the data folder, which would be lost together with it, and a place that the data folder lies in.
 * `DATA_DIR/backups` is allowed, since `sheaf upgrade` keeps its backups there unless it is told another place.
 *
 * @param folder of the backups; null for a bucket
 * @throws Error that names both folders and says what to do
 */
export function requireSeparateFolders(folder: string | null, dataDir: string): void {
  if (folder === null) return
  const [place, data] = [realPath(folder), realPath(dataDir)]
  if (isWithin(place, realPath(ownBackups(dataDir)))) return
  if (isWithin(place, data))
    throw new Error(
      `The backups in ${folder} would be in the data folder ${dataDir}, and be lost with it. Name another folder, on another disk if you can. ` +
        'Move backups that are there already to it',
    )
  if (isWithin(data, place))
    throw new Error(
      `The folder ${folder} has the data folder ${dataDir} in it. Name a folder that is only for backups`,
    )
}

/** Refuses a file among the backups. @throws Error that says what to do */
export function requireOutsideBackups(file: string, folder: string | null): void {
  if (folder !== null && isWithin(realPath(file), realPath(folder)))
    throw new Error(`${file} is in the folder of the backups: name a file outside of ${folder}`)
}

/** True for the folder itself and for everything in it. */
function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way === '' || (way !== '..' && !way.startsWith('../') && !isAbsolute(way))
}

/** A path without symbolic links, also of a file or folder that does not exist yet. */
function realPath(path: string): string {
  const absolute = resolve(path)
  try {
    return realpathSync(absolute)
  } catch {
    // Missing, or not readable: what uses the path says why.
    const parent = dirname(absolute)
    return parent === absolute ? absolute : join(realPath(parent), basename(absolute))
  }
}
