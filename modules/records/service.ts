import { sql } from 'drizzle-orm'
import type { Actor, ShareActor } from '../../src/core/actor.ts'
import type { Operation, Values } from '../../src/core/changes.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { isForeignKey } from '../../src/core/fields/traits.ts'
import type { Person, RecordId } from '../../src/core/model.ts'
import type { GroupPage, GroupRequest, Selection } from '../../src/core/query.ts'
import type { Right } from '../../src/core/roles.ts'
import type { Statement } from '../../src/dialects/dialect.ts'
import type { Kernel } from '../../src/kernel.ts'
import { type AuthService, asPublicPerson } from '../auth/index.ts'
import type { BasesService } from '../bases/index.ts'
import type { FieldExpressions, SchemaReader, TableModel } from '../schema/index.ts'
import type { ViewsService } from '../views/index.ts'
import { createAttachments } from './attachments/index.ts'
import { createExports } from './export/index.ts'
import { createTrash, createUndo, type HistoryEntry, readHistory } from './history/index.ts'
import { createLinkReads, type DeletionEffect, deletionEffects, openLink } from './links/index.ts'
import {
  createBaseContents,
  createFindByName,
  createFormerPeople,
  createFormulaPreview,
  createReader,
  createRowCounts,
  createVisitorReads,
  fragmentsOf,
  listGroups,
  type Opened,
  select,
  summarize,
} from './read/index.ts'
import { removeLostPlaces } from './rows/index.ts'
import { checkValues, isForeign, isLink, keyOf, storedId } from './table/index.ts'
import {
  createDoor,
  createFormDoor,
  createSettleValues,
  createSetWrites,
  type SetApplied,
  type Where,
} from './write/index.ts'

export type RecordsService = ReturnType<typeof createRecordsService>

/** Records: the read door, the write door, and what reads the log behind it. */
export function createRecordsService(
  kernel: Kernel,
  auth: AuthService,
  bases: Pick<BasesService, 'require' | 'sourcesOf'>,
  schema: SchemaReader,
  views: ViewsService,
) {
  const counts = createRowCounts(kernel.meta.isShared)
  const reader = createReader({ auth, schema, views, counts })
  const attachments = createAttachments({ kernel, auth, bases, schema, views })
  const exports = createExports({ kernel, auth, reader, attachments })
  const settle = createSettleValues({ auth, schema })
  const sets = createSetWrites({ kernel, schema, counts })
  const door = createDoor({ kernel, auth, schema, counts, attachments, settle, sets, views })
  const links = createLinkReads(reader, schema)
  const visitors = createVisitorReads({ reader, auth, views })
  const expressions: FieldExpressions = {
    cell: (field, over) =>
      fragmentsOf({ ...over, moment: { now: new Date(), people: [] } }).of(field, 'cell'),
  }
  const undo = createUndo({ kernel, auth, schema, views, bases, reader, door, sets })
  const trash = createTrash({ kernel, auth, schema, door, sets, undo: undo.undo, attachments })
  // Imports write through worker threads, and report here what they have done.
  kernel.events.on('records.changed', ({ truncated, tableIds }) => {
    if (truncated) for (const tableId of tableIds) counts.forget(tableId)
  })

  const openFor = (actor: Actor, { tableId, viewId, timeZone }: Selection): Promise<Opened> =>
    reader.open(actor, tableId, viewId, timeZone)

  /** Summaries of columns over all records of a selection. @throws BAD_REQUEST for one that a field has not */
  async function summaries(
    actor: Actor,
    selection: Selection,
    wanted: { fieldId: string; summary: string }[],
  ): Promise<Record<string, CellValue>> {
    const { engine, context } = await openFor(actor, selection)
    return summarize(engine, context, selection, wanted)
  }

  /** How many records share their values, level by level, with summaries of each group. */
  async function groups(actor: Actor, request: GroupRequest): Promise<GroupPage> {
    return listGroups(await openFor(actor, request.selection), request)
  }

  /**
   * Stops a long write of a base; all of it is rolled back. One that has ended, or commits already, stays as it is. Of
   * another person it takes the right to undo what others did.
   *
   * @throws PERMISSION_DENIED
   */
  async function cancelWork(actor: Actor, baseId: string, workId: string): Promise<void> {
    await auth.access.authorize(actor, 'record.undo', baseId)
    const work = kernel.works.find(workId)
    if (work?.baseId !== baseId) return
    const isOwn = actor.kind === 'user' && actor.id === work.actorId
    if (!isOwn) await auth.access.authorize(actor, 'record.undo-others', baseId)
    kernel.works.stop(workId)
  }

  /** Deletes every record of a selection, as one action that undo takes back. */
  async function deleteMatching(actor: Actor, selection: Selection): Promise<SetApplied> {
    const { where, model } = await openForSet(actor, 'record.delete', selection)
    if (isForeign(model)) {
      const { table } = model
      return kernel.works.follow(actor, { kind: 'delete', baseId: table.baseId, table }, async () => {
        const ids = await matchingIds(actor, selection)
        return applyOneByOne(actor, model, { kind: 'delete', tableId: table.id, ids }, ids.length)
      })
    }
    return sets.deleteWhere(actor, selection.tableId, where, { kind: 'records.delete' })
  }

  /** Gives every record of a selection the same values, as one action. @throws as the write door */
  async function updateMatching(actor: Actor, selection: Selection, values: Values): Promise<SetApplied> {
    const { where, model: current } = await openForSet(actor, 'record.update', selection)
    const isOneByOne = isForeign(current) || actor.kind !== 'user'
    if (isOneByOne || (await isLinking(selection.tableId, values))) {
      return linkMatching(actor, selection, values)
    }
    const model = await schema.load(selection.tableId)
    const files = await attachments.settle.values(actor, model, values)
    const settled = await settle.values(actor, model, files)
    const checked = (current: TableModel) => checkValues(current, settled)
    return sets.updateWhere(actor, selection.tableId, where, checked, { kind: 'records.update' })
  }

  /** True where values are more than values of their own record: links, or keys that links are kept in. */
  async function isLinking(tableId: string, values: Values): Promise<boolean> {
    const { fields } = await schema.load(tableId)
    return fields.some((field) => field.id in values && (isLink(field) || isForeignKey(field)))
  }

  /** As `updateMatching`, record by record: both sides of each link have to hold. */
  async function linkMatching(actor: Actor, selection: Selection, values: Values): Promise<SetApplied> {
    const { tableId } = selection
    const model = await schema.load(tableId)
    const { table } = model
    return kernel.works.follow(actor, { kind: 'update', baseId: table.baseId, table }, async () => {
      const ids = await matchingIds(actor, selection)
      const rows = ids.map((id) => ({ id, values }))
      return applyOneByOne(actor, model, { kind: 'update', tableId, rows }, ids.length)
    })
  }

  /** Writes many records through the door, which knows more of them than a set does. */
  async function applyOneByOne(
    actor: Actor,
    { table }: TableModel,
    operation: Operation,
    count: number,
  ): Promise<SetApplied> {
    const { inserted: _, ...applied } = await door.apply(actor, {
      baseId: table.baseId,
      operations: [operation],
    })
    // Of the table itself: records that are linked with these have changed as well.
    return { ...applied, count, skipped: 0 }
  }

  /** The ids of all records of a selection, in the table's order. */
  async function matchingIds(actor: Actor, selection: Selection): Promise<RecordId[]> {
    return reader.ids(await openFor(actor, selection), selection)
  }

  async function openForSet(
    actor: Actor,
    right: Right,
    selection: Selection,
  ): Promise<{ where: Where; model: TableModel }> {
    const { context, model } = await openFor(actor, selection)
    await auth.access.authorize(actor, right, model.table.baseId)
    // A filter that cannot be read is refused before anything waits for it.
    const { where: known } = select(context, selection)
    const where: Where = (current) =>
      current === model ? known : select({ ...context, model: current }, selection).where
    return { where, model }
  }

  /**
   * What a connected database would do with records that refer to those of a selection, if these were deleted: by its
   * own foreign keys. Empty for tables of our own, whose links are only let go.
   */
  async function effectsOfDeletion(actor: Actor, selection: Selection): Promise<DeletionEffect[]> {
    const { engine, context, model } = await openFor(actor, selection)
    await auth.access.authorize(actor, 'record.delete', model.table.baseId)
    if (!isForeign(model)) return []
    const { from, where } = select(context, selection)
    const isDeleted = (alias: string) =>
      sql`${keyOf(model, alias)} in (select ${keyOf(model)} from ${from} ${where})`
    const all = <T>(statement: Statement) => engine.all<T>(statement, { scan: true })
    return deletionEffects({ tx: { all }, dialect: engine.dialect, schema }, model, isDeleted)
  }

  /** What happened to a record, newest first, with the people who did it. */
  async function history(
    actor: Actor,
    tableId: string,
    recordId: RecordId,
    before?: number,
  ): Promise<{ entries: HistoryEntry[]; people: Person[] }> {
    const { engine, model } = await reader.open(actor, tableId)
    await auth.access.authorize(actor, 'record.history', model.table.baseId)
    const entries = await readHistory(engine, model, storedId(model, recordId), before)
    const ids = entries.map((entry) => entry.actorId).filter((id) => id !== null)
    return { entries, people: await auth.people([...new Set(ids)]) }
  }

  /** Links to files of a table's base, by path, for someone who may read it. Unknown paths are left out. */
  async function signFiles(actor: Actor, tableId: string, paths: string[]) {
    if (isOfView(actor)) {
      return attachments.sign(actor, actor.baseId, await visitors.files(actor, tableId, paths))
    }
    const { table } = await schema.load(tableId)
    await auth.access.authorize(actor, 'record.list', table.baseId)
    return attachments.sign(actor, table.baseId, paths)
  }

  /** Lets the forms of a table's base show a picture that was uploaded. @throws BAD_REQUEST for any other file */
  async function keepPicture(actor: Actor, tableId: string, path: string): Promise<void> {
    const { table } = await schema.load(tableId)
    await auth.access.authorize(actor, 'view.arrange', table.baseId)
    await attachments.keepPicture(actor, table.baseId, path)
  }

  /**
   * Everyone whose name may stand in a cell of the base: its members. A visitor who may write is told their
   * names, to choose from; others learn of those whom they see, by a link to a view here and else by `formerPeople`.
   */
  async function people(actor: Actor, baseId: string): Promise<Person[]> {
    if (isOfView(actor)) return actor.baseId === baseId ? visitors.people(actor) : []
    // Also finds out that the base is there, and not in the trash.
    await schema.tables(actor, baseId)
    await auth.access.authorize(actor, 'record.list', baseId)
    if (actor.kind !== 'share') return auth.peopleOf(baseId)
    const mayWrite = (await auth.access.baseRole(actor, baseId)) === 'editor'
    return mayWrite ? (await auth.peopleOf(baseId)).map(asPublicPerson) : []
  }

  return {
    ...reader,
    /** For the schema module, see there. */
    expressions,
    baseContents: createBaseContents({ auth, schema, records: reader }),
    ...links,
    findByName: createFindByName(reader, schema),
    previewFormula: createFormulaPreview(reader, schema),
    attachments,
    exports,
    forms: createFormDoor({ reader, links, door, views }),
    signFiles,
    keepPicture,
    people,
    formerPeople: createFormerPeople(reader, auth),
    /** A link field with both of its tables. @throws FIELD_NOT_FOUND; BAD_REQUEST for one that is broken */
    openLink: (model: TableModel, fieldId: string) => openLink(schema, model, fieldId),
    /** Removes what is kept of the manual order of views and records that nothing can bring back any more. Gives how many lines. */
    removeLostPlaces: async (baseId: string): Promise<number> =>
      removeLostPlaces(await kernel.sources.engine(baseId), { schema, views }),
    apply: door.apply,
    nextAction: undo.next,
    /** As `createUndo` says, with the moment before which nothing is kept. */
    async actions(...asked: Parameters<typeof undo.actions>) {
      const page = await undo.actions(...asked)
      return { ...page, historySince: (await bases.require(asked[1].baseId)).historySince }
    },
    deletedViews: undo.deletedViews,
    deleteViewForever: undo.deleteViewForever,
    cancelWork,
    trash,
    /** As `createUndo` says; where nothing is left, with the moment before which nothing is kept. */
    async undo(...asked: Parameters<typeof undo.undo>) {
      const undone = await undo.undo(...asked)
      if (undone.kind !== null) return { ...undone, historySince: null }
      return { ...undone, historySince: (await bases.require(asked[1])).historySince }
    },
    redo: undo.redo,
    summaries,
    groups,
    matchingIds,
    effectsOfDeletion,
    deleteMatching,
    updateMatching,
    history,
    /** Told by the import of the range that it has added. */
    countsChanged: counts.forget,
  }
}

/** True for who came by a link to a view. */
const isOfView = (actor: Actor): actor is ShareActor & { grant: { kind: 'view' } } =>
  actor.kind === 'share' && actor.grant.kind === 'view'
