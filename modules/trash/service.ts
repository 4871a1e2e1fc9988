import { type Actor, ANONYMOUS } from '../../src/core/actor.ts'
import { AppError, notFound } from '../../src/core/errors.ts'
import { linkOf } from '../../src/core/fields/link-options.ts'
import type { Base, Field, Person } from '../../src/core/model.ts'
import {
  PURGE_ORDER,
  RESTORE_ORDER,
  TRASH_KIND_NAMES,
  type TrashFailure,
  type TrashKind,
  type TrashPurged,
  type TrashRef,
  type TrashRestored,
} from '../../src/core/trash.ts'
import { entryAt } from '../../src/db/change-log/entries.ts'
import { finalizeViewDeletionsUntil } from '../../src/db/change-log/view-deletions.ts'
import type { Kernel } from '../../src/kernel.ts'
import { m } from '../../src/messages.gen.ts'
import type { AuthService } from '../auth/index.ts'
import { type BaseRow, type BasesService, trashDaysOf } from '../bases/index.ts'
import type { RecordsService } from '../records/index.ts'
import type { SchemaService } from '../schema/index.ts'
import type { ViewsService } from '../views/index.ts'
import { createDetachedFiles } from './detached-files.ts'
import { MAX_PAGE } from './input.ts'
import { concernsAll, createTrashList, type TrashListed, type TrashPage } from './list.ts'

const DAY_MS = 24 * 60 * 60 * 1000

export type TrashService = ReturnType<typeof createTrashService>

/** A base in the trash. */
export interface TrashedBase {
  base: Base
  deletedBy: string | null
  /** When it is deleted forever; null: never. */
  expiresAt: string | null
}

/** How long a base keeps deleted items. */
export interface TrashRetention {
  /** The choice of its owners, 0: as long as the change log; null: the server's default. */
  days: number | null
  /** The server's default. */
  defaultDays: number
  /** Days that apply, 0: forever. */
  keptDays: number
}

interface Deps {
  kernel: Kernel
  auth: AuthService
  bases: BasesService
  schema: SchemaService
  views: ViewsService
  records: RecordsService
}

/** An item that is restored or deleted by itself; the records of a table are so together. */
type SingleRef = Exclude<TrashRef, { kind: 'record' }>

/** Which items are deleted forever. */
type TrashFilter = Pick<TrashPage, 'kinds' | 'tableId' | 'deletedBy' | 'search' | 'timeZone'>

/** What came back. Its public links are closed, so that nothing becomes public again unnoticed. */
type Came = Pick<TrashRestored, 'renamed' | 'closedLinks'>

/** Deleted records, files, fields, views and tables of a base in one list, and deleted bases: restored or deleted forever. */
export function createTrashService({ kernel, auth, bases, schema, views, records }: Deps) {
  const { config, log, sources } = kernel
  const files = createDetachedFiles({ kernel, schema, records })
  const lists = createTrashList({ kernel, auth, bases, schema, records, files })

  /** @throws BASE_NOT_FOUND; PERMISSION_DENIED below editor */
  async function enter(actor: Actor, baseId: string): Promise<BaseRow> {
    const base = await bases.require(baseId)
    await auth.access.authorize(actor, 'record.restore', base.id)
    return base
  }

  /** @throws TABLE_NOT_FOUND unless the live table is in the base */
  async function requireTable(baseId: string, tableId: string): Promise<void> {
    const { table } = await schema.load(tableId)
    if (table.baseId !== baseId) throw notFound('Table', tableId)
  }

  /**
   * Restores or deletes a field, unless the other side of its link has taken it along.
   *
   * @param takenAlong the other sides of the links of this call so far
   * @returns the field as it was and the result of `run`; null if it has been taken along
   */
  async function runForField<T>(
    actor: Actor,
    baseId: string,
    fieldId: string,
    takenAlong: Set<string>,
    run: () => Promise<T>,
  ): Promise<{ field: Field; result: T } | null> {
    if (takenAlong.has(fieldId)) return null
    const field = (await schema.trashedFieldsOfBase(actor, baseId)).find(({ id }) => id === fieldId)
    if (!field) throw notFound('Field', fieldId)
    const result = await run()
    const otherSide = linkOf(field)?.inverseFieldId
    if (otherSide) takenAlong.add(otherSide)
    return { field, result }
  }

  async function requireTrashedTable(
    actor: Actor,
    baseId: string,
    tableId: string,
  ): Promise<{ title: string }> {
    const found = (await schema.trashedTablesOfBase(actor, baseId)).find(({ id }) => id === tableId)
    if (!found) throw notFound('Table', tableId)
    return found
  }

  async function restoreOne(
    actor: Actor,
    baseId: string,
    ref: SingleRef,
    takenAlong: Set<string>,
  ): Promise<Came> {
    switch (ref.kind) {
      case 'table': {
        const { title } = await requireTrashedTable(actor, baseId, ref.tableId)
        const { views: rows } = await views.rowsForCopy([ref.tableId], true)
        const viewIds = new Set(rows.map(({ id }) => id))
        const closedLinks = await auth.shares.suspend(actor, baseId, viewIds, title)
        const table = await schema.restoreTable(actor, ref.tableId)
        return { renamed: renamedTo(title, table.title), closedLinks }
      }
      case 'field': {
        const { fieldId } = ref
        const restore = () => schema.restoreField(actor, fieldId)
        const restored = await runForField(actor, baseId, fieldId, takenAlong, restore)
        const renamed = restored ? renamedTo(restored.field.title, restored.result.title) : []
        return { renamed, closedLinks: 0 }
      }
      case 'view': {
        const { changeId } = ref
        const { actions } = await records.deletedViews(actor, baseId, { before: changeId + 1, limit: 1 })
        const [deletion] = actions
        if (deletion?.id !== changeId || deletion.viewId === null) throw notFound('View', String(changeId))
        const { viewId, viewTitle } = deletion
        const title = viewTitle ?? ''
        const closedLinks = await auth.shares.suspend(actor, baseId, new Set([viewId]), title)
        await records.undo(actor, baseId, changeId)
        return { renamed: renamedTo(title, (await views.load(viewId)).title), closedLinks }
      }
      case 'file':
        await files.restore(actor, baseId, ref.fileId)
        return { renamed: [], closedLinks: 0 }
    }
  }

  async function purgeOne(
    actor: Actor,
    baseId: string,
    ref: SingleRef,
    takenAlong: Set<string>,
  ): Promise<void> {
    switch (ref.kind) {
      case 'table':
        await requireTrashedTable(actor, baseId, ref.tableId)
        records.attachments.sweepSoon(await schema.deleteTableForever(actor, ref.tableId))
        return
      case 'field': {
        const { fieldId } = ref
        await runForField(actor, baseId, fieldId, takenAlong, async () =>
          records.attachments.sweepSoon(await schema.deleteFieldForever(actor, fieldId)),
        )
        return
      }
      case 'view':
        return records.deleteViewForever(actor, baseId, ref.changeId)
      case 'file':
        await auth.access.authorize(actor, 'record.purge', baseId)
        return files.purge(baseId, ref.fileId)
    }
  }

  /** Deletes items forever, and adds the outcome to `result`. @returns as `forEachItem` */
  async function purgeItems(
    actor: Actor,
    baseId: string,
    refs: readonly TrashRef[],
    result: TrashPurged,
  ): Promise<AppError | null> {
    const takenAlong = new Set<string>()
    return forEachItem(refs, PURGE_ORDER, result.failed, async (some) => {
      const [first] = some
      if (first?.kind === 'record') {
        const { tableId } = first
        await requireTable(baseId, tableId)
        const recordIds = some.flatMap((ref) => (ref.kind === 'record' ? ref.recordId : []))
        result.deleted += (await records.trash.purge(actor, { tableId, recordIds })).deleted
        return
      }
      for (const ref of some) {
        if (ref.kind === 'record') continue
        await purgeOne(actor, baseId, ref, takenAlong)
        result.deleted++
      }
    })
  }

  /** Deletes all records in the trash of a table forever. @returns their number; 0 if others were faster */
  async function purgeAllRecords(actor: Actor, tableId: string): Promise<number> {
    try {
      return (await records.trash.purge(actor, { tableId, all: true })).deleted
    } catch (error) {
      // The last of them, or the table itself, was restored or deleted meanwhile.
      const isGone = error instanceof AppError && ['RECORD_NOT_FOUND', 'TABLE_NOT_FOUND'].includes(error.code)
      if (!isGone) throw error
      return 0
    }
  }

  /**
   * Deletes everything in the trash of a base forever, or those items that match. Those of connected databases stay. Items
   * that cannot be deleted are reported.
   *
   * @throws BASE_NOT_FOUND; PERMISSION_DENIED below creator
   */
  async function empty(actor: Actor, baseId: string, filter: TrashFilter): Promise<TrashPurged> {
    await enter(actor, baseId)
    await auth.access.authorize(actor, 'record.purge', baseId)
    const result: TrashPurged = { deleted: 0, failed: [] }
    const { kinds, tableId, deletedBy, search } = filter
    const isOfRecords = kinds === undefined || kinds.includes('record')
    if (isOfRecords && deletedBy === undefined && search === undefined) {
      for (const { tableId: id } of await records.trash.counts(actor, baseId)) {
        if (tableId !== undefined && id !== tableId) continue
        result.deleted += await purgeAllRecords(actor, id)
      }
    }
    let cursor: string | null = null
    do {
      const page: TrashListed = await lists.ofBase(actor, baseId, { ...filter, cursor, limit: MAX_PAGE })
      const refs = page.items.flatMap(({ ref, canPurge }) => (canPurge && ref.kind !== 'base' ? ref : []))
      await purgeItems(actor, baseId, refs, result)
      cursor = page.next
    } while (cursor !== null)
    return result
  }

  return {
    list: lists.ofBase,
    listAll: lists.ofAll,

    /** Everyone with a role in one of the bases in which the actor may restore something. */
    async people(actor: Actor): Promise<Person[]> {
      await auth.access.authorize(actor, 'base.list')
      return auth.peopleIn((await lists.scopesOf(actor)).map(({ row }) => row.id))
    },

    /**
     * Restores items, tables first. Public links of what comes back stay closed. Items that cannot be restored are reported,
     * and the others restored; a single one that cannot throws.
     *
     * @throws BASE_NOT_FOUND; PERMISSION_DENIED below editor
     */
    async restore(actor: Actor, baseId: string, refs: readonly TrashRef[]): Promise<TrashRestored> {
      await enter(actor, baseId)
      const result: TrashRestored = {
        restored: 0,
        renamed: [],
        closedLinks: 0,
        failed: [],
        changeId: null,
      }
      const takenAlong = new Set<string>()
      const error = await forEachItem(refs, RESTORE_ORDER, result.failed, async (some) => {
        const [first] = some
        if (first?.kind === 'record') {
          const { tableId } = first
          await requireTable(baseId, tableId)
          const recordIds = some.flatMap((ref) => (ref.kind === 'record' ? ref.recordId : []))
          const { restored, changeId } = await records.trash.restore(actor, { tableId, recordIds })
          result.restored += restored
          // One change, unless there are more items.
          if (some.length === refs.length) result.changeId = changeId
          return
        }
        for (const ref of some) {
          if (ref.kind === 'record') continue
          const { renamed, closedLinks } = await restoreOne(actor, baseId, ref, takenAlong)
          result.restored++
          result.renamed.push(...renamed)
          result.closedLinks += closedLinks
        }
      })
      if (error !== null) throw error
      return result
    },

    /**
     * Deletes items forever. Items that cannot be deleted are reported, and the others deleted; a single one that cannot
     * throws.
     *
     * @throws BASE_NOT_FOUND; PERMISSION_DENIED below creator
     */
    async purge(actor: Actor, baseId: string, refs: readonly TrashRef[]): Promise<TrashPurged> {
      await enter(actor, baseId)
      await auth.access.authorize(actor, 'record.purge', baseId)
      const result: TrashPurged = { deleted: 0, failed: [] }
      const error = await purgeItems(actor, baseId, refs, result)
      if (error !== null) throw error
      return result
    },

    empty,

    /**
     * Deletes everything forever that the actor may in the trash of all bases, or those items that match, with deleted bases; a part
     * of it per call: the bases with items on the next page of the list. What cannot be deleted is reported.
     *
     * @returns `next`: the `cursor` of the next part; null after the last
     */
    async emptyAll(
      actor: Actor,
      { cursor, ...filter }: TrashFilter & { cursor?: string | null },
    ): Promise<{ deleted: number; failed: string[]; next: string | null }> {
      const page = await lists.ofAll(actor, { ...filter, cursor, limit: MAX_PAGE }, 'purge')
      const purgeable = page.items.filter(({ canPurge }) => canPurge)
      const kinds = filter.kinds?.filter((kind) => kind !== 'base') ?? [...TRASH_KIND_NAMES]
      const result = {
        deleted: 0,
        failed: page.unreadable.map(({ title }) => m.trash_error_unreadable({ title })),
      }
      /** A base that cannot be emptied must not keep those after it from being so. */
      const attempt = async (work: () => Promise<void>): Promise<void> => {
        try {
          await work()
        } catch (error) {
          if (!(error instanceof AppError) || concernsAll(error)) throw error
          result.failed.push(error.message)
        }
      }
      const live = purgeable.filter(({ ref }) => ref.kind !== 'base')
      for (const baseId of new Set(live.map(({ base }) => base.id)))
        await attempt(async () => {
          const { deleted, failed } = await empty(actor, baseId, { ...filter, kinds })
          result.deleted += deleted
          result.failed.push(...failed.map(({ message }) => message))
        })
      for (const { base, ref } of purgeable) {
        if (ref.kind !== 'base') continue
        await attempt(async () => {
          if (await removeBase(await bases.openToPurge(actor, base.id), actor)) result.deleted++
        })
      }
      return { ...result, next: page.next }
    },

    /** How long a base keeps deleted items. @throws BASE_NOT_FOUND; PERMISSION_DENIED below editor */
    async retention(actor: Actor, baseId: string): Promise<TrashRetention> {
      const base = await enter(actor, baseId)
      return { days: base.trashDays, defaultDays: config.trashDays, keptDays: trashDaysOf(base, config) }
    },

    /**
     * Sets the days that deleted items are kept, 0: as long as the change log; null: the server's default. Takes effect at
     * the next cleanup.
     *
     * @throws BASE_NOT_FOUND; PERMISSION_DENIED below owner
     */
    async setRetention(actor: Actor, baseId: string, days: number | null): Promise<void> {
      const base = await bases.require(baseId)
      await auth.access.authorize(actor, 'base.storage', base.id)
      await bases.saveHistory(base.id, { trashDays: days })
    },

    /** The deleted bases that the actor may restore, latest first, with the people who deleted them. */
    async bases(actor: Actor): Promise<{ bases: TrashedBase[]; people: Person[] }> {
      const deleted = await bases.listDeleted(actor)
      const ids = deleted.flatMap(({ deletedBy }) => deletedBy ?? [])
      return {
        bases: deleted.map(({ base, deletedBy }) => ({
          base,
          deletedBy,
          expiresAt:
            base.keepsDays === 0 || base.deletedAt === null
              ? null
              : new Date(Date.parse(base.deletedAt) + base.keepsDays * DAY_MS).toISOString(),
        })),
        people: await auth.people([...new Set(ids)]),
      }
    },

    /**
     * Takes a base out of the trash, with its members. Its public links stay closed.
     *
     * @throws BASE_NOT_FOUND if it is not in the trash; PERMISSION_DENIED below owner
     */
    async restoreBase(actor: Actor, baseId: string): Promise<Came & { base: Base }> {
      const { title } = await bases.openToRestore(actor, baseId)
      const targets = (await auth.shares.ofBase(baseId)).map(({ targetId }) => targetId)
      const closedLinks = await auth.shares.suspend(actor, baseId, new Set(targets), title)
      const base = await bases.restore(actor, baseId)
      return { base, renamed: renamedTo(title, base.title), closedLinks }
    },

    /**
     * Deletes a trashed base forever, with its records, history, links and files that no other base uses.
     *
     * @throws BASE_NOT_FOUND if it is not in the trash; PERMISSION_DENIED below owner
     */
    async purgeBase(actor: Actor, baseId: string): Promise<void> {
      await removeBase(await bases.openToPurge(actor, baseId), actor)
    },

    removeBase,

    /**
     * Deletes the records, views and files of a base forever that were deleted before a time, in portions. Tables and fields
     * follow with `schema.purge`. Does not check access.
     *
     * @param before ISO 8601
     */
    async purgeOld(baseId: string, before: string): Promise<void> {
      const engine = await sources.engine(baseId)
      const until = await entryAt(engine, before)
      const gone = {
        records: until === 0 ? 0 : await records.trash.purgeUntil(baseId, until),
        views: until === 0 ? 0 : await finalizeViewDeletionsUntil(engine, until),
        files: await files.forgetOld(baseId, before),
      }
      if (Object.values(gone).some((count) => count > 0))
        log.info('old items of the trash removed', { baseId, ...gone, before })
    },

    /** Follows the change logs. Call it once the feed runs. */
    start: files.start,
  }

  /** False if the base is not in the trash any more. Does not check access. */
  async function removeBase(
    base: Pick<BaseRow, 'id' | 'title' | 'deletedAt'>,
    by: Actor = ANONYMOUS,
  ): Promise<boolean> {
    const forgotten = async () => [
      ...(await schema.forRemovedBase(base.id)),
      // Without the base, with which its own audits go.
      ...auth.audits.record(by, { kind: 'base.purge', detail: { name: base.title, target: base.id } }),
    ]
    if (!(await bases.removeForGood(base, forgotten))) return false
    log.info('a base of the trash removed', { baseId: base.id })
    await records.attachments.forgetBase(base.id)
    return true
  }
}

/**
 * Runs a step for each item in the order of the kinds, for the records of a table together. Expected errors are added to
 * `failed`.
 *
 * @returns the error of the only step, which callers with a single item throw; null if there were several
 */
async function forEachItem(
  refs: readonly TrashRef[],
  order: readonly TrashKind[],
  failed: TrashFailure[],
  run: (refs: readonly TrashRef[]) => Promise<void>,
): Promise<AppError | null> {
  const steps = Map.groupBy(refs, (ref) => (ref.kind === 'record' ? ref.tableId : ref))
  const sorted = [...steps.values()].sort((a, b) => order.indexOf(a[0]!.kind) - order.indexOf(b[0]!.kind))
  for (const step of sorted) {
    try {
      await run(step)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      for (const ref of step) failed.push({ ref, message: error.message })
      if (sorted.length === 1) return error
    }
  }
  return null
}

const renamedTo = (from: string, to: string): TrashRestored['renamed'] => (from === to ? [] : [{ from, to }])
