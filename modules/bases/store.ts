import { and, asc, eq, inArray, isNotNull, isNull, max, ne, notInArray, sql } from 'drizzle-orm'
import { notFound } from '../../src/core/errors.ts'
import type { MetaReader, MetaStatement } from '../../src/db/meta.ts'
import { createReadCache } from '../../src/db/read-cache.ts'
import type { Kernel } from '../../src/kernel.ts'
import { defineBasesTables, type SourceClient } from './tables.ts'

const MAX_CACHED_BASES = 10_000
/** For more bases, reading all rows is cheaper than listing ids. */
const MAX_NAMED_BASES = 1000
/** Checked before querying: PostgreSQL fails on some texts, such as a null character. */
const BASE_ID = /^p[a-z0-9]{14}$/

/**
 * Value of `deletedAt` while a base's home is being removed: it cannot be restored, and the daily cleanup
 * completes it.
 */
export const BEING_REMOVED = '1970-01-01T00:00:00.000Z'
/**
 * Value of `deletedAt` while a base is being copied or read from a file: nobody sees it, and no clean-up but that of its job
 * removes it.
 */
export const BEING_MADE = '9999-12-31T23:59:59.999Z'

type Tables = ReturnType<typeof defineBasesTables>
export type BaseRow = Tables['bases']['$inferSelect']
export type SourceRow = Tables['sources']['$inferSelect']
export type PreferenceRow = Tables['basePreferences']['$inferSelect']

/** A base in one person's list. */
export interface ListedBase {
  base: BaseRow
  preference: PreferenceRow | null
}

export type BaseStore = ReturnType<typeof createBaseStore>

/** Rows of bases, cached: every call to a base reads its row. */
export function createBaseStore({ meta }: Pick<Kernel, 'meta'>) {
  const { bases, sources, basePreferences } = meta.tables(defineBasesTables)
  const cache = createReadCache<BaseRow, 'bases'>(meta, {
    name: 'bases',
    max: MAX_CACHED_BASES,
    table: 'bases',
    keyOf: ({ id }) => id,
  })
  const isLive = isNull(bases.deletedAt)
  const isTrashed = and(isNotNull(bases.deletedAt), notInArray(bases.deletedAt, [BEING_REMOVED, BEING_MADE]))

  async function load(baseId: string): Promise<BaseRow | null> {
    if (!BASE_ID.test(baseId)) return null
    const [row] = await meta.db
      .select()
      .from(bases)
      .where(and(eq(bases.id, baseId), isLive))
    return row ?? null
  }

  const find = async (baseId: string): Promise<BaseRow | null> =>
    cache.peek(baseId) ?? (await cache.read(baseId, () => load(baseId)))

  return {
    tables: { bases, sources, basePreferences },
    /** The condition of bases in the trash. Those that are being deleted forever are not. */
    isTrashed,

    /** The base of an id; null if it is unknown or in the trash. */
    find,

    /** Call once a change of the base is committed. */
    changed: (baseId: string): void => cache.forget(baseId),

    /** @throws BASE_NOT_FOUND if it is unknown or in the trash */
    async require(baseId: string): Promise<BaseRow> {
      const row = await find(baseId)
      if (!row) throw notFound('Base', baseId.slice(0, 64))
      return row
    },

    /** @throws BASE_NOT_FOUND if it is not in the trash */
    async requireTrashed(baseId: string): Promise<BaseRow> {
      const found = BASE_ID.test(baseId)
        ? await meta.db
            .select()
            .from(bases)
            .where(and(eq(bases.id, baseId), isTrashed))
        : []
      if (!found[0]) throw notFound('Base', baseId.slice(0, 64))
      return found[0]
    },

    /** In a transaction, makes other changes of the owners of these bases wait for its end. */
    lock: (baseIds: string[]): MetaStatement =>
      meta.db.update(bases).set({ updatedAt: sql`updated_at` }).where(inArray(bases.id, baseIds)),

    /** Titles of those bases that are not in the trash, sorted. */
    async titlesOf(baseIds: string[]): Promise<string[]> {
      const titles: string[] = []
      for (let start = 0; start < baseIds.length; start += MAX_NAMED_BASES) {
        const some = inArray(bases.id, baseIds.slice(start, start + MAX_NAMED_BASES))
        for (const { title } of await meta.db
          .select({ title: bases.title })
          .from(bases)
          .where(and(some, isLive)))
          titles.push(title)
      }
      return titles.sort()
    },

    /** Titles of at most 1,000 bases, also of those in the trash; removed ones are left out. */
    async named(baseIds: string[]): Promise<{ id: string; title: string }[]> {
      if (baseIds.length === 0) return []
      return meta.db
        .select({ id: bases.id, title: bases.title })
        .from(bases)
        .where(inArray(bases.id, baseIds))
    },

    async findByTitle(title: string, exceptId?: string): Promise<BaseRow[]> {
      if (title.includes('\u0000')) return []
      const isOther = exceptId === undefined ? undefined : ne(bases.id, exceptId)
      return meta.db
        .select()
        .from(bases)
        .where(and(eq(bases.title, title), isLive, isOther))
        .orderBy(asc(bases.order))
    },

    /**
     * Bases (or trashed ones) in the order of `userId`; those without an order come last. `among` may limit
     * them to these ids (long lists are ignored); null: all.
     */
    async arranged(userId: string, trash: boolean, among: string[] | null): Promise<ListedBase[]> {
      if (among?.length === 0) return []
      const isNamed = among && among.length <= MAX_NAMED_BASES ? inArray(bases.id, among) : undefined
      const isOwn = and(eq(basePreferences.baseId, bases.id), eq(basePreferences.userId, userId))
      const rows = await meta.db
        .select({ base: bases, preference: basePreferences })
        .from(bases)
        .leftJoin(basePreferences, isOwn)
        .where(and(trash ? isTrashed : isLive, isNamed))
      const orderOf = ({ preference }: ListedBase) => preference?.order ?? Number.POSITIVE_INFINITY
      return rows.sort(
        (a, b) =>
          compareOrders(orderOf(a), orderOf(b)) ||
          a.base.order - b.base.order ||
          a.base.createdAt.localeCompare(b.base.createdAt),
      )
    },

    async preference(baseId: string, userId: string): Promise<PreferenceRow | null> {
      const isIt = and(eq(basePreferences.baseId, baseId), eq(basePreferences.userId, userId))
      const [row] = await meta.db.select().from(basePreferences).where(isIt)
      return row ?? null
    },

    /** Sources by base id, the base's own first. */
    async sourcesOf(baseIds: string[], from: MetaReader = meta.db): Promise<Map<string, SourceRow[]>> {
      const found = new Map<string, SourceRow[]>(baseIds.map((id) => [id, []]))
      if (baseIds.length === 0) return found
      const rows = await from
        .select()
        .from(sources)
        .where(inArray(sources.baseId, baseIds))
        .orderBy(asc(sources.order))
      for (const row of rows) found.get(row.baseId)?.push(row)
      return found
    },

    /** The client of the base's own source, also for a trashed base; null if unknown. */
    async homeOf(baseId: string): Promise<SourceClient | null> {
      const [own] = await meta.db
        .select({ client: sources.client })
        .from(sources)
        .where(and(eq(sources.baseId, baseId), eq(sources.isOwn, true)))
      return own?.client ?? null
    },

    /** The clients of the own sources of bases. */
    async homesOf(baseIds: readonly string[]): Promise<{ baseId: string; home: SourceClient }[]> {
      if (baseIds.length === 0) return []
      const isNamed = baseIds.length <= MAX_NAMED_BASES ? inArray(sources.baseId, [...baseIds]) : undefined
      const wanted = new Set(baseIds)
      const rows = await meta.db
        .select({ baseId: sources.baseId, home: sources.client })
        .from(sources)
        .where(and(eq(sources.isOwn, true), isNamed))
      return rows.filter(({ baseId }) => wanted.has(baseId))
    },

    async nextOrder(): Promise<number> {
      const [row] = await meta.db.select({ last: max(bases.order) }).from(bases)
      return (row?.last ?? 0) + 1
    },
  }
}

// Subtracting two infinities gives NaN.
const compareOrders = (a: number, b: number): number => (a === b ? 0 : a < b ? -1 : 1)
