import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { randomText } from '../../../core/ids.ts'
import { explainPath } from '../unusable-path.ts'
import { type BackupStore, requireName, type StoredObject } from './backup-store.ts'

/** Unfinished objects, removed before the next backup. */
const DRAFTS = 'drafts'

/** Keeps backups in a folder, which is created with the first object. */
export function openFolderStore(folder: string): BackupStore {
  const label = `the folder ${folder}`
  const known = new Set<string>()
  const unusable = (error: unknown): never => {
    throw explainPath(`The folder ${folder}`, error)
  }
  async function prepare(path: string): Promise<void> {
    if (known.has(path)) return
    await mkdir(path, { recursive: true, mode: 0o700 }).catch(unusable)
    known.add(path)
  }

  async function* walk(prefix: string): AsyncGenerator<StoredObject> {
    const entries = await readdir(join(folder, prefix), { withFileTypes: true })
      .catch(unlessMissing)
      .catch(unusable)
    for (const entry of entries ?? []) {
      const name = `${prefix}${entry.name}`
      if (entry.isDirectory()) yield* walk(`${name}/`)
      else if (entry.isFile()) {
        const found = await stat(join(folder, name)).catch(unlessMissing)
        if (found) yield { name, size: found.size, storedAt: found.mtimeMs }
      }
    }
  }

  return {
    label,
    folder,
    isRemote: false,
    async put(name, bytes) {
      const path = join(folder, requireName(name))
      const draft = join(folder, DRAFTS, `${process.pid}-${randomText(12)}`)
      await prepare(dirname(draft))
      await prepare(dirname(path))
      try {
        const file = await open(draft, 'wx', 0o600).catch(unusable)
        try {
          await file.writeFile(bytes)
          await file.datasync()
        } finally {
          await file.close()
        }
        await rename(draft, path)
      } catch (error) {
        await rm(draft, { force: true })
        throw explainPath(`The folder ${folder}`, error)
      }
    },
    get: (name) =>
      readFile(join(folder, requireName(name)))
        .catch(unlessMissing)
        .catch(unusable),
    async getRange(name, offset, length) {
      const file = await open(join(folder, requireName(name))).catch(unlessMissing)
      if (!file) return null
      try {
        const { bytesRead, buffer } = await file.read(new Uint8Array(length), 0, length, offset)
        return buffer.subarray(0, bytesRead)
      } finally {
        await file.close()
      }
    },
    list: (prefix) => Array.fromAsync(walk(prefix)),
    remove: (name) => rm(join(folder, requireName(name)), { force: true }),
  }
}

function unlessMissing(error: unknown): null {
  if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
    return null
  throw error
}
