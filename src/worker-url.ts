import { join } from 'node:path'
import { pathToFileURL } from 'bun'

/** Path of a script that runs as a process or a thread of its own, by its path in the project. Not in the executable. */
export const scriptPath = (path: string): string => join(import.meta.dir, '..', path)

/**
 * URL of a worker's script for `new Worker`, by project path. The executable has each worker under the same path below
 * its root; see scripts/build.ts.
 */
export const workerUrl = (path: string): string =>
  Bun.isStandaloneExecutable ? `${import.meta.dir}/${path}` : pathToFileURL(scriptPath(path)).href
