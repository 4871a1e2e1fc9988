import { existsSync, mkdirSync, realpathSync, statSync } from 'node:fs'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { and, eq, max } from 'drizzle-orm'
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

/** A new source as a caller asks for it. */
export interface NewSource extends SentConnection {
  alias?: string | null
  /** Names of the tables that are wanted; absent: all. */
  tables?: string[]
  inflectionTable?: 'none' | 'camelize'
  inflectionColumn?: 'none' | 'camelize'
  isSchemaReadonly?: boolean
  isDataReadonly?: boolean
}

/** What the job that makes a source is given. The connection is sealed: jobs are kept in the metadata. */
export interface SourceCreateInput {
  baseId: string
  /** The id that the source will have: after a restart it tells whether it came to be. */
  sourceId: string
  alias: string | null
  client: SourceClient
  config: string
  tables: string[] | null
  /** True where even the database of this server itself may be connected. */
  mayReadOwn: boolean
  inflection: { table: 'none' | 'camelize'; column: 'none' | 'camelize' }
  isSchemaReadonly: boolean
  isDataReadonly: boolean
}

/** What of a source may change. */
export interface SourcePatch {
  alias?: string | null
  config?: SentConnection
  isEnabled?: boolean
  isSchemaReadonly?: boolean
  isDataReadonly?: boolean
}

/** Sources held in memory: every read and write of records asks for the one of its table. */
const MAX_CACHED = 10_000
/** PostgreSQL fails on some texts, such as a null character, instead of not finding them. */
const SOURCE_ID = /^b[a-z0-9]{14}$/

/** The kinds of job that sources have; the schema module, which knows of tables, does them. */
export const SOURCE_JOBS = { create: 'source-create', delete: 'source-delete', sync: 'meta-sync' } as const

/** The databases that a base reads: its own, and those that it is connected to. */
export function createSourcesService(kernel: Kernel, store: BaseStore, access: Access) {
  const { meta, config: settings, secrets, jobs, events } = kernel
  const { sources } = store.tables
  const cache = createReadCache<SourceRow>(meta, MAX_CACHED, 'sources')
  const folder = settings.sqliteSourcesDir ?? join(settings.dataDir, 'sources')

  /** @throws BASE_NOT_FOUND before anything else, then as `access.authorize` */
  async function enter(actor: Actor, right: BaseRight, baseId: string): Promise<SourceRow[]> {
    const base = await store.require(baseId)
    const found = (await store.sourcesOf([base.id])).get(base.id) ?? []
    await access.authorize(actor, right, base.id)
    return found
  }

  /** @throws BASE_NOT_FOUND, SOURCE_NOT_FOUND before anything else, then as `access.authorize` */
  async function open(actor: Actor, right: BaseRight, baseId: string, sourceId: string): Promise<SourceRow> {
    const base = await store.require(baseId)
    const found = (await store.sourcesOf([base.id])).get(base.id)?.find(({ id }) => id === sourceId)
    if (!found) throw notFound('Source', sourceId.slice(0, 64))
    await access.authorize(actor, right, base.id)
    return found
  }

  /** How a source is reached; null for the base's own, and for one whose connection cannot be read. */
  function connectionOf({ config }: SourceRow): ConnectionConfig | null {
    if (config === null) return null
    try {
      return openConnection(secrets.connections, config)
    } catch (error) {
      // Kept with another key: the list of sources still has to be shown, so that it can be entered again.
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
    /** How a source is reached. @throws DATABASE_ERROR where it was kept with another key and has to be entered again */
    requireConnection: ({ config }: SourceRow): ConnectionConfig =>
      openConnection(secrets.connections, config ?? ''),
    list: (actor: Actor, baseId: string): Promise<SourceRow[]> => enter(actor, 'source.list', baseId),
    get: (actor: Actor, baseId: string, sourceId: string): Promise<SourceRow> =>
      open(actor, 'source.list', baseId, sourceId),
    /** For the modules that follow: the source of an id, for someone who holds the right in its base. */
    open,

    /**
     * Tries to connect. A failure is an answer like any other, with its reason.
     * @throws BAD_REQUEST for a connection that says too little; as `access.authorize`
     */
    async test(
      actor: Actor,
      baseId: string,
      sent: SentConnection,
      sourceId?: string,
    ): Promise<ConnectionTest> {
      return testConnection(await connectionToTest(actor, baseId, sent, sourceId), lookFor(actor))
    },

    /** The same for clients that name no base: they may where they could make a source somewhere. */
    async testAnywhere(actor: Actor, sent: SentConnection): Promise<ConnectionTest> {
      await access.authorize(actor, 'account.read')
      await requireConnector(actor as UserActor)
      return testConnection(read(sent), lookFor(actor))
    },

    /**
     * What can be chosen from a database.
     * @throws DATABASE_ERROR with the reason where it cannot be read
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
     * Connects the base to a database: a job reads its structure. Until that has ended, nothing is seen of it.
     * @throws BAD_REQUEST while another is being made, and for a connection that says too little
     */
    async create(actor: Actor, baseId: string, input: NewSource): Promise<{ id: string }> {
      await enter(actor, 'source.create', baseId)
      const config = read(input)
      await refuseParallel(
        SOURCE_JOBS.create,
        baseId,
        'Another source creation is in progress for this base.',
      )
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
     * Changes a source. Another connection is tried first.
     * @throws DATABASE_ERROR with the reason where the new connection does not work; BAD_REQUEST for the
     *   connection of the base's own database
     */
    async update(actor: Actor, baseId: string, sourceId: string, patch: SourcePatch): Promise<SourceRow> {
      const source = await open(actor, 'source.update', baseId, sourceId)
      const { alias, config, isEnabled, isSchemaReadonly, isDataReadonly } = patch
      if (source.isOwn && (config || isSchemaReadonly || isDataReadonly || isEnabled === false))
        throw badRequest('The built-in data source can only be renamed')
      const set: Partial<SourceRow> = {
        ...(alias !== undefined && { alias: alias || null }),
        ...(isEnabled !== undefined && { isEnabled }),
        ...(isSchemaReadonly !== undefined && { isSchemaReadonly }),
        ...(isDataReadonly !== undefined && { isDataReadonly }),
      }
      if (config) {
        const next = read(config, source)
        const kinds = new Set([next, source].map((one) => one.client))
        if (kinds.size > 1) throw badRequest('The database type of a data source can’t be changed')
        const test = await testConnection(next, lookFor(actor))
        if (!test.ok) throw new AppError('DATABASE_ERROR', test.message)
        set.config = sealConnection(secrets.connections, next)
      }
      const [row] = await meta.db
        .update(sources)
        .set({ ...set, updatedAt: new Date().toISOString() })
        .where(and(eq(sources.id, source.id), eq(sources.baseId, source.baseId)))
        .returning()
      cache.forget(source.id)
      if (!row) throw notFound('Source', sourceId)
      events.emit('schema.changed', { baseId, tableId: null, version: 0 })
      return row
    },

    /**
     * Forgets a source with what is known of its tables. The database itself is left as it is.
     * @throws BAD_REQUEST for the base's own: it goes with the base
     */
    async delete(actor: Actor, baseId: string, sourceId: string): Promise<{ id: string }> {
      const source = await open(actor, 'source.delete', baseId, sourceId)
      if (source.isOwn) throw badRequest('Error: Cannot delete first base')
      const input = { baseId, sourceId: source.id }
      return started(await jobs.start(SOURCE_JOBS.delete, { userId: userIdOf(actor), baseId, input }))
    },

    refuseParallel,

    /** For the modules that follow: the source of that id, from memory where it is known; null where there is none. */
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
    /** To be called once a source is gone. */
    forget: (sourceId: string): void => cache.forget(sourceId),

    /** Statements for the jobs, which write a source together with its tables. */
    insert: (row: SourceRow): MetaStatement => meta.db.insert(sources).values(row),
    remove: (sourceId: string): MetaStatement => meta.db.delete(sources).where(eq(sources.id, sourceId)),
    /** Tables that were left out, and have been chosen now. */
    chosen(source: SourceRow, names: string[]): MetaStatement[] {
      const leftOut = (source.leftOut ?? []).filter((name) => !names.includes(name))
      if (leftOut.length === (source.leftOut ?? []).length) return []
      return [meta.db.update(sources).set({ leftOut }).where(eq(sources.id, source.id))]
    },
    /** A place after the other sources of the base. */
    async nextPlace(baseId: string): Promise<number> {
      const [row] = await meta.db
        .select({ last: max(sources.order) })
        .from(sources)
        .where(eq(sources.baseId, baseId))
      return (row?.last ?? 0) + 1
    },
  }

  /** @throws PERMISSION_DENIED for those who could make a source nowhere */
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
 * The connection with its file looked up. A file of this machine is read with the rights of the server, so
 * only those of one folder are let in, which its operator fills; nothing that leads out of it.
 *
 * @throws BAD_REQUEST where the file is not there; the same words for what is there but outside, so that
 *   nobody learns which files the machine has
 */
function withAllowedFile(folder: string, config: ConnectionConfig): ConnectionConfig {
  if (!('file' in config)) return config
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const root = realpathSync(folder)
  const wanted = isAbsolute(config.file) ? config.file : resolve(root, config.file)
  const refusal = () =>
    badRequest(
      `There is no file "${config.file.slice(0, 200)}" in the folder that SQLite files are read from`,
    )
  if (!isInside(root, wanted) || !existsSync(wanted)) throw refusal()
  // A link in the folder may lead anywhere.
  const file = realpathSync(wanted)
  if (!isInside(root, file) || !statSync(file).isFile()) throw refusal()
  return { client: 'sqlite3', file: join(root, relative(root, file)) }
}

const isInside = (root: string, path: string): boolean => {
  const way = relative(root, path)
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}
