import { and, eq } from 'drizzle-orm'
import type { Actor } from '../../src/core/actor.ts'
import { AppError, badRequest, notFound } from '../../src/core/errors.ts'
import type { BaseRight } from '../../src/core/roles.ts'
import type { Kernel } from '../../src/kernel.ts'
import type { Access } from '../auth/index.ts'
import type { BaseStore, SourceRow } from './store.ts'

/** The databases that a base reads. Today each has one, its own. */
export function createSourcesService({ meta }: Pick<Kernel, 'meta'>, store: BaseStore, access: Access) {
  const { sources } = store.tables

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

  return {
    list: (actor: Actor, baseId: string): Promise<SourceRow[]> => enter(actor, 'source.list', baseId),
    get: (actor: Actor, baseId: string, sourceId: string): Promise<SourceRow> =>
      open(actor, 'source.list', baseId, sourceId),

    /** @throws NOT_IMPLEMENTED always: a base has its own database only */
    async create(actor: Actor, baseId: string): Promise<never> {
      await enter(actor, 'source.create', baseId)
      throw notImplemented('Connecting a base to another database')
    },

    /** A source that the actor may change. */
    openForUpdate: (actor: Actor, baseId: string, sourceId: string): Promise<SourceRow> =>
      open(actor, 'source.update', baseId, sourceId),

    /** Gives a source another name; null takes it away. */
    async rename(actor: Actor, baseId: string, sourceId: string, alias: string | null): Promise<SourceRow> {
      const source = await open(actor, 'source.update', baseId, sourceId)
      const [row] = await meta.db
        .update(sources)
        .set({ alias, updatedAt: new Date().toISOString() })
        .where(and(eq(sources.id, source.id), eq(sources.baseId, source.baseId)))
        .returning()
      if (!row) throw notFound('Source', sourceId)
      return row
    },

    /** @throws BAD_REQUEST always: what a base keeps its own tables in goes with the base */
    async delete(actor: Actor, baseId: string, sourceId: string): Promise<never> {
      await open(actor, 'source.delete', baseId, sourceId)
      throw badRequest('Error: Cannot delete first base')
    },
  }
}

/** The refusal of what does not exist here yet. */
export const notImplemented = (what: string): AppError =>
  new AppError('NOT_IMPLEMENTED', `${what} is not implemented`)
