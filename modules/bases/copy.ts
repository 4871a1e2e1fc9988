import { eq } from 'drizzle-orm'
import { nowIso } from '../../src/clock.ts'
import type { UserActor } from '../../src/core/actor.ts'
import { createId } from '../../src/core/ids.ts'
import type { MetaReader, MetaStatement } from '../../src/db/meta.ts'
import type { Kernel } from '../../src/kernel.ts'
import type { AuthService } from '../auth/index.ts'
import { type BaseRow, type BaseStore, BEING_MADE, type SourceRow } from './store.ts'

/** A base that is being copied. Nobody sees it until it is complete. */
export interface BaseDraft {
  baseId: string
  /** New source ids by the original's. */
  sourceIds: ReadonlyMap<string, string>
  /** The id of the original's own source. */
  ownSourceId: string | undefined
}

/** The first and last step of copying a base; `modules/imports/copies` copies its tables. */
export function createBaseCopies(
  { meta, sources: homes }: Pick<Kernel, 'meta' | 'sources'>,
  store: BaseStore,
  access: AuthService['access'],
) {
  const { bases, sources } = store.tables

  return {
    /**
     * Inserts the rows of a new base with the same kind of home.
     * @param options `withSources` false: leaves out connected databases. `from`: metadata of a backup that has the
     *   original; absent: those of this server
     */
    async begin(
      owner: UserActor,
      original: BaseRow,
      {
        baseId,
        title,
        withSources,
        from,
      }: { baseId: string; title: string; withSources: boolean; from?: MetaReader },
    ): Promise<BaseDraft> {
      const now = nowIso()
      const times = { createdAt: now, updatedAt: now }
      const all = (await store.sourcesOf([original.id], from)).get(original.id) ?? []
      const copied = all.filter(({ isOwn }) => isOwn || withSources)
      const sourceIds = new Map(copied.map(({ id }) => [id, createId('source')]))
      const { description, meta: baseMeta } = original
      const row: BaseRow = {
        id: baseId,
        title,
        description,
        meta: baseMeta,
        order: await store.nextOrder(),
        createdBy: owner.id,
        ...times,
        deletedAt: BEING_MADE,
        deletedBy: null,
        historyDays: original.historyDays,
        trashDays: original.trashDays,
        historySince: null,
      }
      const sourceRow = (source: SourceRow): SourceRow => ({
        ...source,
        ...times,
        baseId,
        id: sourceIds.get(source.id) ?? '',
      })
      await meta.atomically([
        meta.db.insert(bases).values(row),
        ...copied.map((source) => meta.db.insert(sources).values(sourceRow(source))),
      ])
      return { baseId, sourceIds, ownSourceId: copied.find(({ isOwn }) => isOwn)?.id }
    },

    /** A base in the metadata of a backup; null if they have none with the id, or it is in their trash. */
    async findIn(from: MetaReader, baseId: string): Promise<{ base: BaseRow; sources: SourceRow[] } | null> {
      const [base] = await from.select().from(bases).where(eq(bases.id, baseId))
      if (!base || base.deletedAt !== null) return null
      return { base, sources: (await store.sourcesOf([baseId], from)).get(baseId) ?? [] }
    },

    /** Inserts the rows of a new base without an original, and creates its home. Returns the id of its own source. */
    async beginEmpty(
      owner: UserActor,
      { baseId, ...given }: Pick<BaseRow, 'title' | 'description' | 'meta'> & { baseId: string },
    ): Promise<{ sourceId: string }> {
      const now = nowIso()
      const times = { createdAt: now, updatedAt: now }
      const row: BaseRow = {
        id: baseId,
        ...given,
        order: await store.nextOrder(),
        createdBy: owner.id,
        ...times,
        deletedAt: BEING_MADE,
        deletedBy: owner.id,
        historyDays: null,
        historySince: null,
        trashDays: null,
      }
      const sourceId = createId('source')
      const own = { id: sourceId, baseId, client: homes.newHome, isOwn: true, order: 1 }
      await meta.atomically([
        meta.db.insert(bases).values(row),
        meta.db.insert(sources).values({ ...own, ...times }),
      ])
      await homes.create(baseId)
      return { sourceId }
    },

    /** Gives the owner access and completes the base, together with the caller's statements. */
    async finish(owner: UserActor, baseId: string, statements: MetaStatement[]): Promise<void> {
      await meta.atomically([
        ...statements,
        access.grant(baseId, owner.id, 'owner'),
        meta.db.update(bases).set({ deletedAt: null }).where(eq(bases.id, baseId)),
      ])
      access.gained(owner.id)
      store.changed(baseId)
    },

    /** Removes an unfinished copy. */
    async abandon(baseId: string): Promise<void> {
      await homes.remove(baseId)
      await meta.atomically([meta.db.delete(bases).where(eq(bases.id, baseId))])
      store.changed(baseId)
    },

    /** The first unused title: `Shop copy`, `Shop copy 2`. */
    async freeTitle(wanted: string): Promise<string> {
      for (let number = 1; ; number++) {
        const title = number === 1 ? wanted : `${wanted} ${number}`
        if ((await store.findByTitle(title)).length === 0) return title
      }
    },
  }
}
