import { LRUCache } from 'lru-cache'
import type { Engine } from '../dialects/dialect.ts'
import type { WorkerPool } from '../pool.ts'
import type { ConnectionConfig } from './connection.ts'
import { openMysqlEngine } from './mysql/engine.ts'
import type { OpenFiles } from './open-files.ts'
import { openPostgresDatabase, openPostgresEngine } from './postgres/engine.ts'
import { openExternalSqliteEngine } from './sqlite-engine.ts'

/** Databases that are kept connected at once. */
const MAX_OPEN = 100

const DEFAULT_SCHEMA = 'public'

/** The databases that are not ours, each with its connections while it is used. */
export interface ExternalEngines {
  /**
   * The engine of a source.
   *
   * @param version changes with the connection: what was open under another is closed
   * @param name what errors call the source; without one, by its database
   */
  get(id: string, version: string, name: string | null, read: () => ConnectionConfig): Engine
  /** Ends the connections of a source that is not used any more. */
  drop(id: string): Promise<void>
  close(): Promise<void>
}

/** Opens no database yet. */
export function openExternalEngines(pool: WorkerPool, files: OpenFiles): ExternalEngines {
  const closing = new Set<Promise<void>>()
  const engines = new LRUCache<string, { version: string; engine: Engine }>({
    max: MAX_OPEN,
    dispose({ engine }) {
      const done = engine.close().finally(() => closing.delete(done))
      closing.add(done)
    },
  })
  return {
    get(id, version, name, read) {
      const known = engines.get(id)
      if (known?.version === version) return known.engine
      const config = read()
      const engine = openExternalEngine(config, name ?? databaseOf(config), pool, files)
      engines.set(id, { version, engine })
      return engine
    },
    async drop(id) {
      engines.delete(id)
      await Promise.all(closing)
    },
    async close() {
      engines.clear()
      await Promise.all(closing)
    },
  }
}

const databaseOf = (config: ConnectionConfig): string =>
  'file' in config ? (config.file.split(/[\\/]/).at(-1) ?? '') : config.database

type Openers = {
  [C in ConnectionConfig['client']]: (
    config: Extract<ConnectionConfig, { client: C }>,
    name: string,
    pool: WorkerPool,
    files: OpenFiles,
  ) => Engine
}

const OPENERS: Openers = {
  sqlite3: ({ file }, name, pool, files) => openExternalSqliteEngine(file, name, pool, files),
  mysql2: openMysqlEngine,
  pg(config, name) {
    const database = openPostgresDatabase(config)
    const engine = openPostgresEngine(database, config.schema ?? DEFAULT_SCHEMA, name)
    return { ...engine, close: () => database.close() }
  },
}

/**
 * A database by its connection alone, such as one that is being tried out. Close it when done.
 *
 * @param name what errors call it
 */
function openExternalEngine(
  config: ConnectionConfig,
  name: string,
  pool: WorkerPool,
  files: OpenFiles,
): Engine {
  const open = OPENERS[config.client] as (
    config: ConnectionConfig,
    name: string,
    pool: WorkerPool,
    files: OpenFiles,
  ) => Engine
  return open(config, name, pool, files)
}
