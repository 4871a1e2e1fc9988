import { and, asc, eq, inArray, lt, or, type SQL, sql } from 'drizzle-orm'
import { nowIso, nowMs } from '../../src/clock.ts'
import type { AuditKind } from '../../src/core/activity.ts'
import { type Actor, actorIdOf } from '../../src/core/actor.ts'
import { AppError } from '../../src/core/errors.ts'
import { randomText } from '../../src/core/ids.ts'
import { CUSTOM_ADDRESS, type Share, type ShareKind, shareSettings } from '../../src/core/shares.ts'
import type { MetaStatement } from '../../src/db/meta.ts'
import { createReadCache } from '../../src/db/read-cache.ts'
import { idBatches, renamedIds } from '../../src/db/renamed-ids.ts'
import type { Kernel } from '../../src/kernel.ts'
import { m } from '../../src/messages.gen.ts'
import type { Audits } from './audits.ts'
import { hashPassword } from './credentials.ts'
import { defineAuthTables } from './tables.ts'

const MAX_CACHED_SHARES = 10_000
/** Times that a change starts again because others change the link at the same time. */
const MAX_TRIES = 50

/** 26 characters of [a-z0-9] have 134 bits, too many to guess. */
const ID_LENGTH = 26

/** Visits are recorded at most this often. */
const VISIT_EVERY_MS = 60_000

export type ShareRow = ReturnType<typeof defineAuthTables>['shares']['$inferSelect']

/** The view, base or source of a link. */
export type ShareTarget = Pick<Share, 'kind' | 'baseId' | 'targetId'>

/** Changes of a link; absent keys stay. */
export interface SharePatch {
  role?: Share['role']
  /** In clear text; null removes it. */
  password?: string | null
  expiresAt?: string | null
  settings?: Partial<Share['settings']>
  /** A custom address. */
  id?: string
}

/** The part of a link that decides who may open it; visits and answers do not change it. */
export type OpenState = Pick<ShareRow, 'id' | 'passwordHash' | 'expiresAt'>

export type Shares = ReturnType<typeof createShares>

/** Stores public links. `modules/shares` checks who may manage them, `share-visitors.ts` who may open them. */
export function createShares(
  { meta, events, tableMoves }: Pick<Kernel, 'meta' | 'events' | 'tableMoves'>,
  audits: Audits,
) {
  const { shares } = meta.tables(defineAuthTables)
  const { db } = meta
  const cache = createReadCache<ShareRow, 'shares'>(meta, {
    name: 'shares',
    max: MAX_CACHED_SHARES,
    table: 'shares',
    keyOf: ({ id }) => id,
  })
  const byTarget = createReadCache<OpenState, 'shares'>(meta, {
    name: 'shared targets',
    max: MAX_CACHED_SHARES,
    table: 'shares',
    keyOf: (row) => keyOf({ kind: row.kind, targetId: row.target_id }),
  })
  // The links of the views of moved tables open them where they are now.
  tableMoves.push({
    statements: async ({ toBaseId, views }) =>
      Array.from(idBatches(views), (batch) =>
        db
          .update(shares)
          .set({ baseId: toBaseId, targetId: renamedIds(shares.targetId, batch) })
          .where(
            and(
              eq(shares.kind, 'view'),
              inArray(
                shares.targetId,
                batch.map(([id]) => id),
              ),
            ),
          ),
      ),
    moved: ({ views }) => {
      for (const targetId of [...views.keys(), ...views.values()])
        byTarget.forget(keyOf({ kind: 'view', targetId }))
      cache.clear()
    },
  })
  const isOf = ({ kind, targetId }: Pick<ShareTarget, 'kind' | 'targetId'>) =>
    and(eq(shares.kind, kind), eq(shares.targetId, targetId))

  async function load(id: string): Promise<ShareRow | null> {
    if (!CUSTOM_ADDRESS.test(id)) return null
    const [row] = await db.select().from(shares).where(eq(shares.id, id))
    return row ?? null
  }

  async function ofTarget(target: Pick<ShareTarget, 'kind' | 'targetId'>): Promise<ShareRow | null> {
    const [row] = await db.select().from(shares).where(isOf(target))
    return row ?? null
  }

  function changed(target: Pick<ShareTarget, 'kind' | 'targetId'>, ...ids: string[]): void {
    byTarget.forget(keyOf(target))
    for (const shareId of new Set(ids)) {
      cache.forget(shareId)
      events.emit('share.changed', { shareId })
    }
  }

  async function refuseTaken(id: string | undefined, own: string | null): Promise<void> {
    if (id !== undefined && id !== own && (await load(id)) !== null) throw taken(id)
  }

  /** The columns that a patch changes beside the settings. */
  async function valuesOf({ password, settings: _, ...patch }: SharePatch) {
    if (password === undefined) return patch
    return { ...patch, passwordHash: password === null ? null : await hashPassword(password) }
  }

  const auditOf = (
    by: Actor,
    { kind: target, baseId }: Pick<ShareRow, 'kind' | 'baseId'>,
    kind: AuditKind,
    name: string,
    isDone?: SQL,
  ) => audits.record(by, { baseId, kind, detail: { target, name } }, isDone)

  /** @throws CONFLICT if the link has been closed */
  async function change(by: Actor, { id }: ShareRow, name: string, patch: SharePatch): Promise<ShareRow> {
    await refuseTaken(patch.id, id)
    const values = await valuesOf(patch)
    for (let tries = 1; ; tries++) {
      const before = await load(id)
      if (!before) throw closed()
      const settings = patch.settings && {
        settings: shareSettings.parse({ ...before.settings, ...patch.settings }),
      }
      try {
        return await store(by, before, name, { ...values, ...settings })
      } catch (error) {
        // Another change came in between: this one starts from what that has stored.
        if (meta.violation(error)?.kind !== 'required' || tries === MAX_TRIES) throw error
      }
    }
  }

  /** Stores a change of a link. Violates a not-null constraint if it was changed since it was read. */
  async function store(by: Actor, before: ShareRow, name: string, set: Partial<ShareRow>): Promise<ShareRow> {
    const id = set.id ?? before.id
    // Later than the change before, which tells the two apart.
    const updatedAt = new Date(Math.max(nowMs(), Date.parse(before.updatedAt) + 1)).toISOString()
    const isDone = sql`exists (select 1 from ${shares} where ${shares.id} = ${id} and ${shares.updatedAt} = ${updatedAt})`
    await meta
      .atomically([
        db
          .update(shares)
          .set({
            ...set,
            updatedAt: sql`case when ${shares.updatedAt} = ${before.updatedAt} then ${updatedAt} end`,
          })
          .where(eq(shares.id, before.id)),
        ...auditOf(by, before, 'share.update', name, isDone),
      ])
      .catch(async (error) => {
        // Another link may have taken the address in the meantime.
        await refuseTaken(set.id, before.id)
        throw error
      })
    changed(before, before.id, id)
    audits.added(before.baseId)
    const row = await load(id)
    if (!row) throw closed()
    return row
  }

  return {
    /** The link of an id, cached. May have expired: callers check the time. */
    find: async (id: string): Promise<ShareRow | null> =>
      cache.peek(id) ?? (await cache.read(id, () => load(id))),

    ofTarget,

    /** The open state of a target's link, cached; null if it has none. */
    findOf: async (target: Pick<ShareTarget, 'kind' | 'targetId'>): Promise<OpenState | null> => {
      const key = keyOf(target)
      return byTarget.peek(key) ?? (await byTarget.read(key, () => ofTarget(target)))
    },

    /** Time of each link's last change, by id, read from the database. Closed links are left out. */
    async changedAt(ids: string[]): Promise<ReadonlyMap<string, string>> {
      const rows = await db
        .select({ id: shares.id, updatedAt: shares.updatedAt })
        .from(shares)
        .where(inArray(shares.id, ids))
      return new Map(rows.map(({ id, updatedAt }) => [id, updatedAt]))
    },

    /** Ids of the views (or sources) of a base that have a link. */
    async openTargets(kind: ShareKind, baseId: string): Promise<ReadonlySet<string>> {
      const rows = await db
        .select({ targetId: shares.targetId })
        .from(shares)
        .where(and(eq(shares.kind, kind), eq(shares.baseId, baseId)))
      return new Set(rows.map((row) => row.targetId))
    },

    /** All links of a base, its views and diagrams, oldest first. */
    ofBase: (baseId: string): Promise<ShareRow[]> =>
      Promise.resolve(
        db
          .select()
          .from(shares)
          .where(eq(shares.baseId, baseId))
          .orderBy(asc(shares.createdAt), asc(shares.id)),
      ),

    /**
     * Changes a target's link, or creates it. If two people create it at once, the second changes the first
     * one's link.
     * @param commit writes a new link together with the change of its target
     * @throws CONFLICT for an address in use
     */
    async save(
      by: Actor,
      target: ShareTarget & { title: string },
      patch: SharePatch,
      commit: (statements: MetaStatement[]) => Promise<void>,
    ): Promise<ShareRow> {
      const known = await ofTarget(target)
      if (known) return change(by, known, target.title, patch)
      await refuseTaken(patch.id, null)
      const values = await valuesOf(patch)
      const now = nowIso()
      const { kind, baseId, targetId } = target
      const fresh: ShareRow = {
        kind,
        baseId,
        targetId,
        role: 'viewer',
        passwordHash: null,
        expiresAt: null,
        createdBy: actorIdOf(by),
        createdAt: now,
        updatedAt: now,
        lastVisitAt: null,
        answers: 0,
        settings: shareSettings.parse({ ...patch.settings }),
        ...values,
        id: patch.id ?? randomText(ID_LENGTH),
      }
      const isDone = sql`exists (select 1 from ${shares} where ${shares.id} = ${fresh.id})`
      await commit([
        db.insert(shares).values(fresh).onConflictDoNothing(),
        ...auditOf(by, fresh, 'share.create', target.title, isDone),
      ])
      changed(fresh, fresh.id)
      audits.added(baseId)
      const made = await ofTarget(target)
      if (!made) throw taken(fresh.id)
      return made.id === fresh.id ? made : change(by, made, target.title, patch)
    },

    /** Gives a link a new random address; the old one stops working. */
    regenerate: (by: Actor, before: ShareRow, title: string): Promise<ShareRow> =>
      change(by, before, title, { id: randomText(ID_LENGTH) }),

    /**
     * Ends the open links of some targets now. Their addresses and settings stay: they open again with a new expiry.
     * Returns their number.
     */
    async suspend(by: Actor, baseId: string, targetIds: ReadonlySet<string>, title: string): Promise<number> {
      const now = nowIso()
      const rows = await db.select().from(shares).where(eq(shares.baseId, baseId))
      const open = rows.filter(
        ({ targetId, expiresAt }) => targetIds.has(targetId) && (expiresAt === null || expiresAt > now),
      )
      for (const row of open) await change(by, row, title, { expiresAt: now })
      return open.length
    },

    async close(
      by: Actor,
      row: ShareRow,
      title: string,
      commit: (statements: MetaStatement[]) => Promise<void>,
    ): Promise<void> {
      await commit([
        db.delete(shares).where(eq(shares.id, row.id)),
        ...auditOf(by, row, 'share.delete', title),
      ])
      changed(row, row.id)
      audits.added(row.baseId)
    },

    /** Records a visit, at most once a minute. */
    async visited({ id, lastVisitAt }: Pick<ShareRow, 'id' | 'lastVisitAt'>): Promise<void> {
      const now = nowMs()
      if (lastVisitAt !== null && Date.parse(lastVisitAt) > now - VISIT_EVERY_MS) return
      const before = new Date(now - VISIT_EVERY_MS).toISOString()
      const isDue = or(sql`${shares.lastVisitAt} is null`, lt(shares.lastVisitAt, before))
      await db
        .update(shares)
        .set({ lastVisitAt: new Date(now).toISOString() })
        .where(and(eq(shares.id, id), isDue))
      cache.forget(id)
    },

    /** Counts an answer. False, without counting, if the link has `most` already or is closed. */
    async countAnswer(id: string, most: number | null): Promise<boolean> {
      const isOpen = most === null ? undefined : lt(shares.answers, most)
      const counted = await db
        .update(shares)
        .set({ answers: sql`${shares.answers} + 1` })
        .where(and(eq(shares.id, id), isOpen))
        .returning({ answers: shares.answers })
      cache.forget(id)
      return counted.length > 0
    },

    /** Reverts `countAnswer`. */
    async discountAnswer(id: string): Promise<void> {
      await db
        .update(shares)
        .set({ answers: sql`${shares.answers} - 1` })
        .where(eq(shares.id, id))
      cache.forget(id)
    },
  }
}

const keyOf = ({ kind, targetId }: { kind: string; targetId: string }): string => `${kind} ${targetId}`

/** A link as its managers see it. */
export const asShare = (row: ShareRow, isBlocked: boolean): Share => {
  const { id, kind, baseId, targetId, role, expiresAt, createdAt, lastVisitAt, answers } = row
  return {
    id,
    kind,
    baseId,
    targetId,
    role,
    expiresAt,
    createdAt,
    lastVisitAt,
    answers,
    hasPassword: row.passwordHash !== null,
    settings: shareSettings.parse(row.settings),
    isBlocked,
  }
}

const closed = (): AppError => new AppError('CONFLICT', m.shares_error_closed())

const taken = (id: string): AppError => new AppError('CONFLICT', m.shares_error_address_taken({ id }))
