import { closeSync, existsSync, mkdirSync, openSync, readdirSync } from 'node:fs'
import { readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { AppError, notFound } from '../core/errors.ts'
import type { Engine } from '../dialects/dialect.ts'
import type { WorkerPool } from '../pool.ts'
import { defineSlot, type Registry } from '../registry.ts'
import type { Secrets } from '../secrets.ts'
import { type ConnectionConfig, openConnection, postgresConnection } from './connection.ts'
import {
  type HomeCopy,
  reduceSqliteCopy,
  removeSqliteFiles,
  replacement,
  snapshotSqliteHome,
} from './copy-home.ts'
import { type ExternalEngines, openExternalEngines } from './external-engines.ts'
import { postgresIdentity } from './introspect/postgres.ts'
import { type LastChange, lastChangeOfFile } from './last-change.ts'
import { createOpenFiles, openFilesBudget } from './open-files.ts'
import {
  createBaseSchema,
  dropBaseSchema,
  hasSchema,
  missingBaseSchema,
  schemaOfBase,
  upgradeBaseSchema,
  vacuumSchema,
} from './postgres/base-schema.ts'
import { connectionShares } from './postgres/connection-budget.ts'
import { copySchema, copyWholeSchema, reducePostgresCopy, renameSchema } from './postgres/copy-schema.ts'
import { NOWHERE } from './postgres/driver.ts'
import { openPostgresDatabase, openPostgresEngine } from './postgres/engine.ts'
import { explainPostgres, OWN_DATABASE } from './postgres/errors.ts'
import type { ConnectionCounts } from './postgres/lanes.ts'
import { lastChangesOfSchemas } from './postgres/last-changes.ts'
import { pagesInWorkers } from './postgres/page-task.ts'
import { findVariant, type PostgresVariant } from './postgres/variant.ts'
import { createBaseFile, openSqliteEngine } from './sqlite-engine.ts'
import { type EngineWatch, watchEngine } from './watched-engine.ts'

/** Storage of a base's own tables: its own file, or a schema in the server's PostgreSQL. */
export type HomeClient = 'sqlite3' | 'pg'

/** A base's source as stored in the metadata. */
interface SourceRef {
  id: string
  baseId: string
  alias: string | null
  isOwn: boolean
  /** Connection to an external database, sealed by `sealConnection`. */
  config: string | null
}

/** Maximum number of bases that the readiness check opens. */
const CHECKED_BASES = 5
/** A server that stands still within the transaction of a write keeps others from writing to the base for this time. */
const IDLE_WRITE_MS = 30_000

/** Files whose times are read at once. */
const STATS_AT_ONCE = 64

/** The kind of a base's home; null for an unknown base. Provided by app.ts from the bases module. */
export const HOME_OF =
  defineSlot<(baseId: string) => Promise<ConnectionConfig['client'] | null>>('sources.homeOf')

/** True if a base has ever had a table. Provided by app.ts from the schema module. */
export const HAS_TABLES = defineSlot<(baseId: string) => Promise<boolean>>('sources.hasTables')

/** The databases with user tables. */
export interface Sources {
  /** Kind of home for new bases. Existing bases stay where they are. */
  readonly newHome: HomeClient
  /** Creates the home of a new base (`newHome`). Nothing else creates one: a missing home has been lost. */
  create(baseId: string): Promise<void>
  /** Removes the home of a base whose creation failed. */
  abandon(baseId: string): Promise<void>
  /**
   * The engine of a base's home; the same object until it is closed. @throws BASE_NOT_FOUND; BASE_DATA_MISSING if its
   * home is missing. The first use of the engine opens the file and may throw that or BASE_DATA_DAMAGED
   */
  engine(baseId: string): Promise<Engine>
  /**
   * The engine of a source: the base's home or an external database, which reconnects when its configuration has
   * changed.
   *
   * @throws DATABASE_ERROR if its connection cannot be decrypted
   */
  of(source: SourceRef): Promise<Engine>
  /** Closes the connections to an external database, for example of a removed source. */
  drop(sourceId: string): Promise<void>
  /** Path of a base's file, which holds its records and their log. */
  path(baseId: string): string
  /**
   * When bases were last changed, without opening them: by the times of their files, and by one statement for many
   * schemas. Null for a base whose log is known to be empty.
   */
  lastChanges(
    homes: readonly { baseId: string; home: ConnectionConfig['client'] }[],
  ): Promise<Map<string, LastChange | null>>
  /** True if the base exists and has a home. */
  exists(baseId: string): Promise<boolean>
  /** Creates the home of a base as a consistent snapshot of another of the same kind, without the log. */
  copy(fromBaseId: string, toBaseId: string, what: HomeCopy): Promise<void>
  /**
   * Creates the home of a base from another one of the same kind: from its file or schema in a backup, which is moved,
   * or as of now.
   *
   * @param prepare runs while the copy still has all tables, and the log of the original; returns what it keeps
   */
  adopt(
    toBaseId: string,
    from: { file: string } | { schema: string } | { baseId: string },
    prepare: (copy: Engine) => Promise<HomeCopy>,
  ): Promise<void>
  /** Permanently removes a base's home with all its records. */
  remove(baseId: string): Promise<void>
  /** Identity of the database of `DATABASE_URL` (`postgresIdentity`); null if not configured. */
  ownDatabase(): Promise<string | null>
  /** Reads from a database with user tables. @throws if none can be opened; an error of a single base does not count */
  check(): Promise<void>
  /** The number of open database files. */
  openFiles(): number
  /** The connections to the database of `DATABASE_URL` by kind of work; empty if not configured. */
  connections(): Record<string, ConnectionCounts>
  /** Bytes of the metadata and of the bases; with `DATABASE_URL` also of that database. */
  sizes(): Promise<Record<string, number>>
  close(): Promise<void>
}

/** Databases open on first use. Without `DATABASE_URL` each base is a file under `DATA_DIR/bases`. */
export function openSources(
  {
    dataDir,
    databaseUrl,
    databaseConnections,
    maxOpenBases,
  }: Pick<Config, 'dataDir' | 'databaseUrl' | 'databaseConnections' | 'maxOpenBases'>,
  secrets: Pick<Secrets, 'connections'>,
  pool: WorkerPool,
  registry: Registry,
  watch: EngineWatch = {},
): Sources {
  const folder = join(dataDir, 'bases')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const own =
    databaseUrl === null
      ? null
      : openPostgresDatabase(postgresConnection(databaseUrl), connectionShares(databaseConnections), {
          idleInTransactionMs: IDLE_WRITE_MS,
        })
  let variant: Promise<PostgresVariant> | null = null
  const engines = new Map<string, Promise<Engine>>()
  const files = createOpenFiles(maxOpenBases ?? openFilesBudget())
  const external: ExternalEngines = openExternalEngines(pool, files, watch)
  const path = (baseId: string) => join(folder, `${baseId}.db`)
  const homeOf = (baseId: string) => registry.get(HOME_OF)(baseId)
  const hasTables = (baseId: string) => registry.get(HAS_TABLES)(baseId)

  async function of(source: SourceRef): Promise<Engine> {
    if (source.isOwn || source.config === null) return engine(source.baseId)
    const theirs = external.get(source.id, source.config, source.alias, () =>
      openConnection(secrets.connections, source.config ?? ''),
    )
    await theirs.ready?.()
    return theirs
  }

  async function open(baseId: string): Promise<Engine> {
    // Base ids are `p` and 14 characters; any other text could leave the folder.
    if (!/^p[a-z0-9]{14}$/.test(baseId)) throw new Error(`"${baseId}" is not the id of a base`)
    const home = await homeOf(baseId)
    if (home === null) throw notFound('Base', baseId)
    if (home === 'sqlite3') {
      // Earlier versions created the file with the first table.
      if (!existsSync(path(baseId)) && !(await hasTables(baseId))) createBaseFile(path(baseId))
      return watchEngine(
        openSqliteEngine({ path: path(baseId), name: `bases/${baseId}.db` }, pool, files, undefined, watch),
        watch,
      )
    }
    const database = requireOwn()
    const schema = schemaOfBase(baseId)
    try {
      if (!(await upgradeBaseSchema(database.connection, schema))) {
        if (await hasTables(baseId)) throw missingBaseSchema(schema)
        await createBaseSchema(database.connection, schema)
      }
    } catch (error) {
      throw explainPostgres(error, OWN_DATABASE)
    }
    const { dialect, schemaSize } = await ownVariant()
    const own = openPostgresEngine(database, schema, OWN_DATABASE, dialect, watch)
    const writePage = pagesInWorkers(pool, database.connection, schema, own)
    const engine = watchEngine({ ...own, writePage }, watch)
    return {
      ...engine,
      storage: {
        async measure() {
          const [row] = await engine.all<{ bytes: string | null }>(schemaSize(schema))
          return { bytes: Number(row?.bytes ?? 0), freeBytes: null }
        },
        compact: (whole) => engine.exclusively(() => vacuumSchema(database.connection, schema, whole)),
      },
    }
  }

  async function removeHome(baseId: string, home: ConnectionConfig['client'] | null): Promise<void> {
    const open = engines.get(baseId)
    engines.delete(baseId)
    await (await open)?.close()
    if (home === 'pg') return dropBaseSchema(requireOwn().connection, schemaOfBase(baseId))
    await removeSqliteFiles(path(baseId))
  }

  async function create(baseId: string, home: ConnectionConfig['client'] | null): Promise<void> {
    if (home === 'sqlite3') return createBaseFile(path(baseId))
    await createBaseSchema(requireOwn().connection, schemaOfBase(baseId)).catch((error) => {
      throw explainPostgres(error, OWN_DATABASE)
    })
  }

  function requireOwn() {
    if (!own) throw new Error('A base lies in a PostgreSQL database: DATABASE_URL must name it')
    return own
  }

  function ownVariant(): Promise<PostgresVariant> {
    if (variant) return variant
    variant = findVariant(openPostgresEngine(requireOwn(), NOWHERE, OWN_DATABASE).all)
    // The database may become reachable later.
    variant.catch(() => {
      variant = null
    })
    return variant
  }

  function engine(baseId: string): Promise<Engine> {
    const known = engines.get(baseId)
    if (known) return known
    const opening = open(baseId)
    engines.set(baseId, opening)
    // The database may become reachable later.
    opening.catch(() => engines.delete(baseId))
    return opening
  }

  const adoptSchema: Sources['adopt'] = async (toBaseId, from, prepare) => {
    if ('file' in from) throw new Error(`${toBaseId} does not lie in a file`)
    const { connection } = requireOwn()
    const to = schemaOfBase(toBaseId)
    if ('schema' in from) await renameSchema(connection, from.schema, to)
    else await copyWholeSchema(connection, schemaOfBase(from.baseId), to)
    const copy = await engine(toBaseId)
    await reducePostgresCopy(copy, await prepare(copy))
  }

  const adopt: Sources['adopt'] = async (toBaseId, from, prepare) => {
    if ((await homeOf(toBaseId)) === 'pg') return adoptSchema(toBaseId, from, prepare)
    if ('schema' in from) throw new Error(`${toBaseId} does not lie in PostgreSQL`)
    if ('baseId' in from) await snapshotSqliteHome(await engine(from.baseId), path(toBaseId))
    else {
      await removeSqliteFiles(path(toBaseId))
      await rename(from.file, path(toBaseId))
    }
    const copy = await engine(toBaseId)
    await reduceSqliteCopy(copy, await prepare(copy))
  }

  return {
    newHome: own ? 'pg' : 'sqlite3',
    create: (baseId) => create(baseId, own ? 'pg' : 'sqlite3'),
    engine,
    path,
    async check() {
      if (own) await openPostgresEngine(own, NOWHERE, OWN_DATABASE).values({ sql: 'select 1', params: [] })
      // Fails if the process cannot open further files.
      closeSync(openSync(folder, 'r'))
      const ids = readdirSync(folder).flatMap((name) => /^(p[a-z0-9]{14})\.db$/.exec(name)?.[1] ?? [])
      for (const baseId of ids.slice(0, CHECKED_BASES)) {
        try {
          const home = await engine(baseId)
          await home.values({ sql: 'select count(*) from sqlite_schema', params: [] })
          return
        } catch (error) {
          // An error in one base must not keep the others from being served.
          const isItsOwn = error instanceof AppError && error.code !== 'DATABASE_UNREACHABLE'
          if (!isItsOwn) throw error
        }
      }
    },
    of,
    drop: external.drop,
    async lastChanges(homes) {
      const ofKind = (kind: HomeClient) => homes.flatMap(({ baseId, home }) => (home === kind ? baseId : []))
      const inSchemas = ofKind('pg')
      const engine = inSchemas.length > 0 ? openPostgresEngine(requireOwn(), NOWHERE, OWN_DATABASE) : null
      const found = engine
        ? await lastChangesOfSchemas(engine, inSchemas)
        : new Map<string, LastChange | null>()
      const inFiles = ofKind('sqlite3')
      for (let at = 0; at < inFiles.length; at += STATS_AT_ONCE) {
        const some = inFiles.slice(at, at + STATS_AT_ONCE)
        const changes = await Promise.all(some.map((baseId) => lastChangeOfFile(path(baseId))))
        for (const [index, change] of changes.entries()) found.set(some[index] ?? '', change)
      }
      return found
    },
    ownDatabase: async () => own && postgresIdentity(openPostgresEngine(own, NOWHERE, OWN_DATABASE)),
    async exists(baseId) {
      const home = await homeOf(baseId)
      if (home !== 'pg') return home !== null && existsSync(path(baseId))
      return hasSchema(requireOwn().connection, schemaOfBase(baseId))
    },
    async copy(fromBaseId, toBaseId, what) {
      const [home, target] = await Promise.all([homeOf(fromBaseId), homeOf(toBaseId)])
      if (home === null || home !== target) throw new Error(`${toBaseId} cannot be a copy of ${fromBaseId}`)
      if (home === 'sqlite3') return adopt(toBaseId, { baseId: fromBaseId }, async () => what)
      await create(toBaseId, home)
      const copy = await engine(toBaseId)
      const [from, to] = [schemaOfBase(fromBaseId), schemaOfBase(toBaseId)]
      await copySchema(requireOwn().connection, { from, to, ...what })
      if (what.withData) await copy.writeScript(what.replaced.map((each) => replacement(each, copy.dialect)))
    },
    adopt,
    abandon: (baseId) => removeHome(baseId, own ? 'pg' : 'sqlite3'),
    remove: async (baseId) => removeHome(baseId, await homeOf(baseId)),
    openFiles: () => files.count,
    connections: (): Record<string, ConnectionCounts> =>
      own ? { read: own.points.counts(), scan: own.scans.counts(), write: own.writers.counts() } : {},
    async sizes() {
      const bytes = {
        metadata: databaseUrl === null ? await sizeOfFiles(dataDir, /^sheaf\.db/) : 0,
        bases: await sizeOfFiles(folder, /\.db/),
      }
      if (!own) return bytes
      const { databaseSize } = await ownVariant()
      const [row] = await openPostgresEngine(own, NOWHERE, OWN_DATABASE).values(databaseSize)
      return { ...bytes, postgres: Number(row?.[0] ?? 0) }
    },
    async close() {
      const open = await Promise.allSettled(engines.values())
      engines.clear()
      await Promise.all(open.map((one) => (one.status === 'fulfilled' ? one.value.close() : undefined)))
      await Promise.all([external.close(), own?.close()])
    },
  }
}

/** Total size of the files of a folder whose names match. Files that disappear meanwhile count as empty. */
async function sizeOfFiles(folder: string, names: RegExp): Promise<number> {
  let bytes = 0
  for (const name of await readdir(folder)) {
    if (names.test(name))
      bytes += await Bun.file(join(folder, name))
        .stat()
        .then(
          ({ size }) => size,
          () => 0,
        )
  }
  return bytes
}
