import { existsSync, mkdirSync, realpathSync, statSync } from 'node:fs'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { and, eq, max } from 'drizzle-orm'
import { nowIso } from '../../../src/clock.ts'
import type { Actor, UserActor } from '../../../src/core/actor.ts'
import { AppError, badRequest, notFound } from '../../../src/core/errors.ts'
import { createId } from '../../../src/core/ids.ts'
import { type BaseRight, holdsBaseRole, holdsOrgRole } from '../../../src/core/roles.ts'
import { type ConnectionConfig, openConnection, sealConnection } from '../../../src/db/connection.ts'
import { explainConnection } from '../../../src/db/introspect/index.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import { createReadCache } from '../../../src/db/read-cache.ts'
import type { Job } from '../../../src/jobs.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import { type Access, capped } from '../../auth/index.ts'
import type { BaseStore, SourceRow } from '../store.ts'
import type { SourceClient } from '../tables.ts'
import {
  type ConnectionTest,
  type Inspection,
  inspectDatabase,
  type Look,
  mayReadOwnDatabase,
  readConnection,
  refuseOwnDatabase,
  type SentConnection,
  testConnection,
} from './read-connection.ts'

interface NewSource extends SentConnection {
  alias?: string | null
  /** Names of the chosen tables; absent: all. */
  tables?: string[]
  inflectionTable?: 'none' | 'camelize'
  inflectionColumn?: 'none' | 'camelize'
  isSchemaReadonly?: boolean
  isDataReadonly?: boolean
}

/** Input of the job that creates a source. The connection is sealed, since jobs are stored in the metadata. */
export interface SourceCreateInput {
  baseId: string
  /** Chosen in advance: after a restart it tells whether the source was created. */
  sourceId: string
  alias: string | null
  client: SourceClient
  config: string
  tables: string[] | null
  /** True if the actor may connect even this server's own database. */
  mayReadOwn: boolean
  inflection: { table: 'none' | 'camelize'; column: 'none' | 'camelize' }
  isSchemaReadonly: boolean
  isDataReadonly: boolean
}

/** Changes of a source; absent keys stay. */
interface SourcePatch {
  alias?: string | null
  config?: SentConnection
  isEnabled?: boolean
  isSchemaReadonly?: boolean
  isDataReadonly?: boolean
}

/** Every read and write of records looks up its table's source. */
const MAX_CACHED = 10_000
/** Checked before querying: PostgreSQL fails on some texts, such as a null character. */
const SOURCE_ID = /^b[a-z0-9]{14}$/

/** Job kinds of sources; the schema module runs them. */
export const SOURCE_JOBS = { create: 'source-create', delete: 'source-delete', sync: 'meta-sync' } as const

/** The databases of bases: their own and the connected ones. */
export function createSourcesService(kernel: Kernel, store: BaseStore, access: Access) {
  const { meta, config: settings, secrets, jobs, events } = kernel
  const { sources } = store.tables
  const cache = createReadCache<SourceRow, 'sources'>(meta, {
    name: 'sources',
    max: MAX_CACHED,
    table: 'sources',
    keyOf: ({ id }) => id,
  })
  const folder = settings.sqliteSourcesDir ?? join(settings.dataDir, 'sources')

  /** @throws BASE_NOT_FOUND first, then as `access.authorize` */
  async function enter(actor: Actor, right: BaseRight, baseId: string): Promise<SourceRow[]> {
    const base = await store.require(baseId)
    const found = (await store.sourcesOf([base.id])).get(base.id) ?? []
    await access.authorize(actor, right, base.id)
    return found
  }

  /** @throws BASE_NOT_FOUND, SOURCE_NOT_FOUND first, then as `access.authorize` */
  async function open(actor: Actor, right: BaseRight, baseId: string, sourceId: string): Promise<SourceRow> {
    const base = await store.require(baseId)
    const found = (await store.sourcesOf([base.id])).get(base.id)?.find(({ id }) => id === sourceId)
    if (!found) throw notFound('Source', sourceId.slice(0, 64))
    await access.authorize(actor, right, base.id)
    return found
  }

  /** Null for a base's own database and for a connection that cannot be decrypted. */
  function connectionOf({ config }: SourceRow): ConnectionConfig | null {
    if (config === null) return null
    try {
      return openConnection(secrets.connections, config)
    } catch (error) {
      // Sealed with another key: sources are still listed, so that the connection can be entered again.
      if (error instanceof AppError) return null
      throw error
    }
  }

  const read = (sent: SentConnection, known?: SourceRow): ConnectionConfig =>
    withAllowedFile(folder, readConnection(sent, (known && connectionOf(known)) ?? undefined))

  const lookFor =
    (actor: Actor): Look =>
    (config, reader) =>
      refuseOwnDatabase(kernel.sources, config, reader, mayReadOwnDatabase(actor))

  async function refuseParallel(kind: string, baseId: string, message: string): Promise<void> {
    if ((await jobs.list({ baseId, kind, unfinished: true })).length > 0) throw badRequest(message)
  }

  async function connectionToTest(
    actor: Actor,
    baseId: string,
    sent: SentConnection,
    sourceId?: string,
  ): Promise<ConnectionConfig> {
    const known = sourceId === undefined ? undefined : await open(actor, 'source.update', baseId, sourceId)
    if (!known) await enter(actor, 'source.create', baseId)
    return read(sent, known)
  }

  return {
    connectionOf,
    /** @throws DATABASE_ERROR for a connection sealed with another key, which must be entered again */
    requireConnection: ({ config }: SourceRow): ConnectionConfig =>
      openConnection(secrets.connections, config ?? ''),
    list: (actor: Actor, baseId: string): Promise<SourceRow[]> => enter(actor, 'source.list', baseId),
    get: (actor: Actor, baseId: string, sourceId: string): Promise<SourceRow> =>
      open(actor, 'source.list', baseId, sourceId),
    /** The source, if the actor holds the right in its base. */
    open,

    /**
     * Tests a connection; failures are returned with their reason.
     * @throws BAD_REQUEST for an incomplete connection; as `access.authorize`
     */
    async test(
      actor: Actor,
      baseId: string,
      sent: SentConnection,
      sourceId?: string,
    ): Promise<ConnectionTest> {
      return testConnection(await connectionToTest(actor, baseId, sent, sourceId), lookFor(actor))
    },

    /** Tests a connection for clients that name no base. Needs the right to create a source in some base. */
    async testAnywhere(actor: Actor, sent: SentConnection): Promise<ConnectionTest> {
      await access.authorize(actor, 'account.read')
      await requireConnector(actor as UserActor)
      return testConnection(read(sent), lookFor(actor))
    },

    /**
     * Lists the schemas and tables of a database.
     * @throws DATABASE_ERROR with the reason if it cannot be read
     */
    async inspect(
      actor: Actor,
      baseId: string,
      sent: SentConnection,
      sourceId?: string,
    ): Promise<Inspection> {
      const config = await connectionToTest(actor, baseId, sent, sourceId)
      return inspectDatabase(config, lookFor(actor)).catch((error) => {
        if (error instanceof AppError) throw error
        throw new AppError('DATABASE_ERROR', explainConnection(error, config))
      })
    },

    /**
     * Starts a job that connects the base to a database and reads its structure.
     * @throws BAD_REQUEST during another such job, and for an incomplete connection
     */
    async create(actor: Actor, baseId: string, input: NewSource): Promise<{ id: string }> {
      await enter(actor, 'source.create', baseId)
      const config = read(input)
      await refuseParallel(SOURCE_JOBS.create, baseId, m.wire_error_parallel_source())
      const { inflectionTable: table = 'none', inflectionColumn: column = 'none' } = input
      const job: SourceCreateInput = {
        baseId,
        sourceId: createId('source'),
        alias: input.alias || null,
        client: config.client,
        inflection: { table, column },
        config: sealConnection(secrets.connections, config),
        tables: input.tables ?? null,
        mayReadOwn: mayReadOwnDatabase(actor),
        isSchemaReadonly: input.isSchemaReadonly ?? false,
        isDataReadonly: input.isDataReadonly ?? false,
      }
      return started(await jobs.start(SOURCE_JOBS.create, { userId: userIdOf(actor), baseId, input: job }))
    },

    /**
     * Changes a source, after testing a new connection.
     * @throws DATABASE_ERROR with the reason of a failed test; BAD_REQUEST for the base's own database
     */
    async update(actor: Actor, baseId: string, sourceId: string, patch: SourcePatch): Promise<SourceRow> {
      const source = await open(actor, 'source.update', baseId, sourceId)
      const { alias, config, isEnabled, isSchemaReadonly, isDataReadonly } = patch
      if (source.isOwn && (config || isSchemaReadonly || isDataReadonly || isEnabled === false))
        throw badRequest(m.sources_error_own_client())
      const set: Partial<SourceRow> = {
        ...(alias !== undefined && { alias: alias || null }),
        ...(isEnabled !== undefined && { isEnabled }),
        ...(isSchemaReadonly !== undefined && { isSchemaReadonly }),
        ...(isDataReadonly !== undefined && { isDataReadonly }),
      }
      if (config) {
        const next = read(config, source)
        const kinds = new Set([next, source].map((one) => one.client))
        if (kinds.size > 1) throw badRequest(m.sources_error_type())
        const test = await testConnection(next, lookFor(actor))
        if (!test.ok) throw new AppError('DATABASE_ERROR', test.message)
        set.config = sealConnection(secrets.connections, next)
      }
      const [row] = await meta.db
        .update(sources)
        .set({ ...set, updatedAt: nowIso() })
        .where(and(eq(sources.id, source.id), eq(sources.baseId, source.baseId)))
        .returning()
      cache.forget(source.id)
      if (!row) throw notFound('Source', sourceId)
      events.emit('schema.changed', { baseId, tableId: null, version: 0 })
      return row
    },

    /**
     * Starts a job that removes a source and its tables' metadata; the database itself stays as it is.
     * @throws BAD_REQUEST for the base's own source
     */
    async delete(actor: Actor, baseId: string, sourceId: string): Promise<{ id: string }> {
      const source = await open(actor, 'source.delete', baseId, sourceId)
      if (source.isOwn) throw badRequest(m.wire_error_delete_own_source())
      const input = { baseId, sourceId: source.id }
      return started(await jobs.start(SOURCE_JOBS.delete, { userId: userIdOf(actor), baseId, input }))
    },

    refuseParallel,

    /** The source of an id from the cache. Does not check access. */
    peek: (sourceId: string): SourceRow | undefined => cache.peek(sourceId),

    /** The source of an id, cached; null if unknown. Does not check access. */
    async find(sourceId: string): Promise<SourceRow | null> {
      if (!SOURCE_ID.test(sourceId)) return null
      return (
        cache.peek(sourceId) ??
        (await cache.read(sourceId, async () => {
          const [row] = await meta.db.select().from(sources).where(eq(sources.id, sourceId))
          return row ?? null
        }))
      )
    },
    /** Call once a source is deleted. */
    forget: (sourceId: string): void => cache.forget(sourceId),

    /** Statements for jobs that write a source together with its tables. */
    insert: (row: SourceRow): MetaStatement => meta.db.insert(sources).values(row),
    remove: (sourceId: string): MetaStatement => meta.db.delete(sources).where(eq(sources.id, sourceId)),
    /** Removes tables from the list of those left out. */
    chosen(source: SourceRow, names: string[]): MetaStatement[] {
      const leftOut = (source.leftOut ?? []).filter((name) => !names.includes(name))
      if (leftOut.length === (source.leftOut ?? []).length) return []
      return [meta.db.update(sources).set({ leftOut }).where(eq(sources.id, source.id))]
    },
    async nextOrder(baseId: string): Promise<number> {
      const [row] = await meta.db
        .select({ last: max(sources.order) })
        .from(sources)
        .where(eq(sources.baseId, baseId))
      return (row?.last ?? 0) + 1
    },
  }

  /** @throws PERMISSION_DENIED for people who could create a source nowhere */
  async function requireConnector(actor: UserActor): Promise<void> {
    if (holdsOrgRole(actor.orgRoles, 'org-level-creator')) return
    const { bases, workspace } = await access.memberships(actor.id)
    if ([...bases.values(), workspace].some((role) => holdsBaseRole(capped(actor, role), 'creator'))) return
    await access.authorize(actor, 'base.create')
  }
}

const started = ({ id }: Job): { id: string } => ({ id })

const userIdOf = (actor: Actor): string => (actor.kind === 'user' ? actor.id : '')

/**
 * Resolves the file of a SQLite connection. The server reads it with its own rights, so only files in the
 * operator's folder are allowed.
 * @throws BAD_REQUEST, with the same message for missing files and files elsewhere, so that it reveals nothing
 * about them
 */
function withAllowedFile(folder: string, config: ConnectionConfig): ConnectionConfig {
  if (!('file' in config)) return config
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const root = realpathSync(folder)
  const wanted = isAbsolute(config.file) ? config.file : resolve(root, config.file)
  const refusal = () => badRequest(m.sources_error_file({ file: config.file.slice(0, 200) }))
  if (!isInside(root, wanted) || !existsSync(wanted)) throw refusal()
  // A symbolic link may lead out of the folder.
  const file = realpathSync(wanted)
  if (!isInside(root, file) || !statSync(file).isFile()) throw refusal()
  return { client: 'sqlite3', file: join(root, relative(root, file)) }
}

const isInside = (root: string, path: string): boolean => {
  const way = relative(root, path)
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}
