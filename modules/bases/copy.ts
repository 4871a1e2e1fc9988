import { eq } from 'drizzle-orm'
import type { UserActor } from '../../src/core/actor.ts'
import { createId } from '../../src/core/ids.ts'
import type { MetaStatement } from '../../src/db/meta.ts'
import type { Kernel } from '../../src/kernel.ts'
import type { AuthService } from '../auth/index.ts'
import type { BaseRow, BaseStore, SourceRow } from './store.ts'

/** A base that is being made from another one. Until it is complete nobody but super admins sees it, in the trash. */
export interface BaseDraft {
  baseId: string
  /** The new source of each one of the original. */
  sourceIds: ReadonlyMap<string, string>
  /** The source whose tables lie in the original's own home. */
  ownSourceId: string | undefined
}

/** What a copy of a base begins and ends with; its tables are for `modules/imports/copies`. */
export function createBaseCopies(
  { meta, sources: homes }: Pick<Kernel, 'meta' | 'sources'>,
  store: BaseStore,
  access: AuthService['access'],
) {
  const { bases, sources } = store.tables

  return {
    /**
     * Writes the rows of a new base whose home is of the same kind as the original's.
     *
     * @param withSources false: without the databases that it is connected to
     */
    async begin(
      owner: UserActor,
      original: BaseRow,
      { baseId, title, withSources }: { baseId: string; title: string; withSources: boolean },
    ): Promise<BaseDraft> {
      const now = new Date().toISOString()
      const times = { createdAt: now, updatedAt: now }
      const theirs = (await store.sourcesOf([original.id])).get(original.id) ?? []
      const copied = theirs.filter(({ isOwn }) => isOwn || withSources)
      const sourceIds = new Map(copied.map(({ id }) => [id, createId('source')]))
      const { description, meta: look } = original
      const row: BaseRow = {
        id: baseId,
        title,
        description,
        meta: look,
        order: await store.lastPlace(),
        createdBy: owner.id,
        ...times,
        deletedAt: now,
        historyDays: original.historyDays,
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

    /** Shows the base to its owner, with all that the statements write of it. */
    async finish(owner: UserActor, baseId: string, statements: MetaStatement[]): Promise<void> {
      await meta.atomically([
        ...statements,
        access.grant(baseId, owner.id, 'owner'),
        meta.db.update(bases).set({ deletedAt: null }).where(eq(bases.id, baseId)),
      ])
      access.gained(owner.id)
      store.changed(baseId)
    },

    /** Removes what was made of it. */
    async abandon(baseId: string): Promise<void> {
      await homes.remove(baseId)
      await meta.atomically([meta.db.delete(bases).where(eq(bases.id, baseId))])
      store.changed(baseId)
    },

    /** A title that none of the bases has: `Shop copy`, `Shop copy 2`. */
    async freeTitle(wanted: string): Promise<string> {
      for (let number = 1; ; number++) {
        const title = number === 1 ? wanted : `${wanted} ${number}`
        if ((await store.findByTitle(title)).length === 0) return title
      }
    },
  }
}
