import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Engine } from '../dialects/dialect.ts'
import type { WorkerPool } from '../pool.ts'
import { openSqliteEngine } from './sqlite-engine.ts'

/** The databases that hold people's tables. */
export interface Sources {
  /** The database of a base, made at the first call. The same object until it is closed. */
  engine(baseId: string): Engine
  /** Path of a base's file: all of the base's records and their log. */
  path(baseId: string): string
  exists(baseId: string): boolean
  close(): Promise<void>
}

/** Embedded mode: one SQLite file for each base, under `DATA_DIR/bases`. */
export function openSources(dataDir: string, pool: WorkerPool): Sources {
  const folder = join(dataDir, 'bases')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const engines = new Map<string, Engine>()
  const path = (baseId: string) => join(folder, `${baseId}.db`)
  return {
    path,
    exists: (baseId) => existsSync(path(baseId)),
    engine(baseId) {
      const open = engines.get(baseId)
      if (open) return open
      // Ids are ours (`p` and 14 characters); anything else could leave the folder.
      if (!/^p[a-z0-9]{14}$/.test(baseId)) throw new Error(`"${baseId}" is not the id of a base`)
      const engine = openSqliteEngine(path(baseId), pool)
      engines.set(baseId, engine)
      return engine
    },
    async close() {
      await Promise.all([...engines.values()].map((engine) => engine.close()))
      engines.clear()
    },
  }
}
