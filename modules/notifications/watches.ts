import { and, count, desc, eq, gte, inArray } from 'drizzle-orm'
import { nowIso } from '../../src/clock.ts'
import type { Actor } from '../../src/core/actor.ts'
import { badRequest, notFound } from '../../src/core/errors.ts'
import type { RecordId } from '../../src/core/model.ts'
import { MAX_WATCHES } from '../../src/core/notifications.ts'
import type { MetaStatement } from '../../src/db/meta.ts'
import { idBatches, renamedIds } from '../../src/db/renamed-ids.ts'
import type { Kernel } from '../../src/kernel.ts'
import { m } from '../../src/messages.gen.ts'
import type { TableMove } from '../../src/table-moves.ts'
import { type AuthService, requireUser } from '../auth/index.ts'
import type { BasesService } from '../bases/index.ts'
import { type RecordsService, referenceKey, storedId } from '../records/index.ts'
import type { SchemaReader } from '../schema/index.ts'
import type { ViewsService } from '../views/index.ts'
import { unlessRefused, unlessUnreadable } from './presenter.ts'
import { defineNotificationTables } from './tables.ts'

export type WatchRow = ReturnType<typeof defineNotificationTables>['watches']['$inferSelect']

/** A record or a view that can be watched. */
export type WatchTarget = { tableId: string } & ({ recordId: RecordId } | { viewId: string })

/** A watched record or view as its owner sees it. */
export interface Watch {
  baseId: string
  tableId: string
  kind: 'record' | 'view'
  targetId: string
  baseTitle: string
  tableTitle: string
  /** Empty for a record without a name. */
  title: string
}

interface Deps {
  auth: Pick<AuthService, 'access' | 'actorOf'>
  bases: Pick<BasesService, 'require'>
  schema: Pick<SchemaReader, 'load'>
  views: Pick<ViewsService, 'load'>
  records: Pick<RecordsService, 'titlesOf' | 'open' | 'readOne'>
  /** Called before a watch is acknowledged: its base's log must be followed from now on. */
  follow: (baseId: string) => Promise<void>
  /** Called when watches of a base were removed. */
  ended: (baseId: string) => Promise<void>
}

/** Rows in one insert: a statement has a limited number of parameters. */
const ROWS_AT_ONCE = 1000

export type Watches = ReturnType<typeof createWatches>

/** Records and views that people watch. */
export function createWatches({ meta }: Pick<Kernel, 'meta'>, deps: Deps) {
  const { auth, bases, schema, views, records, follow, ended } = deps
  const { watches } = meta.tables(defineNotificationTables)
  const { db } = meta

  const ofKind = ({ userId, tableId, kind }: Pick<WatchRow, 'userId' | 'tableId' | 'kind'>) =>
    and(eq(watches.userId, userId), eq(watches.tableId, tableId), eq(watches.kind, kind))

  /** The row of a target. @throws TABLE_NOT_FOUND; FORBIDDEN without access to the base */
  async function rowOf(actor: Actor, target: WatchTarget): Promise<WatchRow> {
    const model = await schema.load(target.tableId)
    const { baseId } = model.table
    await auth.access.authorize(actor, 'record.list', baseId)
    const isRecord = 'recordId' in target
    return {
      userId: requireUser(actor).id,
      baseId,
      tableId: target.tableId,
      kind: isRecord ? 'record' : 'view',
      targetId: isRecord ? String(storedId(model, target.recordId)) : target.viewId,
      createdAt: nowIso(),
    }
  }

  /** @throws RECORD_NOT_FOUND, VIEW_NOT_FOUND */
  async function requireTarget(actor: Actor, target: WatchTarget): Promise<void> {
    if ('viewId' in target) {
      const view = await views.load(target.viewId)
      if (view.tableId !== target.tableId) throw notFound('View', target.viewId)
      return
    }
    const opened = await records.open(actor, target.tableId)
    const row = await records.readOne(opened, target.recordId, [opened.model.primaryKey])
    if (row === null) throw notFound('Record', String(target.recordId))
  }

  const countOf = async (userId: string): Promise<number> => {
    const [counted] = await db.select({ n: count() }).from(watches).where(eq(watches.userId, userId))
    return Number(counted?.n ?? 0)
  }

  /** What a person watches, newest first, and what of it is gone or not open to them any more. */
  async function look(actor: Actor, timeZone?: string): Promise<{ found: Watch[]; gone: WatchRow[] }> {
    const rows = await db
      .select()
      .from(watches)
      .where(eq(watches.userId, requireUser(actor).id))
      .orderBy(desc(watches.createdAt))
    const found: Watch[] = []
    const gone: WatchRow[] = []
    for (const [baseId, ofBase] of Map.groupBy(rows, (row) => row.baseId)) {
      const base = await unlessRefused(async () => {
        await auth.access.authorize(actor, 'record.list', baseId)
        return bases.require(baseId)
      })
      if (!base) {
        gone.push(...ofBase)
        continue
      }
      const references = ofBase
        .filter(({ kind }) => kind === 'record')
        .map(({ tableId, targetId }) => ({ tableId, recordId: targetId }))
      const titles = await unlessUnreadable(() => records.titlesOf(actor, references, timeZone))
      for (const row of ofBase) {
        const { tableId, kind, targetId } = row
        const shared = { baseId, tableId, kind, targetId, baseTitle: base.title }
        if (kind === 'record') {
          const record = titles?.get(referenceKey({ tableId, recordId: targetId }))
          if (record) found.push({ ...shared, tableTitle: record.tableTitle, title: record.recordTitle })
          else if (titles) gone.push(row)
          continue
        }
        const view = await unlessRefused(() => views.load(targetId))
        const model = view && (await unlessRefused(() => schema.load(tableId)))
        if (view && model) found.push({ ...shared, tableTitle: model.table.title, title: view.title })
        else gone.push(row)
      }
    }
    return { found, gone }
  }

  /** Ends a person's watches of what is gone, so that they have room for others. */
  async function makeRoom(actor: Actor): Promise<void> {
    const { gone } = await look(actor)
    for (const rows of Map.groupBy(gone, ({ tableId, kind }) => `${tableId} ${kind}`).values()) {
      const [first] = rows
      if (!first) continue
      const targetIds = rows.map(({ targetId }) => targetId)
      await db.delete(watches).where(and(ofKind(first), inArray(watches.targetId, targetIds)))
    }
    for (const baseId of new Set(gone.map((row) => row.baseId))) {
      // One that is in the trash, or whose database is away, is looked at again when the server starts.
      await unlessUnreadable(() => ended(baseId))
    }
  }

  return {
    /** What the actor watches, without names. */
    async keys(actor: Actor): Promise<Pick<WatchRow, 'tableId' | 'kind' | 'targetId'>[]> {
      await auth.access.authorize(actor, 'notification.read')
      return db
        .select({ tableId: watches.tableId, kind: watches.kind, targetId: watches.targetId })
        .from(watches)
        .where(eq(watches.userId, requireUser(actor).id))
    },

    /**
     * Begins or ends to watch a record or view; ending works for one that is not there any more.
     *
     * @throws RECORD_NOT_FOUND, VIEW_NOT_FOUND; BAD_REQUEST beyond `MAX_WATCHES`
     */
    async watch(actor: Actor, target: WatchTarget, isOn: boolean): Promise<void> {
      const row = await rowOf(actor, target)
      if (!isOn) {
        await db.delete(watches).where(and(ofKind(row), eq(watches.targetId, row.targetId)))
        await ended(row.baseId)
        return
      }
      await requireTarget(actor, target)
      if ((await countOf(row.userId)) >= MAX_WATCHES) await makeRoom(actor)
      if ((await countOf(row.userId)) >= MAX_WATCHES) {
        throw badRequest(m.notifications_error_too_many_watches({ max: MAX_WATCHES }))
      }
      await db.insert(watches).values(row).onConflictDoNothing()
      await follow(row.baseId)
    },

    /**
     * Ends watches of what is gone, of those people who have no room left: as long as there is some, a record that comes back
     * from the trash is still watched.
     */
    async forgetGone(): Promise<void> {
      const full = await db
        .select({ userId: watches.userId })
        .from(watches)
        .groupBy(watches.userId)
        .having(gte(count(), MAX_WATCHES))
      for (const { userId } of full) {
        const actor = await auth.actorOf(userId)
        if (actor) await makeRoom(actor)
      }
    },

    /** What the actor watches and may still open, newest first; times in names are in the time zone, by default UTC. */
    async list(actor: Actor, timeZone?: string): Promise<Watch[]> {
      await auth.access.authorize(actor, 'notification.read')
      return (await look(actor, timeZone)).found
    },

    follow,

    /** All watches of some tables. */
    async ofTables(tableIds: readonly string[]): Promise<WatchRow[]> {
      if (tableIds.length === 0) return []
      return db
        .select()
        .from(watches)
        .where(inArray(watches.tableId, [...tableIds]))
    },

    /** The people who watch a record. */
    async watchersOf(tableId: string, recordId: string): Promise<string[]> {
      const rows = await db
        .select({ userId: watches.userId })
        .from(watches)
        .where(and(eq(watches.tableId, tableId), eq(watches.kind, 'record'), eq(watches.targetId, recordId)))
      return rows.map(({ userId }) => userId)
    },

    async hasAny(baseId: string): Promise<boolean> {
      const rows = await db
        .select({ kind: watches.kind })
        .from(watches)
        .where(eq(watches.baseId, baseId))
        .limit(1)
      return rows.length > 0
    },

    async watchedBases(): Promise<string[]> {
      const rows = await db.selectDistinct({ baseId: watches.baseId }).from(watches)
      return rows.map(({ baseId }) => baseId)
    },

    /** Statements by which people begin to watch records, within their limit. */
    async adding(rows: readonly Omit<WatchRow, 'createdAt' | 'kind'>[]): Promise<MetaStatement[]> {
      if (rows.length === 0) return []
      const userIds = [...new Set(rows.map(({ userId }) => userId))]
      const counts = await db
        .select({ userId: watches.userId, n: count() })
        .from(watches)
        .where(inArray(watches.userId, userIds))
        .groupBy(watches.userId)
      const left = new Map(userIds.map((id) => [id, MAX_WATCHES]))
      for (const { userId, n } of counts) left.set(userId, MAX_WATCHES - Number(n))
      const createdAt = nowIso()
      const added = rows.filter(({ userId }) => {
        const room = left.get(userId) ?? 0
        left.set(userId, room - 1)
        return room > 0
      })
      const batches = Math.ceil(added.length / ROWS_AT_ONCE)
      return Array.from({ length: batches }, (_, batch) =>
        db
          .insert(watches)
          .values(
            added
              .slice(batch * ROWS_AT_ONCE, (batch + 1) * ROWS_AT_ONCE)
              .map((row) => ({ ...row, kind: 'record' as const, createdAt })),
          )
          .onConflictDoNothing(),
      )
    },

    /** Records and views of tables that move to another base are watched there. */
    forMovedTables: ({ fromBaseId, toBaseId, tables, views }: TableMove): MetaStatement[] =>
      Array.from(idBatches(tables), (batch) => {
        const ofTables = and(
          eq(watches.baseId, fromBaseId),
          inArray(
            watches.tableId,
            batch.map(([id]) => id),
          ),
        )
        return [
          ...Array.from(idBatches(views), (ids) =>
            db
              .update(watches)
              .set({ targetId: renamedIds(watches.targetId, ids) })
              .where(and(ofTables, eq(watches.kind, 'view'))),
          ),
          db
            .update(watches)
            .set({ baseId: toBaseId, tableId: renamedIds(watches.tableId, batch) })
            .where(ofTables),
        ]
      }).flat(),
    forRemovedBase: (baseId: string): MetaStatement[] => [
      db.delete(watches).where(eq(watches.baseId, baseId)),
    ],
  }
}
