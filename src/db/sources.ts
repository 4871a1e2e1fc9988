import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { notFound } from '../core/errors.ts'
import type { Engine } from '../dialects/dialect.ts'
import type { WorkerPool } from '../pool.ts'
import type { Secrets } from '../secrets.ts'
import { type ConnectionConfig, openConnection, postgresConnection } from './connection.ts'
import { copySqliteHome, type HomeCopy, removeSqliteFiles, replacement } from './copy-home.ts'
import { type ExternalEngines, openExternalEngines } from './external-engines.ts'
import { dropBaseSchema, hasSchema, schemaOfBase, upgradeBaseSchema } from './postgres/base-schema.ts'
import { copySchema } from './postgres/copy-schema.ts'
import { NOWHERE } from './postgres/driver.ts'
import { openPostgresDatabase, openPostgresEngine } from './postgres/engine.ts'
import { explainPostgres, OWN_DATABASE } from './postgres/errors.ts'
import { postgresIdentity } from './same-server.ts'
import { openSqliteEngine } from './sqlite-engine.ts'

/** What holds a base's own tables: a file of its own, or a schema in the server's PostgreSQL. */
export type HomeClient = 'sqlite3' | 'pg'

/** A database that a base reads, as the metadata has it. */
export interface SourceRef {
  id: string
  baseId: string
  alias: string | null
  isOwn: boolean
  /** How to reach one that is not ours, sealed by `sealConnection`. */
  config: string | null
}

type HomeOf = (baseId: string) => Promise<ConnectionConfig['client'] | null>

/** The databases that hold people's tables. */
export interface Sources {
  /** What the home of a new base is. Those that exist stay where they are. */
  readonly newHome: HomeClient
  /** The home of a base, made at the first call. The same object until it is closed. @throws BASE_NOT_FOUND */
  engine(baseId: string): Promise<Engine>
  /**
   * The database of a source: the base's home, or one that is not ours, whose connections are made anew
   * when its configuration has changed.
   *
   * @throws DATABASE_ERROR where its connection cannot be read
   */
  of(source: SourceRef): Promise<Engine>
  /** Ends the connections to a database that is not ours, such as that of a source that is gone. */
  drop(sourceId: string): Promise<void>
  /** Path of a base's file: all of the base's records and their log. */
  path(baseId: string): string
  /** True where there is such a base, and its home has been made. */
  exists(baseId: string): Promise<boolean>
  /**
   * Makes the home of a base, which has to be of the same kind, from that of another: its tables as they are at
   * one moment, without the log.
   */
  copy(fromBaseId: string, toBaseId: string, what: HomeCopy): Promise<void>
  /** Removes a base's home with all its records. For good. */
  remove(baseId: string): Promise<void>
  /** What `postgresIdentity` gives of the database of `DATABASE_URL`; null where there is none. */
  ownDatabase(): Promise<string | null>
  /** The bases module, which knows where each base's home is, says so here; null for no such base. */
  attach(homeOf: HomeOf): void
  close(): Promise<void>
}

/** Opens no database yet. Without `DATABASE_URL` each base is a file under `DATA_DIR/bases`. */
export function openSources(
  { dataDir, databaseUrl }: Pick<Config, 'dataDir' | 'databaseUrl'>,
  secrets: Pick<Secrets, 'connections'>,
  pool: WorkerPool,
): Sources {
  const folder = join(dataDir, 'bases')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const own = databaseUrl === null ? null : openPostgresDatabase(postgresConnection(databaseUrl))
  const engines = new Map<string, Promise<Engine>>()
  const external: ExternalEngines = openExternalEngines(pool)
  const path = (baseId: string) => join(folder, `${baseId}.db`)
  let homeOf: HomeOf = async (baseId) => {
    throw new Error(`Nobody has said where the home of ${baseId} is`)
  }

  async function of(source: SourceRef): Promise<Engine> {
    if (source.isOwn || source.config === null) return engine(source.baseId)
    const theirs = external.get(source.id, source.config, source.alias, () =>
      openConnection(secrets.connections, source.config ?? ''),
    )
    await theirs.ready?.()
    return theirs
  }

  async function open(baseId: string): Promise<Engine> {
    // Ids are ours (`p` and 14 characters); anything else could leave the folder.
    if (!/^p[a-z0-9]{14}$/.test(baseId)) throw new Error(`"${baseId}" is not the id of a base`)
    const home = await homeOf(baseId)
    if (home === null) throw notFound('Base', baseId)
    if (home === 'sqlite3') return openSqliteEngine(path(baseId), pool)
    const database = requireOwn()
    await upgradeBaseSchema(database.connection, schemaOfBase(baseId)).catch((error) => {
      throw explainPostgres(error, OWN_DATABASE)
    })
    return openPostgresEngine(database, schemaOfBase(baseId), OWN_DATABASE)
  }

  function requireOwn() {
    if (!own) throw new Error('A base lies in a PostgreSQL database: DATABASE_URL must name it')
    return own
  }

  function engine(baseId: string): Promise<Engine> {
    const known = engines.get(baseId)
    if (known) return known
    const opening = open(baseId)
    engines.set(baseId, opening)
    // A database that cannot be reached now may be later.
    opening.catch(() => engines.delete(baseId))
    return opening
  }

  return {
    newHome: own ? 'pg' : 'sqlite3',
    engine,
    path,
    attach(given) {
      homeOf = given
    },
    of,
    drop: external.drop,
    ownDatabase: async () => own && postgresIdentity(openPostgresEngine(own, NOWHERE, OWN_DATABASE)),
    async exists(baseId) {
      const home = await homeOf(baseId)
      if (home !== 'pg') return home !== null && existsSync(path(baseId))
      return hasSchema(requireOwn().connection, schemaOfBase(baseId))
    },
    async copy(fromBaseId, toBaseId, what) {
      const [home, target] = await Promise.all([homeOf(fromBaseId), homeOf(toBaseId)])
      if (home === null || home !== target) throw new Error(`${toBaseId} cannot be a copy of ${fromBaseId}`)
      const source = await engine(fromBaseId)
      if (home === 'sqlite3') return copySqliteHome(source, path(toBaseId), what, () => engine(toBaseId))
      const copy = await engine(toBaseId)
      const [from, to] = [schemaOfBase(fromBaseId), schemaOfBase(toBaseId)]
      await copySchema(requireOwn().connection, { from, to, ...what })
      if (what.withData) await copy.writeScript(what.replaced.map((each) => replacement(each, copy.dialect)))
    },
    async remove(baseId) {
      const home = await homeOf(baseId)
      const open = engines.get(baseId)
      engines.delete(baseId)
      await (await open)?.close()
      if (home === 'pg') return dropBaseSchema(requireOwn().connection, schemaOfBase(baseId))
      await removeSqliteFiles(path(baseId))
    },
    async close() {
      const open = await Promise.allSettled(engines.values())
      engines.clear()
      await Promise.all(open.map((one) => (one.status === 'fulfilled' ? one.value.close() : undefined)))
      await Promise.all([external.close(), own?.close()])
    },
  }
}
