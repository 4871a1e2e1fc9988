import { and, eq, isNotNull, isNull, sql } from 'drizzle-orm'
import { nowIso } from '../../src/clock.ts'
import type { Config } from '../../src/config.ts'
import { type Actor, actorIdOf, type UserActor } from '../../src/core/actor.ts'
import { badRequest, notFound } from '../../src/core/errors.ts'
import { createId } from '../../src/core/ids.ts'
import type { Base } from '../../src/core/model.ts'
import { type BaseRight, type BaseRole, holdsBaseRole } from '../../src/core/roles.ts'
import type { MetaStatement } from '../../src/db/meta.ts'
import type { Kernel } from '../../src/kernel.ts'
import { m } from '../../src/messages.gen.ts'
import { type AuthService, capped, isSuperAdmin } from '../auth/index.ts'
import { createBaseCopies } from './copy.ts'
import { createMembers } from './members.ts'
import { createSourcesService } from './sources/service.ts'
import { type BaseRow, BEING_REMOVED, createBaseStore, type ListedBase, type PreferenceRow } from './store.ts'
import type { BaseMeta } from './tables.ts'

/** Days that a base keeps deleted items, at most as long as its change log; 0: forever. */
export function trashDaysOf(
  row: Pick<BaseRow, 'trashDays' | 'historyDays'>,
  config: Pick<Config, 'trashDays' | 'historyDays'>,
): number {
  const trash = row.trashDays ?? config.trashDays
  const history = row.historyDays ?? config.historyDays
  return trash === 0 || history === 0 ? trash || history : Math.min(trash, history)
}

interface BasePatch {
  title?: string
  description?: string | null
  meta?: BaseMeta
  order?: number
}

/** A base in the trash, and who moved it there; null if unknown. */
export interface DeletedBase {
  base: Base
  deletedBy: string | null
}

export type BasesService = ReturnType<typeof createBasesService>

/** Bases, their members and sources. */
export function createBasesService(kernel: Kernel, { access, audits, users }: AuthService) {
  const { meta, events } = kernel
  const store = createBaseStore(kernel)
  const { bases, sources, basePreferences } = store.tables
  const members = createMembers(kernel, store, access, users, audits)
  const copies = createBaseCopies(kernel, store, access)
  const sourcesService = createSourcesService(kernel, store, access)

  /**
   * The base, if the actor holds the right in it.
   * @throws BASE_NOT_FOUND first, then as `access.authorize`
   */
  async function enter(actor: Actor, right: BaseRight, baseId: string): Promise<BaseRow> {
    const base = await store.require(baseId)
    await access.authorize(actor, right, baseId)
    return base
  }

  async function asBase(actor: Actor, row: BaseRow): Promise<Base> {
    const preference = actor.kind === 'user' ? await store.preference(row.id, actor.id) : null
    const role = await access.baseRole(actor, row.id)
    return toBase(row, preference, role ?? 'no-access')
  }

  /** The bases that the actor may open, in their own order, with their role in each. */
  async function visible(actor: UserActor, trash = false): Promise<(ListedBase & { role: BaseRole })[]> {
    const isSuper = isSuperAdmin(actor)
    const { bases: own, workspace } = await access.memberships(actor.id)
    const among = isSuper || workspace ? null : [...own.keys()]
    return (await store.arranged(actor.id, trash, among)).flatMap((listed) => {
      const role = capped(actor, isSuper ? 'owner' : (own.get(listed.base.id) ?? workspace))
      return holdsBaseRole(role, trash ? 'owner' : 'viewer') && role ? [{ ...listed, role }] : []
    })
  }

  async function save(baseId: string, patch: Partial<BaseRow>): Promise<BaseRow> {
    const change = { ...patch, updatedAt: nowIso() }
    const [row] = await meta.db.update(bases).set(change).where(eq(bases.id, baseId)).returning()
    store.changed(baseId)
    if (!row) throw notFound('Base', baseId)
    return row
  }

  return {
    homeOf: store.homeOf,
    /** Stores how long the base keeps its history and trash, and since when. Does not check access. */
    saveHistory: (
      baseId: string,
      patch: Pick<Partial<BaseRow>, 'historyDays' | 'historySince' | 'trashDays'>,
    ) => save(baseId, patch),
    /** Every base outside the trash. Does not check access. */
    all: async (): Promise<BaseRow[]> => meta.db.select().from(bases).where(isNull(bases.deletedAt)),
    /** Every base in the trash, including unfinished removals. Does not check access. */
    trashed: async (): Promise<BaseRow[]> => meta.db.select().from(bases).where(isNotNull(bases.deletedAt)),
    /** A base in the trash that the actor may restore. @throws BASE_NOT_FOUND, PERMISSION_DENIED */
    async openToRestore(actor: Actor, baseId: string): Promise<BaseRow> {
      const row = await store.requireTrashed(baseId)
      await access.authorize(actor, 'base.restore', baseId)
      return row
    },
    /** A base in the trash that the actor may delete forever. @throws BASE_NOT_FOUND, PERMISSION_DENIED */
    async openToPurge(actor: Actor, baseId: string): Promise<BaseRow> {
      const row = await store.requireTrashed(baseId)
      await access.authorize(actor, 'base.purge', baseId)
      return row
    },
    /**
     * Removes a trashed base forever: its home, then its metadata. If interrupted, the base is listed nowhere
     * but in `trashed`. False if it is not in the trash any more, or was deleted again. Does not check access.
     *
     * @param deletedAt as in its row
     */
    async removeForGood(
      { id: baseId, deletedAt }: Pick<BaseRow, 'id' | 'deletedAt'>,
      forgotten: () => Promise<MetaStatement[]>,
    ): Promise<boolean> {
      if (deletedAt === null) return false
      const [taken] = await meta.db
        .update(bases)
        .set({ deletedAt: BEING_REMOVED })
        .where(and(eq(bases.id, baseId), eq(bases.deletedAt, deletedAt)))
        .returning()
      if (!taken) return false
      const sources = (await store.sourcesOf([baseId])).get(baseId) ?? []
      for (const { id, isOwn } of sources) if (!isOwn) await kernel.sources.drop(id)
      await kernel.sources.remove(baseId)
      await meta.atomically([
        ...(await forgotten()),
        ...access.forRemovedBase(baseId),
        ...kernel.removals.flatMap((forget) => forget(baseId)),
        meta.db.delete(bases).where(eq(bases.id, baseId)),
      ])
      store.changed(baseId)
      return true
    },
    owned: store,
    named: store.named,
    require: store.require,
    enter,
    members,
    copies,
    sources: sourcesService,
    sourcesOf: store.sourcesOf,
    homesOf: store.homesOf,
    visible,

    /**
     * Finds a base by id, else by title. Among several of that title, prefers one that the actor may open.
     * @throws BASE_NOT_FOUND
     */
    async resolve(idOrTitle: string, actor?: Actor): Promise<BaseRow> {
      const known = await store.find(idOrTitle)
      if (known) return known
      const titled = await store.findByTitle(idOrTitle)
      const [only] = titled
      if (!only) throw notFound('Base', idOrTitle.slice(0, 64))
      if (titled.length === 1 || !actor) return only
      for (const row of titled) {
        if (holdsBaseRole(await access.baseRole(actor, row.id), 'viewer')) return row
      }
      return only
    },

    /** The actor's bases in their order; with `trash`, the deleted ones that they may restore. */
    async list(actor: Actor, { trash = false }: { trash?: boolean } = {}): Promise<Base[]> {
      await access.authorize(actor, 'base.list')
      if (actor.kind !== 'user') return []
      return (await visible(actor, trash)).map(({ base, preference, role }) => toBase(base, preference, role))
    },

    async get(actor: Actor, baseId: string): Promise<Base> {
      return asBase(actor, await enter(actor, 'base.read', baseId))
    },

    /** Creates a base with its own database, owned by the actor. */
    async create(
      actor: Actor,
      input: { title: string; description?: string | null; meta?: BaseMeta },
    ): Promise<Base> {
      await access.authorize(actor, 'base.create')
      if (actor.kind !== 'user') throw new Error('Only users are authorized to create bases')
      const createdAt = nowIso()
      const times = { createdAt, updatedAt: createdAt }
      const row: BaseRow = {
        id: createId('base'),
        title: input.title,
        description: input.description ?? null,
        meta: input.meta ?? {},
        order: await store.nextOrder(),
        createdBy: actor.id,
        ...times,
        deletedAt: null,
        deletedBy: null,
        historyDays: null,
        trashDays: null,
        historySince: null,
      }
      const own = {
        id: createId('source'),
        baseId: row.id,
        client: kernel.sources.newHome,
        isOwn: true,
        order: 1,
      }
      // The home first: a base in the metadata without one would be reported as lost data.
      await kernel.sources.create(row.id)
      try {
        await meta.atomically([
          meta.db.insert(bases).values(row),
          meta.db.insert(sources).values({ ...own, ...times }),
          access.grant(row.id, actor.id, 'owner'),
          ...audits.record(actor, { baseId: row.id, kind: 'base.create', detail: { name: row.title } }),
        ])
      } catch (error) {
        await kernel.sources.abandon(row.id)
        throw error
      }
      access.gained(actor.id)
      return toBase(row, null, 'owner')
    },

    /** @throws BAD_REQUEST for a new title that is in use */
    async update(actor: Actor, baseId: string, patch: BasePatch): Promise<Base> {
      const base = await enter(actor, 'base.update', baseId)
      const { title } = patch
      const isTitled = title !== undefined && title !== base.title
      if (isTitled && (await store.findByTitle(title, baseId)).length > 0) {
        throw badRequest(m.wire_error_base_title())
      }
      const set = { ...patch, updatedAt: nowIso() }
      await meta.atomically([
        meta.db.update(bases).set(set).where(eq(bases.id, baseId)),
        ...(isTitled ? audits.record(actor, { baseId, kind: 'base.update', detail: { name: title } }) : []),
      ])
      store.changed(baseId)
      if (isTitled) audits.added(baseId)
      return asBase(actor, await store.require(baseId))
    },

    /** Moves a base in the actor's list: before `before`, or to the end (null). */
    async reorder(
      actor: Actor,
      { baseId, before }: { baseId: string; before: string | null },
    ): Promise<void> {
      await enter(actor, 'base.reorder', baseId)
      if (actor.kind !== 'user' || before === baseId) return
      const order = (await visible(actor)).map(({ base }) => base.id).filter((id) => id !== baseId)
      const position = before === null ? order.length : order.indexOf(before)
      if (before !== null && position < 0) throw notFound('Base', before)
      order.splice(position, 0, baseId)
      // All get an order: bases without one come last.
      await meta.atomically(order.map((id, index) => setPreference(actor.id, id, { order: index + 1 })))
    },

    /** Sets a base's flags and place in the actor's list; absent keys stay. */
    async prefer(
      actor: Actor,
      baseId: string,
      preference: { starred?: boolean | null; hidden?: boolean | null; order?: number | null },
    ): Promise<void> {
      await enter(actor, 'base.reorder', baseId)
      const { starred, hidden, order } = preference
      const isEmpty = [starred, hidden, order].every((value) => value === undefined)
      if (actor.kind !== 'user' || isEmpty) return
      await meta.atomically([setPreference(actor.id, baseId, { starred, hidden, order })])
    },

    /** Moves a base to the trash; its records stay as they are. */
    async delete(actor: Actor, baseId: string): Promise<void> {
      await enter(actor, 'base.delete', baseId)
      const deletedAt = nowIso()
      await meta.atomically([
        meta.db
          .update(bases)
          .set({ deletedAt, deletedBy: actorIdOf(actor) })
          .where(and(eq(bases.id, baseId), isNull(bases.deletedAt))),
        ...audits.record(
          actor,
          { baseId, kind: 'base.delete', detail: {} },
          sql`exists (select 1 from ${bases} where ${bases.id} = ${baseId} and ${bases.deletedAt} = ${deletedAt})`,
        ),
      ])
      store.changed(baseId)
      events.emit('base.deleted', { baseId })
    },

    /** The deleted bases that the actor may restore, with the users who deleted them, latest first. */
    async listDeleted(actor: Actor): Promise<DeletedBase[]> {
      await access.authorize(actor, 'base.list')
      if (actor.kind !== 'user') return []
      return (await visible(actor, true))
        .map(({ base, preference, role }) => ({
          base: toBase(base, preference, role),
          deletedBy: base.deletedBy,
        }))
        .sort((a, b) => (b.base.deletedAt ?? '').localeCompare(a.base.deletedAt ?? ''))
    },

    /**
     * Takes a base out of the trash, with its members. Its title gets a suffix (`Title_1`) if it is in use by now.
     *
     * @throws BASE_NOT_FOUND if it is not in the trash, or is being deleted forever by now
     */
    async restore(actor: Actor, baseId: string): Promise<Base> {
      const { title: former } = await store.requireTrashed(baseId)
      await access.authorize(actor, 'base.restore', baseId)
      let title = former
      for (let number = 1; (await store.findByTitle(title, baseId)).length > 0; number++) {
        title = `${former}_${number}`
      }
      const updatedAt = nowIso()
      await meta.atomically([
        meta.db
          .update(bases)
          .set({ title, deletedAt: null, deletedBy: null, updatedAt })
          .where(and(eq(bases.id, baseId), store.isTrashed)),
        ...audits.record(
          actor,
          { baseId, kind: 'base.restore', detail: {} },
          sql`exists (select 1 from ${bases} where ${bases.id} = ${baseId} and ${bases.deletedAt} is null
            and ${bases.updatedAt} = ${updatedAt})`,
        ),
      ])
      store.changed(baseId)
      audits.added(baseId)
      return asBase(actor, await store.require(baseId))
    },
  }

  function setPreference(userId: string, baseId: string, set: Partial<PreferenceRow>) {
    return meta.db
      .insert(basePreferences)
      .values({ userId, baseId, ...set })
      .onConflictDoUpdate({ target: [basePreferences.userId, basePreferences.baseId], set })
  }

  function toBase(row: BaseRow, preference: PreferenceRow | null, role: BaseRole): Base {
    const { id, title, description, createdAt, updatedAt, deletedAt } = row
    return {
      id,
      title,
      description,
      meta: row.meta,
      role,
      createdAt,
      updatedAt,
      deletedAt,
      order: preference?.order ?? row.order,
      keepsDays: trashDaysOf(row, kernel.config),
    }
  }
}
