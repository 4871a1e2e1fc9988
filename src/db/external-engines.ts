import { LRUCache } from 'lru-cache'
import type { Engine } from '../dialects/dialect.ts'
import { postgres } from '../dialects/postgres.ts'
import type { WorkerPool } from '../pool.ts'
import type { ConnectionConfig } from './connection.ts'
import { openMysqlEngine } from './mysql/engine.ts'
import type { OpenFiles } from './open-files.ts'
import { openPostgresDatabase, openPostgresEngine } from './postgres/engine.ts'
import { openExternalSqliteEngine } from './sqlite-engine.ts'
import { type EngineWatch, watchEngine } from './watched-engine.ts'

/** Maximum number of connected databases. */
const MAX_OPEN = 100

const DEFAULT_SCHEMA = 'public'

/** Engines of external databases, each connected while in use. */
export interface ExternalEngines {
  /**
   * The engine of a source.
   *
   * @param version changes with the configuration: connections of another version are closed
   * @param name the source's name in errors; by default the name of its database
   */
  get(id: string, version: string, name: string | null, read: () => ConnectionConfig): Engine
  /** Closes the connections of a source. */
  drop(id: string): Promise<void>
  close(): Promise<void>
}

export function openExternalEngines(
  pool: WorkerPool,
  files: OpenFiles,
  watch: EngineWatch = {},
): ExternalEngines {
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
      const own = openExternalEngine(config, name ?? databaseOf(config), pool, files, watch)
      const engine = watchEngine(own, watch)
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
    watch: EngineWatch,
  ) => Engine
}

const OPENERS: Openers = {
  sqlite3: ({ file }, name, pool, files) => openExternalSqliteEngine(file, name, pool, files),
  mysql2: openMysqlEngine,
  pg(config, name, _pool, _files, watch) {
    const database = openPostgresDatabase(config)
    const engine = openPostgresEngine(database, config.schema ?? DEFAULT_SCHEMA, name, postgres, watch)
    return { ...engine, close: () => database.close() }
  },
}

/**
 * An engine that is not cached, for example to try out a connection. The caller closes it.
 *
 * @param name its name in errors
 */
function openExternalEngine(
  config: ConnectionConfig,
  name: string,
  pool: WorkerPool,
  files: OpenFiles,
  watch: EngineWatch,
): Engine {
  const open = OPENERS[config.client] as (
    config: ConnectionConfig,
    name: string,
    pool: WorkerPool,
    files: OpenFiles,
    watch: EngineWatch,
  ) => Engine
  return open(config, name, pool, files, watch)
}
