import { existsSync } from 'node:fs'
import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { AppError } from '../core/errors.ts'
import { m } from '../messages.gen.ts'
import { type FileStore, requireKey } from './file-store.ts'

/** Stores files in a local folder, which must be on the same disk as the upload folder. */
export function createLocalStore(folder: string): FileStore {
  const pathOf = (key: string) => join(folder, requireKey(key))
  return {
    async prepare(isUnused) {
      if (existsSync(folder)) return
      // A concurrent first upload may have created it meanwhile, and registered its file after that.
      if (!(await isUnused()) && !existsSync(folder))
        throw new AppError('STORAGE_MISSING', m.storage_error_missing({ folder: basename(folder) }))
      await mkdir(folder, { recursive: true, mode: 0o700 })
    },
    async keep(key, file) {
      const path = pathOf(key)
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      await rename(file, path)
    },
    async find(key) {
      const path = pathOf(key)
      const found = await stat(path).catch(unlessMissing)
      if (!found?.isFile()) return null
      const file = Bun.file(path)
      return {
        size: found.size,
        read: (from = 0, to = found.size) => file.slice(from, to),
        bytes: () => file.bytes(),
      }
    },
    remove: (key) => rm(pathOf(key), { force: true }),
  }
}

function unlessMissing(error: unknown): null {
  const code = error instanceof Error && 'code' in error ? error.code : ''
  // ENOTDIR: the key passes through a file; ENAMETOOLONG: it is too long for a name.
  if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ENAMETOOLONG') return null
  throw error
}
