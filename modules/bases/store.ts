import { and, asc, eq, inArray, isNotNull, isNull, max, ne } from 'drizzle-orm'
import { notFound } from '../../src/core/errors.ts'
import { createReadCache } from '../../src/db/read-cache.ts'
import type { Kernel } from '../../src/kernel.ts'
import { defineBasesTables, type SourceClient } from './tables.ts'

const MAX_CACHED_BASES = 10_000
/** Past this, reading all bases costs less than naming the wanted ones. */
const MAX_NAMED_BASES = 1000
/** PostgreSQL fails on some texts, such as a null character, instead of not finding them. */
const BASE_ID = /^p[a-z0-9]{14}$/

/** Stands in `deletedAt` of a base whose home is being removed: nobody restores it, and the daily round completes it. */
export const BEING_REMOVED = '1970-01-01T00:00:00.000Z'

type Tables = ReturnType<typeof defineBasesTables>
export type BaseRow = Tables['bases']['$inferSelect']
export type SourceRow = Tables['sources']['$inferSelect']
export type PreferenceRow = Tables['basePreferences']['$inferSelect']

/** A base as one person's list has it. */
export interface ListedBase {
  base: BaseRow
  preference: PreferenceRow | null
}

export type BaseStore = ReturnType<typeof createBaseStore>

/** The rows of bases, and what is held of them in memory: every call to a base asks for its row. */
export function createBaseStore({ meta }: Pick<Kernel, 'meta'>) {
  const { bases, sources, basePreferences } = meta.tables(defineBasesTables)
  const cache = createReadCache<BaseRow>(meta, MAX_CACHED_BASES, 'bases')
  const isLive = isNull(bases.deletedAt)
  const isTrashed = and(isNotNull(bases.deletedAt), ne(bases.deletedAt, BEING_REMOVED))

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

    /** The base of that id, or null; one in the trash is none. */
    find,

    /** To be called once a change of the base is committed. */
    changed: (baseId: string): void => cache.forget(baseId),

    /** @throws BASE_NOT_FOUND when there is none, or it is in the trash */
    async require(baseId: string): Promise<BaseRow> {
      const row = await find(baseId)
      if (!row) throw notFound('Base', baseId.slice(0, 64))
      return row
    },

    /** @throws BASE_NOT_FOUND when it is not in the trash */
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

    /** The titles of those of the bases that are not in the trash, in alphabetical order. */
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

    /** Bases of that title, in their common order. */
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
     * Bases, or those in the trash, as `userId` has arranged them: those without a place come last.
     * `among`: all of these at least, where there are few; null: all there are.
     */
    async arranged(userId: string, trash: boolean, among: string[] | null): Promise<ListedBase[]> {
      if (among?.length === 0) return []
      const isAsked = among && among.length <= MAX_NAMED_BASES ? inArray(bases.id, among) : undefined
      const isOwn = and(eq(basePreferences.baseId, bases.id), eq(basePreferences.userId, userId))
      const rows = await meta.db
        .select({ base: bases, preference: basePreferences })
        .from(bases)
        .leftJoin(basePreferences, isOwn)
        .where(and(trash ? isTrashed : isLive, isAsked))
      const place = ({ preference }: ListedBase) => preference?.order ?? Number.POSITIVE_INFINITY
      return rows.sort(
        (a, b) =>
          comparePlaces(place(a), place(b)) ||
          a.base.order - b.base.order ||
          a.base.createdAt.localeCompare(b.base.createdAt),
      )
    },

    async preference(baseId: string, userId: string): Promise<PreferenceRow | null> {
      const isIt = and(eq(basePreferences.baseId, baseId), eq(basePreferences.userId, userId))
      const [row] = await meta.db.select().from(basePreferences).where(isIt)
      return row ?? null
    },

    /** The sources of each of the bases, the base's own first. */
    async sourcesOf(baseIds: string[]): Promise<Map<string, SourceRow[]>> {
      const found = new Map<string, SourceRow[]>(baseIds.map((id) => [id, []]))
      if (baseIds.length === 0) return found
      const rows = await meta.db
        .select()
        .from(sources)
        .where(inArray(sources.baseId, baseIds))
        .orderBy(asc(sources.order))
      for (const row of rows) found.get(row.baseId)?.push(row)
      return found
    },

    /** What holds the base's own tables; also of one in the trash; null where there is no such base. */
    async homeOf(baseId: string): Promise<SourceClient | null> {
      const [own] = await meta.db
        .select({ client: sources.client })
        .from(sources)
        .where(and(eq(sources.baseId, baseId), eq(sources.isOwn, true)))
      return own?.client ?? null
    },

    /** A place after all others. */
    async lastPlace(): Promise<number> {
      const [row] = await meta.db.select({ last: max(bases.order) }).from(bases)
      return (row?.last ?? 0) + 1
    },
  }
}

// Two infinities, subtracted, are no number.
const comparePlaces = (a: number, b: number): number => (a === b ? 0 : a < b ? -1 : 1)
