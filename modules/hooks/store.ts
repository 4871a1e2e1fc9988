import { and, asc, count, desc, eq, gt, inArray, isNotNull, lt, max, or, sql } from 'drizzle-orm'
import { nowMs } from '../../src/clock.ts'
import { type DeliveryStatus, RECORD_EVENTS } from '../../src/core/hooks.ts'
import type { MetaReader, MetaStatement } from '../../src/db/meta.ts'
import type { Kernel } from '../../src/kernel.ts'
import { defineHooksTables } from './tables.ts'

type Tables = ReturnType<typeof defineHooksTables>
export type HookRow = Tables['hooks']['$inferSelect']
export type DeliveryRow = Tables['hookDeliveries']['$inferSelect']

/** What a delivery that has not been tried has in common with all others. */
export const UNTRIED = {
  status: 'waiting',
  attempts: 0,
  receivedBy: null,
  endedAt: null,
  request: null,
  response: null,
  durationMs: null,
  errorCode: null,
  errorMessage: null,
} as const satisfies Partial<DeliveryRow>

/** Takes the numbers of the entries of another log below those of any log, in their order. */
const BEFORE_ALL_ENTRIES = 2 ** 50

/** Rows of one insert: SQLite binds at most 32,766 values. */
const INSERT_ROWS = 500

export type HookStore = ReturnType<typeof createHookStore>

/** Deliveries that `repeated` looks at. */
const MAX_REPEATED = 1_000

/** The rows of webhooks and deliveries. */
export function createHookStore({ meta }: Pick<Kernel, 'meta'>) {
  const { hooks, hookDeliveries } = meta.tables(defineHooksTables)
  const { db } = meta

  /** The numbers of deliveries by webhook and status. */
  async function counts(
    hookIds: readonly string[],
  ): Promise<Map<string, Partial<Record<DeliveryStatus, number>>>> {
    const found = new Map<string, Partial<Record<DeliveryStatus, number>>>()
    if (hookIds.length === 0) return found
    const rows = await db
      .select({ hookId: hookDeliveries.hookId, status: hookDeliveries.status, n: count() })
      .from(hookDeliveries)
      .where(
        and(
          inArray(hookDeliveries.hookId, [...hookIds]),
          inArray(hookDeliveries.status, ['waiting', 'dead']),
        ),
      )
      .groupBy(hookDeliveries.hookId, hookDeliveries.status)
    for (const { hookId, status, n } of rows) found.set(hookId, { ...found.get(hookId), [status]: Number(n) })
    return found
  }

  /**
   * Part of an update of a webhook, which fails if that was changed since it was read: the column takes no null.
   *
   * @param next the time of this change; by default it is none of the settings
   */
  const unlessChanged = ({ updatedAt }: Pick<HookRow, 'updatedAt'>, next = updatedAt) => ({
    updatedAt: sql`case when ${hooks.updatedAt} = ${updatedAt} then ${next} end`,
  })

  return {
    hooks,
    hookDeliveries,
    unlessChanged,

    async find(id: string): Promise<HookRow | null> {
      const [row] = await db.select().from(hooks).where(eq(hooks.id, id))
      return row ?? null
    },
    /** The webhook whose condition has a node of this id. */
    async holdingFilter(filterId: string): Promise<HookRow | null> {
      if (!/^[a-z0-9]{3,32}$/.test(filterId)) return null
      const [row] = await db
        .select()
        .from(hooks)
        .where(sql`cast(${hooks.filter} as text) like ${`%"${filterId}"%`}`)
      return row ?? null
    },
    ofTable: (tableId: string): Promise<HookRow[]> =>
      Promise.resolve(
        db.select().from(hooks).where(eq(hooks.tableId, tableId)).orderBy(asc(hooks.order), asc(hooks.id)),
      ),
    /** @param from metadata of a backup; absent: those of this server */
    ofBase: (baseId: string, from: MetaReader = db): Promise<HookRow[]> =>
      Promise.resolve(
        from.select().from(hooks).where(eq(hooks.baseId, baseId)).orderBy(asc(hooks.order), asc(hooks.id)),
      ),
    insertHooks: (rows: readonly HookRow[]): MetaStatement[] =>
      rows.map((row) => db.insert(hooks).values(row)),
    /** Statements that give the deliveries of a webhook to one of another base, which makes its own after them. */
    movedDeliveries: (fromId: string, to: { hookId: string; baseId: string }): MetaStatement =>
      db
        .update(hookDeliveries)
        .set({ ...to, entryId: sql`${hookDeliveries.entryId} - ${BEFORE_ALL_ENTRIES}` })
        .where(eq(hookDeliveries.hookId, fromId)),
    activeOfBase: (baseId: string): Promise<HookRow[]> =>
      Promise.resolve(
        db
          .select()
          .from(hooks)
          .where(and(eq(hooks.baseId, baseId), eq(hooks.isActive, true), inArray(hooks.event, RECORD_EVENTS)))
          .orderBy(asc(hooks.order), asc(hooks.id)),
      ),
    /** Ids of active webhooks that are behind the feed and not paused. */
    async behind(): Promise<string[]> {
      const rows = await db
        .select({ id: hooks.id, pause: hooks.pause })
        .from(hooks)
        .where(and(eq(hooks.isActive, true), isNotNull(hooks.behindEntry)))
      return rows.filter(({ pause }) => pause === null).map(({ id }) => id)
    },
    /** True while active webhooks of a base have waiting deliveries or are behind. */
    async isBusy(baseId: string): Promise<boolean> {
      const active = (
        await db
          .select()
          .from(hooks)
          .where(and(eq(hooks.baseId, baseId), eq(hooks.isActive, true)))
      ).filter(({ pause }) => pause === null)
      if (active.some(({ behindEntry }) => behindEntry !== null)) return true
      const found = await counts(active.map(({ id }) => id))
      return [...found.values()].some(({ waiting = 0 }) => waiting > 0)
    },
    insert: (row: HookRow): MetaStatement => db.insert(hooks).values(row),
    /** A webhook with changed settings, and the statement that stores it, which fails if it was changed since it was read. */
    changed(row: HookRow, patch: Partial<HookRow>): { row: HookRow; statement: MetaStatement } {
      // Later than the change before, which tells the two apart.
      const updatedAt = new Date(Math.max(nowMs(), Date.parse(row.updatedAt) + 1)).toISOString()
      const statement = db
        .update(hooks)
        .set({ ...patch, ...unlessChanged(row, updatedAt) })
        .where(eq(hooks.id, row.id))
      return { row: { ...row, ...patch, updatedAt }, statement }
    },
    async setOrder(id: string, order: number): Promise<void> {
      await db.update(hooks).set({ order }).where(eq(hooks.id, id))
    },
    /** Removes a webhook with its deliveries. */
    async remove(id: string): Promise<void> {
      await meta.atomically([
        db.delete(hookDeliveries).where(eq(hookDeliveries.hookId, id)),
        db.delete(hooks).where(eq(hooks.id, id)),
      ])
    },

    counts,

    /** The newest ended delivery of each webhook. */
    async last(hookIds: readonly string[]): Promise<Map<string, { status: DeliveryStatus; at: number }>> {
      if (hookIds.length === 0) return new Map()
      const newest = await db
        .select({ hookId: hookDeliveries.hookId, at: max(hookDeliveries.endedAt) })
        .from(hookDeliveries)
        .where(inArray(hookDeliveries.hookId, [...hookIds]))
        .groupBy(hookDeliveries.hookId)
      const ended = newest.flatMap(({ hookId, at }) => (at === null ? [] : [{ hookId, at: Number(at) }]))
      if (ended.length === 0) return new Map()
      const rows = await db
        .select({ hookId: hookDeliveries.hookId, status: hookDeliveries.status, at: hookDeliveries.endedAt })
        .from(hookDeliveries)
        .where(
          or(
            ...ended.map(({ hookId, at }) =>
              and(eq(hookDeliveries.hookId, hookId), eq(hookDeliveries.endedAt, at)),
            ),
          ),
        )
      return new Map(rows.map(({ hookId, status, at }) => [hookId, { status, at: at ?? 0 }]))
    },

    async findDelivery(hookId: string, id: string): Promise<DeliveryRow | null> {
      const [row] = await db
        .select()
        .from(hookDeliveries)
        .where(and(eq(hookDeliveries.hookId, hookId), eq(hookDeliveries.id, id)))
      return row ?? null
    },

    /** Deliveries of a webhook, newest first. */
    deliveries: (
      hookId: string,
      status: DeliveryStatus | undefined,
      after: { createdAt: number; id: string } | null,
      limit: number,
    ): Promise<DeliveryRow[]> =>
      Promise.resolve(
        db
          .select()
          .from(hookDeliveries)
          .where(
            and(
              eq(hookDeliveries.hookId, hookId),
              status === undefined ? undefined : eq(hookDeliveries.status, status),
              after
                ? or(
                    lt(hookDeliveries.createdAt, after.createdAt),
                    and(eq(hookDeliveries.createdAt, after.createdAt), lt(hookDeliveries.id, after.id)),
                  )
                : undefined,
            ),
          )
          .orderBy(desc(hookDeliveries.createdAt), desc(hookDeliveries.id))
          .limit(limit),
      ),

    /** The state of deliveries after a try. */
    outcomes: (ids: readonly string[]) =>
      Promise.resolve(
        db
          .select({
            id: hookDeliveries.id,
            status: hookDeliveries.status,
            attempts: hookDeliveries.attempts,
            errorCode: hookDeliveries.errorCode,
            errorMessage: hookDeliveries.errorMessage,
          })
          .from(hookDeliveries)
          .where(inArray(hookDeliveries.id, [...ids])),
      ),

    /** The records of each delivery of a webhook that is to be repeated; null for many records. Later ones of theirs wait. */
    async repeated(hookId: string): Promise<(readonly string[] | null)[]> {
      const { recordIds, status, attempts } = hookDeliveries
      const rows = await db
        .select({ recordIds })
        .from(hookDeliveries)
        .where(and(eq(hookDeliveries.hookId, hookId), eq(status, 'waiting'), gt(attempts, 0)))
        .limit(MAX_REPEATED)
      return rows.map((row) => row.recordIds)
    },

    /** Gives up all waiting deliveries of a webhook. */
    async giveUpWaiting(
      hookId: string,
      reason: { code: string; message: string },
      now: number,
    ): Promise<void> {
      await db
        .update(hookDeliveries)
        .set({ status: 'dead', endedAt: now, errorCode: reason.code, errorMessage: reason.message })
        .where(and(eq(hookDeliveries.hookId, hookId), eq(hookDeliveries.status, 'waiting')))
    },

    /** Deliveries that were tried, by their number, newest first. */
    async log(
      hookId: string,
      { limit, offset, isFailed }: { limit: number; offset: number; isFailed: boolean },
    ): Promise<{ deliveries: DeliveryRow[]; total: number }> {
      const where = and(
        eq(hookDeliveries.hookId, hookId),
        gt(hookDeliveries.attempts, 0),
        isFailed ? isNotNull(hookDeliveries.errorCode) : undefined,
      )
      const [{ total } = { total: 0 }] = await db.select({ total: count() }).from(hookDeliveries).where(where)
      const deliveries = await db
        .select()
        .from(hookDeliveries)
        .where(where)
        .orderBy(desc(hookDeliveries.createdAt), desc(hookDeliveries.id))
        .limit(limit)
        .offset(offset)
      return { deliveries, total: Number(total) }
    },

    /** Statements that store deliveries. */
    insertDeliveries(rows: readonly DeliveryRow[]): MetaStatement[] {
      const statements: MetaStatement[] = []
      for (let at = 0; at < rows.length; at += INSERT_ROWS) {
        statements.push(db.insert(hookDeliveries).values(rows.slice(at, at + INSERT_ROWS)))
      }
      return statements
    },

    /** Makes ended deliveries wait again. Returns their number. */
    async retry(hookId: string, ids: readonly string[] | 'dead', now: number): Promise<number> {
      const rows = await db
        .update(hookDeliveries)
        .set({
          status: 'waiting',
          attempts: 0,
          // One that was delivered goes to all again, and others only where they are missing.
          receivedBy: sql`case when ${hookDeliveries.status} = 'dead' then ${hookDeliveries.receivedBy} end`,
          dueAt: now,
          endedAt: null,
        })
        .where(
          and(
            eq(hookDeliveries.hookId, hookId),
            eq(hookDeliveries.isTest, false),
            ids === 'dead'
              ? eq(hookDeliveries.status, 'dead')
              : and(
                  inArray(hookDeliveries.id, [...ids]),
                  inArray(hookDeliveries.status, ['dead', 'delivered']),
                ),
          ),
        )
        .returning({ id: hookDeliveries.id })
      return rows.length
    },

    forRemovedBase: (baseId: string): MetaStatement[] => [
      db.delete(hookDeliveries).where(eq(hookDeliveries.baseId, baseId)),
      db.delete(hooks).where(eq(hooks.baseId, baseId)),
    ],
  }
}
