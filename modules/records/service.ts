import { sql } from 'drizzle-orm'
import { nowMs } from '../../src/clock.ts'
import type { Actor, ShareActor } from '../../src/core/actor.ts'
import type { Operation, Values } from '../../src/core/changes.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { isForeignKey } from '../../src/core/fields/traits.ts'
import type { Field, Person, RecordId } from '../../src/core/model.ts'
import type { GroupPage, GroupRequest, Selection } from '../../src/core/query.ts'
import type { Right } from '../../src/core/roles.ts'
import { unknownEffects } from '../../src/db/change-log/effects.ts'
import type { Engine, Statement } from '../../src/dialects/dialect.ts'
import type { Kernel } from '../../src/kernel.ts'
import { timed, timeMethods } from '../../src/metrics/metrics.ts'
import { type AuthService, asPublicPerson } from '../auth/index.ts'
import type { BasesService } from '../bases/index.ts'
import type { FieldExpressions, SchemaReader, TableModel } from '../schema/index.ts'
import type { ViewsService } from '../views/index.ts'
import { createActivity } from './activity/index.ts'
import { createAttachments } from './attachments/index.ts'
import { createExports } from './export/index.ts'
import { createFeed } from './feed/index.ts'
import { type FoundByValues, findByValues } from './foreign/index.ts'
import {
  type CopyToRewind,
  createRecordRestore,
  createTableRestore,
  createTrash,
  createUndo,
  createUndoPreview,
  type HistoryEntry,
  readHistory,
  rewindCopy,
} from './history/index.ts'
import {
  createLinkReads,
  type DeletionEffect,
  deletionEffects,
  type OpenLink,
  openLink,
  readPairs,
} from './links/index.ts'
import {
  createBaseContents,
  createBaseSearch,
  createFormerPeople,
  createFormulaPreview,
  createLogFollower,
  createReader,
  createRecordTitles,
  createResultCache,
  createRowCounts,
  createSearchIndexes,
  createVisitorReads,
  fragmentsOf,
  type Models,
  type Opened,
  select,
  type TouchRecords,
} from './read/index.ts'
import { removeLostPlaces } from './rows/index.ts'
import { checkValues, isForeign, isLink, keyOf, readRecords, storedId } from './table/index.ts'
import {
  createDoor,
  createFormDoor,
  createSetWrites,
  createValueResolver,
  type SetApplied,
  type Where,
} from './write/index.ts'

/** The measured methods of the read door; those that only plan are left out. */
const READ_OPERATIONS = [
  'list',
  'page',
  'titled',
  'titledByIds',
  'ids',
  'count',
  'countOpened',
  'countPlanned',
  'get',
  'readOne',
  'position',
  'positions',
] as const
const SET_OPERATIONS = ['deleteWhere', 'updateWhere', 'restoreFrom', 'revert', 'rewind', 'revertAll'] as const

export type RecordsService = ReturnType<typeof createRecordsService>

/** Records: the read door, the write door, and the operations on the change log. */
export function createRecordsService(
  kernel: Kernel,
  auth: AuthService,
  bases: Pick<BasesService, 'require' | 'sourcesOf'>,
  schema: SchemaReader,
  views: ViewsService,
) {
  const follower = kernel.meta.cluster.isShared ? createLogFollower() : null
  const counts = createRowCounts(follower)
  const results = createResultCache(follower)
  const touch: TouchRecords = (effects) => {
    results.touch(effects)
    counts.touch(effects)
  }
  const searchIndexes = createSearchIndexes({
    log: kernel.log,
    claims: kernel.meta.cluster.claims,
    mayBuild: kernel.config.indexSlowMs > 0,
  })
  const { metrics } = kernel
  const reader = timeMethods(
    metrics,
    'read',
    createReader({ auth, schema, views, counts, results, searchIndexes, registry: kernel.registry }),
    READ_OPERATIONS,
  )
  const attachments = createAttachments({ kernel, auth, bases, schema, views })
  const exports = createExports({ kernel, auth, bases, schema, reader, attachments })
  const resolver = createValueResolver({ auth, schema, attachments })
  const sets = timeMethods(metrics, 'write', createSetWrites({ kernel, schema, touch }), SET_OPERATIONS)
  const door = timeMethods(
    metrics,
    'write',
    createDoor({ kernel, auth, schema, touch, resolver, sets, views }),
    ['apply', 'applyGranted', 'write'],
  )
  const links = createLinkReads(reader, schema)
  const visitors = createVisitorReads({ reader, auth, views })
  const expressions: FieldExpressions = {
    cell: (field, over, { now, timeZone }) =>
      fragmentsOf({ ...over, moment: { now: new Date(now), timeZone, people: [] } }).of(field, 'cell'),
  }
  const undo = createUndo({ kernel, auth, schema, views, bases, reader, door, sets })
  const trash = createTrash({ kernel, auth, schema, door, sets, undo: undo.undo, attachments })
  // Imports write in worker threads, and report their changes by this event.
  kernel.events.on('records.changed', ({ truncated, tableIds }) => {
    if (truncated) touch(unknownEffects(tableIds))
  })

  kernel.events.on('events.missed', results.clear)

  const openFor = (actor: Actor, { tableId, viewId, timeZone }: Selection): Promise<Opened> =>
    reader.open(actor, tableId, viewId, timeZone)

  /** The summaries of columns over a selection. @throws BAD_REQUEST for summaries that a field does not offer */
  async function summaries(
    actor: Actor,
    selection: Selection,
    wanted: { fieldId: string; summary: string }[],
  ): Promise<Record<string, CellValue>> {
    return reader.summarized(await openFor(actor, selection), selection, wanted)
  }

  /** The groups of a selection, level by level, with their summaries. */
  async function groups(actor: Actor, request: GroupRequest): Promise<GroupPage> {
    const opened = await openFor(actor, request.selection)
    return reader.groups(opened, request)
  }

  /**
   * Cancels a long write of a base; all of it is rolled back. Completed ones stay. Cancelling the work of others
   * needs the right to undo it.
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

  /**
   * Deletes all records of a selection, as one action for undo.
   *
   * @param clientId the sender's id for the change, so that a repeated one is written once
   */
  async function deleteMatching(actor: Actor, selection: Selection, clientId?: string): Promise<SetApplied> {
    const { where, model } = await openForSet(actor, 'record.delete', selection)
    if (isForeign(model)) {
      const { table } = model
      return kernel.works.follow(actor, { kind: 'delete', baseId: table.baseId, table }, async () => {
        const ids = await matchingIds(actor, selection)
        const operation = { kind: 'delete' as const, tableId: table.id, ids }
        return applyOneByOne(actor, model, { operation, count: ids.length, clientId })
      })
    }
    return sets.deleteWhere(actor, selection.tableId, where, { kind: 'records.delete', clientId })
  }

  /**
   * Writes the same values to all records of a selection, as one action.
   *
   * @param clientId as for `deleteMatching`
   * @throws as the write door
   */
  async function updateMatching(
    actor: Actor,
    selection: Selection,
    given: Values,
    clientId?: string,
  ): Promise<SetApplied> {
    const { where, model: current } = await openForSet(actor, 'record.update', selection)
    const isOneByOne = isForeign(current) || actor.kind !== 'user'
    if (isOneByOne || (await isLinking(selection.tableId, given))) {
      return linkMatching(actor, selection, given, clientId)
    }
    const model = await schema.load(selection.tableId)
    const resolved = await resolver.values(actor, model, given)
    const checked = (current: TableModel) => checkValues(current, resolved)
    return sets.updateWhere(actor, selection.tableId, where, checked, { kind: 'records.update', clientId })
  }

  /** True if the values set links, or keys that links are stored in. */
  async function isLinking(tableId: string, values: Values): Promise<boolean> {
    const { fields } = await schema.load(tableId)
    return fields.some((field) => field.id in values && (isLink(field) || isForeignKey(field)))
  }

  /** As `updateMatching`, record by record, which maintains both sides of links. */
  async function linkMatching(
    actor: Actor,
    selection: Selection,
    values: Values,
    clientId?: string,
  ): Promise<SetApplied> {
    const { tableId } = selection
    const model = await schema.load(tableId)
    const { table } = model
    return kernel.works.follow(actor, { kind: 'update', baseId: table.baseId, table }, async () => {
      const ids = await matchingIds(actor, selection)
      const rows = ids.map((id) => ({ id, values }))
      const operation = { kind: 'update' as const, tableId, rows }
      return applyOneByOne(actor, model, { operation, count: ids.length, clientId })
    })
  }

  /** Writes many records through the door. */
  async function applyOneByOne(
    actor: Actor,
    { table }: TableModel,
    { operation, count, clientId }: { operation: Operation; count: number; clientId?: string },
  ): Promise<SetApplied> {
    const { inserted: _, ...applied } = await door.apply(actor, {
      baseId: table.baseId,
      operations: [operation],
      clientId,
    })
    // Counts the selected records, not the linked ones that changed too. A change that is sent again may have none left to select.
    const own = applied.records.filter(({ tableId }) => tableId === table.id)
    return { ...applied, count: count || own.length || applied.count, skipped: 0 }
  }

  /** The ids of all records of a selection, in the table’s order. */
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
    // Reject an invalid filter before waiting for the lease.
    const { where: known } = select(context, selection)
    const where: Where = (current) =>
      current === model ? known : select({ ...context, model: current }, selection).where
    return { where, model }
  }

  /**
   * The effects that deleting a selection would have on referring records, by the foreign keys of a connected
   * database. Empty for tables of a base, whose links are only removed.
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

  /** The history of a record, newest first, with the people involved. */
  async function history(
    actor: Actor,
    tableId: string,
    recordId: RecordId,
    before?: number,
  ): Promise<{ entries: HistoryEntry[]; people: Person[] }> {
    const { model } = await reader.open(actor, tableId)
    await auth.access.authorize(actor, 'record.history', model.table.baseId)
    const home = await kernel.sources.engine(model.table.baseId)
    const entries = await readHistory({ home, schema, model }, storedId(model, recordId), before)
    const ids = entries.map((entry) => entry.actorId).filter((id) => id !== null)
    return { entries, people: await auth.people([...new Set(ids)]) }
  }

  /** Links to files of a table’s base, by path, for someone who may read it. Unknown paths are omitted. */
  async function signFiles(actor: Actor, tableId: string, paths: string[]) {
    if (isOfView(actor)) {
      return attachments.sign(actor, actor.baseId, await visitors.files(actor, tableId, paths))
    }
    const { table } = await schema.load(tableId)
    await auth.access.authorize(actor, 'record.list', table.baseId)
    return attachments.sign(actor, table.baseId, paths)
  }

  /** Allows the forms of a table’s base to show an uploaded image. @throws BAD_REQUEST for other files */
  async function keepPicture(actor: Actor, tableId: string, path: string): Promise<void> {
    const { table } = await schema.load(tableId)
    await auth.access.authorize(actor, 'view.arrange', table.baseId)
    await attachments.keepPicture(actor, table.baseId, path)
  }

  /**
   * The people that cells of the base may name: its members. Visitors get their names if they may edit; otherwise
   * only the people they see, from the view of their link or by `formerPeople`.
   */
  async function people(actor: Actor, baseId: string): Promise<Person[]> {
    if (isOfView(actor)) return actor.baseId === baseId ? visitors.people(actor) : []
    // Also checks that the base exists and is not in the trash.
    await schema.tables(actor, baseId)
    await auth.access.authorize(actor, 'record.list', baseId)
    if (actor.kind !== 'share') return auth.peopleOf(baseId)
    const mayWrite = (await auth.access.baseRole(actor, baseId)) === 'editor'
    return mayWrite ? (await auth.peopleOf(baseId)).map(asPublicPerson) : []
  }

  return {
    ...reader,
    /** Fills `FIELD_EXPRESSIONS`. */
    expressions,
    baseContents: createBaseContents({ auth, schema, records: reader }),
    ...links,
    titlesOf: createRecordTitles(reader, schema),
    search: createBaseSearch(reader, schema),
    /** What the search index of a table does, without an access check. */
    searchIndexState: searchIndexes.stateOf,
    /** Builds or refreshes the search index of a table in the background, as a search does. */
    wantSearchIndex(engine: Engine, model: TableModel, models: Models): void {
      const moment = { now: new Date(nowMs()) }
      const context = { model, models, view: null, dialect: engine.dialect, moment }
      searchIndexes.want({ engine, model, context }, () => reader.total(engine, model))
    },
    dropSearchIndex: searchIndexes.drop,
    searchIndexBytes: searchIndexes.bytesOf,
    /** Stops the work on search indexes. */
    close: () => searchIndexes.close(),
    previewFormula: createFormulaPreview(reader, schema),
    attachments,
    feed: createFeed(kernel),
    exports,
    forms: createFormDoor({ reader, links, door, views }),
    signFiles,
    keepPicture,
    people,
    formerPeople: createFormerPeople(reader, auth),
    /** A link field with both of its tables. @throws FIELD_NOT_FOUND; BAD_REQUEST for a broken one */
    openLink: (model: TableModel, fieldId: string) => openLink(schema, model, fieldId),
    /** Which of some records of a link's related table are linked to a record already. Does not check access. */
    async heldTargets(link: OpenLink, targets: RecordId[]): Promise<Set<string>> {
      if (targets.length === 0) return new Set()
      const { dialect, all } = await schema.engineOf(link.model.table)
      const pairs = await readPairs({ tx: { all }, dialect }, link, { target: targets })
      return new Set(pairs.map(({ target }) => String(target)))
    },
    /** Removes positions in manual orders that nothing can restore. Returns their number. */
    removeLostPlaces: async (baseId: string): Promise<number> =>
      removeLostPlaces(await kernel.sources.engine(baseId), { schema, views }),
    apply: door.apply,
    /** Records of a connected table by the values of some fields, and their values of others. Does not check access. */
    findByValues: async (
      model: TableModel,
      by: Field[],
      read: Field[],
      wanted: readonly (readonly CellValue[])[],
    ): Promise<FoundByValues> =>
      findByValues({ engine: await schema.engineOf(model.table), model, by, read }, wanted),
    /** All stored values of records, by id as text; missing records are absent. Does not check access. */
    async readStored(model: TableModel, ids: RecordId[]): Promise<Map<string, Values>> {
      const { dialect, all } = await schema.engineOf(model.table)
      const stored = model.fields.filter(({ columnName }) => columnName !== '')
      return readRecords({ tx: { all }, dialect, model }, ids, stored)
    },
    nextAction: undo.next,
    /** As in `createUndo`, with the time that the history goes back to. */
    async actions(...asked: Parameters<typeof undo.actions>) {
      const page = await undo.actions(...asked)
      return { ...page, historySince: (await bases.require(asked[1].baseId)).historySince }
    },
    deletedViews: undo.deletedViews,
    deleteViewForever: undo.deleteViewForever,
    cancelWork,
    trash,
    recordRestore: createRecordRestore({ kernel, auth, schema, door }),
    previewUndo: createUndoPreview({ auth, schema, reader, undo }),
    activity: createActivity({ kernel, auth, schema, reader, describe: undo.describe }),
    tableRestore: createTableRestore({ kernel, auth, bases, schema, sets }),
    /** Rewinds a copy of a base before it has definitions of its own, see `rewindCopy`. */
    rewindCopy: (copy: CopyToRewind): Promise<void> => rewindCopy(kernel, copy),
    /** As in `createUndo`; if nothing is left, with the time that the history goes back to. */
    async undo(...asked: Parameters<typeof undo.undo>) {
      const undone = await undo.undo(...asked)
      if (undone.kind !== null) return { ...undone, historySince: null }
      return { ...undone, historySince: (await bases.require(asked[1])).historySince }
    },
    redo: undo.redo,
    summaries: timed(metrics, 'read', 'summaries', summaries),
    groups: timed(metrics, 'read', 'groups', groups),
    matchingIds,
    effectsOfDeletion,
    deleteMatching,
    updateMatching,
    history,
  }
}

/** True for visitors of a view’s link. */
const isOfView = (actor: Actor): actor is ShareActor & { grant: { kind: 'view' } } =>
  actor.kind === 'share' && actor.grant.kind === 'view'
