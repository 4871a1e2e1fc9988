import { mapBreathing } from '../../../src/breathe.ts'
import { nowIso, nowMs } from '../../../src/clock.ts'
import { type Actor, actorIdOf } from '../../../src/core/actor.ts'
import type { AppliedChange, Change, Operation, RecordChange } from '../../../src/core/changes.ts'
import { toStored } from '../../../src/core/dates.ts'
import { AppError, badRequest, notFound } from '../../../src/core/errors.ts'
import type { CreationMoment } from '../../../src/core/fields/default-value.ts'
import type { RecordId } from '../../../src/core/model.ts'
import type { Right } from '../../../src/core/roles.ts'
import type { WorkKind } from '../../../src/core/work.ts'
import { appendChange, type NewEntry } from '../../../src/db/change-log/append.ts'
import { effectsOf } from '../../../src/db/change-log/effects.ts'
import { lastChangeId } from '../../../src/db/change-log/entry.ts'
import type { Dialect, Engine, Transaction } from '../../../src/dialects/dialect.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import { currentWork, type OpenWork } from '../../../src/works.ts'
import type { AuthService } from '../../auth/index.ts'
import type { SchemaReader, TableModel } from '../../schema/index.ts'
import type { ViewsService } from '../../views/index.ts'
import { foreignEngineOf } from '../foreign/index.ts'
import { LargeCascade, type LinkSchema, markLinks, type WriteScope } from '../links/index.ts'
import type { TouchRecords } from '../read/index.ts'
import {
  checkExpected,
  checkNewValues,
  checkSiblings,
  checkValues,
  foreignKeysOf,
  idsCondition,
  isForeign,
  isOurs,
  linkFieldsOf,
  maskChanges,
  refuseUnordered,
  storedId,
  wholeSecond,
} from '../table/index.ts'
import { type Attempt, explainViolation } from './explain-conflict.ts'
import { findRepeated, insertionOrder, MAX_LISTED, mergeChanges, type Repeated } from './repeated-change.ts'
import type { ValueResolver } from './resolve-values.ts'
import { type CheckedOperation, runOperation } from './run-operation.ts'
import type { SetWrites, Where } from './set-write.ts'

/** Limit of records in one change. */
export const MAX_RECORDS = 50_000

/** From this many records on, the log keeps the range of an insert instead of each record. */
const COMPACT_FROM = 100

/**
 * Limit of linked records that a change in a connected database may touch: their values pass through this process on
 * the way to the log, which is in another database.
 */
const MAX_LINKED = 200_000
/** From this many records on, a change shows its progress and can be cancelled. */
const FOLLOWED_FROM = 1_000

/** From this many records (or linked records) on, a deletion is written as a set. */
const SET_FROM = 5_000

const RIGHT_OF: Record<Operation['kind'], Right> = {
  insert: 'record.create',
  update: 'record.update',
  delete: 'record.delete',
  move: 'record.update',
  link: 'record.update',
  unlink: 'record.update',
}

/** The result of a change for its sender. */
export interface Written extends AppliedChange {
  /** Ids of the added records, in the order of the operations. */
  inserted: RecordId[]
  /** Number of records written, listed or not. */
  count: number
}

export type Door = ReturnType<typeof createDoor>

type Deletion = Extract<Operation, { kind: 'delete' }>

interface Deps {
  kernel: Pick<Kernel, 'sources' | 'events' | 'works'>
  auth: Pick<AuthService, 'access'>
  schema: LinkSchema & Pick<SchemaReader, 'engineOf' | 'writeRefusal'>
  touch: TouchRecords
  resolver: ValueResolver
  sets: SetWrites
  views: Pick<ViewsService, 'requireManualOrder'>
}

/** A write whose operations are checked. */
interface PlannedWrite {
  entry: Pick<NewEntry, 'kind' | 'undoes' | 'redoes' | 'detail'> & { tableId?: string | null }
  /** Tables to write to; absent: the table of the entry. */
  tableIds?: string[]
  /** Returns the operations. Called inside the write lease, so nothing can come between the plan and the write. */
  plan: (scope: WriteScope) => Promise<CheckedOperation[]>
  /** Limit of linked records that deletions may touch; connected databases have their own. */
  maxCascade?: number
  /** As `Engine.writeTogether`. */
  touches?: readonly string[] | null
  /** Runs in the same transaction after the entry, which is then always written. */
  finish?: (tx: Transaction, dialect: Dialect, entryId: number, inserted: RecordId[]) => Promise<void>
}

/** The entry of a change where it is not one by the kinds of its operations, and what is stored with it. */
export type Logged = Partial<Pick<PlannedWrite, 'entry' | 'finish'>>

/** One call of `write`. */
interface WriteCall extends PlannedWrite, Pick<Change, 'baseId' | 'clientId'> {
  actor: Actor
  /** Null for callers that are no user. */
  actorId: string | null
  /** The base's own database, which has the log. */
  home: Engine
  /** The connected database of the records; null if they are at home. */
  foreign: Awaited<ReturnType<typeof foreignEngineOf>>
  /** The tables written to so far, and the values for them: to explain an error. */
  models: Map<string, TableModel>
  attempts: Attempt[]
}

/** What the operations of a write have done. */
interface RanOperations {
  operations: CheckedOperation[]
  /** Changed records in order; a record may appear several times. */
  touched: RecordChange[]
  inserted: RecordId[]
  /** True if it only adds records to one table and changes no other. */
  isPlainInsert: boolean
}

/** What a write has done. */
interface Outcome extends Repeated {
  /** True for a change that was written before. */
  isRepeated: boolean
}

const UNCHANGED = { records: [], inserted: [], count: 0, tableIds: [], isRepeated: false }

/** The write door: every change of records passes here. */
export function createDoor({ kernel, auth, schema, touch, resolver, sets, views }: Deps) {
  /**
   * Writes a change and its log entry in one transaction.
   *
   * @param logged for changes that are part of something larger, such as a chunk of an import
   * @throws TABLE_NOT_FOUND, RECORD_NOT_FOUND, FIELD_NOT_FOUND; PERMISSION_DENIED below editor;
   *   INVALID_VALUE_FOR_FIELD and REQUIRED_FIELD_MISSING naming the field; nothing is written then
   */
  async function apply(actor: Actor, change: Change, logged: Logged = {}): Promise<Written> {
    for (const operation of change.operations) {
      const { table } = await schema.load(operation.tableId)
      if (table.baseId !== change.baseId) throw notFound('Table', operation.tableId)
      await auth.access.authorize(actor, RIGHT_OF[operation.kind], change.baseId)
      if (!('viewId' in operation) || operation.viewId === undefined) continue
      // Inserting at a position does not rearrange the records of the view.
      const rearranges = operation.kind === 'move'
      await views.requireManualOrder(actor, operation.tableId, operation.viewId, rearranges)
    }
    return applyGranted(actor, change, logged)
  }

  /** As `apply`, for callers that have checked the right themselves, such as forms. */
  async function applyGranted(actor: Actor, change: Change, logged: Logged = {}): Promise<Written> {
    refuseTooMany(change.operations)
    const operations = await resolver.change(actor, change)
    const deletion = await soleDeletion(operations)
    if (deletion && deletion.ids.length >= SET_FROM) return deleteAsSet(actor, change, deletion)
    try {
      const write = () =>
        writeChecked(actor, change, operations, { maxCascade: deletion ? SET_FROM : MAX_RECORDS, ...logged })
      const size = countOf(operations)
      const [first] = operations
      // A part of something larger, which shows its own progress.
      if (!first || size < FOLLOWED_FROM || logged.entry) return await write()
      const { table } = await schema.load(first.tableId)
      const work = { kind: workKindOf(first), baseId: change.baseId, table }
      return await kernel.works.follow(actor, work, (open) => {
        // Each record and its log row.
        open.expect(2 * size, size)
        return write()
      })
    } catch (error) {
      if (!(error instanceof LargeCascade)) throw error
      if (deletion) return deleteAsSet(actor, change, deletion)
      throw badRequest(m.records_error_deletion_size({ max: MAX_RECORDS }))
    }
  }

  /**
   * The deletion if it is the only operation and concerns a table of our own, so that it can be written as a set;
   * else null.
   */
  async function soleDeletion(operations: Operation[]): Promise<Deletion | null> {
    const [only] = operations
    if (only?.kind !== 'delete' || operations.length > 1) return null
    const model = await schema.load(only.tableId)
    if (isForeign(model)) return null
    const ids = [...new Set(only.ids.map((id) => storedId(model, id)))]
    return ids.length > 0 && ids.every((id) => Number.isSafeInteger(id)) ? { ...only, ids } : null
  }

  async function deleteAsSet(
    actor: Actor,
    { clientId }: Pick<Change, 'clientId'>,
    { tableId, ids }: Deletion,
  ): Promise<Written> {
    const where: Where = (model) => idsCondition(model, ids)
    const entry = { kind: 'records.delete', clientId }
    const { skipped: _, ...written } = await sets.deleteWhere(actor, tableId, where, entry, { ids })
    return { ...written, inserted: [] }
  }

  async function writeChecked(
    actor: Actor,
    change: Change,
    operations: Operation[],
    { maxCascade, entry, finish }: Pick<PlannedWrite, 'maxCascade'> & Logged,
  ): Promise<Written> {
    return write(actor, change, {
      maxCascade,
      finish,
      touches: await touchedBy(operations),
      entry: entry ?? { kind: kindOf(change.operations), detail: orderedView(change.operations) },
      tableIds: change.operations.map(({ tableId }) => tableId),
      plan({ dialect }) {
        const made = { ms: nowMs(), timeZone: change.timeZone }
        return Promise.all(
          operations.map(async (operation) => {
            const model = await schema.load(operation.tableId)
            return await checkOperation(model, operation, made, dialect.foreign.keepsToTypes)
          }),
        )
      },
    })
  }

  /**
   * The record that a change of one record's own values reads and writes, none for a new record; null for changes that
   * may reach other records, as links and positions do.
   */
  async function touchedBy([only, ...others]: Operation[]): Promise<string[] | null> {
    if (!only || others.length > 0 || (only.kind !== 'insert' && only.kind !== 'update')) return null
    if (only.rows.length !== 1 || (only.kind === 'insert' && only.before != null)) return null
    if (only.rows.some((row) => 'siblings' in row)) return null
    const model = await schema.load(only.tableId)
    const reachesOthers = [...linkFieldsOf(model), ...foreignKeysOf(model)].some((field) =>
      only.rows.some(({ values }) => field.id in values),
    )
    if (reachesOthers) return null
    return only.kind === 'insert' ? [] : only.rows.map(({ id }) => `${only.tableId} ${storedId(model, id)}`)
  }

  /** As `apply`, for checked operations: undo and redo, whose values come from the log. */
  async function write(
    actor: Actor,
    { baseId, clientId }: Pick<Change, 'baseId' | 'clientId'>,
    planned: PlannedWrite,
  ): Promise<Written> {
    const home = await kernel.sources.engine(baseId)
    const foreign = await foreignEngineOf(schema, planned.tableIds ?? [planned.entry.tableId].filter(isText))
    const actorId = actorIdOf(actor)
    const call: WriteCall = {
      ...planned,
      actor,
      actorId,
      baseId,
      clientId,
      home,
      foreign,
      models: new Map(),
      attempts: [],
    }
    const outcome = await commit(call).catch((error) => recover(call, error))
    const report = reportOf(call, outcome)
    if (outcome.records.length > 0 && !outcome.isRepeated) kernel.events.emit('records.changed', report)
    return { ...report, inserted: outcome.inserted, count: outcome.count }
  }

  /**
   * Runs the write in the transaction that suits it: with a connected database, in one of its own for plans that
   * read the current records and must not see uncommitted writes, or in one shared with other waiting writes.
   */
  function commit(call: WriteCall): Promise<Outcome> {
    const { home, foreign } = call
    const own = { dialect: home.dialect }
    if (foreign) {
      return followed(call, (work) =>
        home.write((log) =>
          foreign.write((tx) => writeIn(call, log, { tx, dialect: foreign.dialect }, work)),
        ),
      )
    }
    return call.finish || currentWork()
      ? home.write(
          (tx) => writeIn(call, tx, { tx, ...own }),
          async (outcome) => countIn(outcome),
        )
      : home.writeTogether(
          (tx) => writeIn(call, tx, { tx, ...own }),
          countIn,
          // Its look-up must not run beside the write that it looks for.
          isLookedUpFirst(call) ? null : call.touches,
        )
  }

  /** Shows the progress of deletions in a connected database, and of their undo and redo. */
  async function followed<T>(
    { actor, baseId, entry: { kind, tableId }, tableIds }: WriteCall,
    run: (work?: OpenWork) => Promise<T>,
  ): Promise<T> {
    const workKind = WORK_OF[kind]
    const id = tableId ?? tableIds?.[0]
    if (!workKind || !id) return run()
    const { table } = await schema.loadWithKeys(id)
    return kernel.works.follow(actor, { kind: workKind, baseId, table }, run)
  }

  /**
   * Writes the records and their log entry.
   *
   * @param log the transaction in the base's home, where the log is
   * @param at the database of the records: the home, or a connected one, which commits just before it
   */
  async function writeIn(
    call: WriteCall,
    log: Transaction,
    at: { tx: Transaction; dialect: Dialect },
    work = currentWork(),
  ): Promise<Outcome> {
    const before = isLookedUpFirst(call) && (await findSentBefore(call, log))
    if (before) return before
    const maxCascade = call.foreign ? MAX_LINKED : call.maxCascade
    const cascade = maxCascade === undefined ? undefined : { left: maxCascade }
    const scope: WriteScope = {
      ...at,
      schema,
      actorId: call.actorId,
      now: toStored(wholeSecond()),
      renumbered: new Set(),
      cascade,
    }
    const ran = await runPlanned(call, scope)
    const records = await recordsToLog(call, scope, ran)
    if (call.foreign) {
      // Only the log is left to write.
      work?.expect(2 * records.length + 1, records.length)
      work?.progress(records.length + 1)
    }
    if (records.length === 0 && !call.finish) {
      const repeated = await findSentBefore(call, log)
      return repeated ?? { ...UNCHANGED, entry: { id: await lastChangeId(log), at: nowIso() } }
    }
    const entry = await logChange(call, log, ran, { records, renumbered: scope.renumbered })
    await call.finish?.(log, call.home.dialect, entry.id, ran.inserted)
    for (const { tableId } of records) {
      if (!call.models.has(tableId)) call.models.set(tableId, await schema.loadWithKeys(tableId))
    }
    const tableIds = [...call.models.keys()]
    return { records, inserted: ran.inserted, entry, count: records.length, tableIds, isRepeated: false }
  }

  async function runPlanned(call: WriteCall, scope: WriteScope): Promise<RanOperations> {
    const operations = await call.plan(scope)
    // A write that ran together with others may be rolled back and run again.
    call.attempts.length = 0
    call.models.clear()
    for (const operation of operations) if ('rows' in operation) call.attempts.push(operation)
    const touched: RecordChange[] = []
    const inserted: RecordId[] = []
    for (const operation of operations) {
      call.models.set(operation.tableId, await schema.loadWithKeys(operation.tableId))
      const ran = await runOperation(scope, operation)
      for (const change of ran.changes) touched.push(change)
      for (const id of ran.inserted) inserted.push(id)
    }
    const isInsert = operations.length === 1 && operations[0]?.kind === 'insert'
    // Linked records that changed must be listed too.
    return { operations, touched, inserted, isPlainInsert: isInsert && touched.length === inserted.length }
  }

  /** The changed records, each once, with the link fields at both ends of changed links. */
  async function recordsToLog(
    { foreign }: WriteCall,
    scope: WriteScope,
    { operations, touched, isPlainInsert }: RanOperations,
  ): Promise<RecordChange[]> {
    const merged = isPlainInsert ? touched : await mergeChanges(touched)
    // As for sets: large deletions and their undo do not mark the link fields at both ends.
    const isLargeSet = foreign !== null && merged.length >= SET_FROM && comesOrGoes(operations)
    return isLargeSet ? merged : markLinks(scope, merged)
  }

  /** Appends the entry to the log; of many new records in one table it has only the range. */
  function logChange(
    { actor, actorId, clientId, entry, home, foreign }: WriteCall,
    log: Transaction,
    { operations, touched, inserted, isPlainInsert }: RanOperations,
    { records, renumbered }: { records: RecordChange[]; renumbered: ReadonlySet<string> },
  ) {
    // Ranges are undone as sets, which only the base’s home supports.
    const range = isPlainInsert && !foreign ? rangeOfNew(touched) : null
    // Only a change with a client id can be sent again.
    const order = clientId && !range ? insertionOrder(operations, inserted) : undefined
    const detail = range ?? (order ? { ...(entry.detail as object | undefined), ...order } : entry.detail)
    return appendChange(log, home.dialect, {
      actorId,
      clientId,
      actionId: actor.kind === 'user' ? actor.actionId : undefined,
      tableId: operations[0]?.tableId ?? null,
      ...entry,
      // Besides the range, the records whose links changed.
      records: range ? records.slice(touched.length) : records,
      recordCount: records.length,
      detail:
        renumbered.size === 0 ? detail : { ...(detail as object | undefined), renumbered: [...renumbered] },
    })
  }

  /**
   * This change, if the person's browser has sent it before. Except where `isLookedUpFirst`, it is looked up only if
   * writing it again changes nothing or fails, at the latest by the log's unique client id: a look-up before each write
   * would cost a round trip.
   */
  async function findSentBefore(
    { home: { dialect }, actorId, clientId }: WriteCall,
    tx: Pick<Transaction, 'all'>,
  ): Promise<Outcome | null> {
    if (!clientId) return null
    const repeated = await findRepeated({ tx, dialect, load: schema.loadWithKeys }, actorId, clientId)
    return repeated && { ...repeated, isRepeated: true }
  }

  /** Updates what is counted and cached together with the commit, so that readers see both or neither. */
  function countIn({ records, isRepeated }: Outcome): void {
    if (isRepeated) return
    touch(effectsOf(records))
  }

  /**
   * The outcome of a failed write that turns out to be a repeated one.
   *
   * @throws the error, as one that names the record or the limit where it can be explained
   */
  async function recover(call: WriteCall, error: unknown): Promise<Outcome> {
    const { home, foreign, models, attempts } = call
    const repeated = await findSentBefore(call, home)
    if (repeated) return repeated
    if (foreign && error instanceof LargeCascade) {
      throw badRequest(m.records_error_deletion_links({ max: MAX_LINKED }))
    }
    throw await explainViolation(error, foreign ?? home, [...models.values()], attempts)
  }

  return { apply, applyGranted, write }
}

/** The change for its sender and the other browsers. For a repeated insert of many records, the log has their range without values. */
function reportOf(
  { baseId, clientId, actorId, models }: WriteCall,
  { records, entry, count, tableIds }: Outcome,
): AppliedChange {
  const truncated = count > MAX_LISTED || records.length < count
  return {
    id: entry.id,
    baseId,
    clientId,
    actorId,
    at: entry.at,
    records: truncated ? [] : maskChanges(records, (tableId) => models.get(tableId)),
    truncated,
    tableIds,
  }
}

/**
 * True for changes that are looked up before they are written: in connected databases, some of whose tables cannot roll
 * back a second write (MyISAM), and of visitors, whose client ids are not unique in the log, as they have no actor id.
 */
const isLookedUpFirst = ({ foreign, actorId, clientId }: WriteCall): boolean =>
  clientId !== undefined && (foreign !== null || actorId === null)

/** Kinds of entries in connected databases that may touch many more records than they name. */
const WORK_OF: Record<string, WorkKind | undefined> = {
  'records.delete': 'delete',
  'records.restore': 'restore',
  undo: 'undo',
  redo: 'redo',
}

/** True if records are deleted or restored. */
const comesOrGoes = (operations: readonly CheckedOperation[]): boolean =>
  operations.some(({ kind }) => kind === 'delete' || kind === 'restore')

const isText = (value: string | null | undefined): value is string => typeof value === 'string'

async function checkOperation(
  model: TableModel,
  operation: Operation,
  made: CreationMoment,
  keepsToTypes: boolean,
): Promise<Operation> {
  const idOf = (id: RecordId) => storedId(model, id)
  const place = (before: RecordId | null | undefined) => (before == null ? null : idOf(before))
  switch (operation.kind) {
    case 'insert':
      if (operation.viewId !== undefined || (operation.before != null && isOurs(model)))
        refuseUnordered(model)
      return {
        ...operation,
        rows: await mapBreathing(operation.rows, ({ values, siblings, origin }) => ({
          values: checkNewValues(model, { values, siblings }, made, keepsToTypes),
          ...(siblings && { siblings: checkSiblings(model, siblings, operation.rows.length) }),
          ...(origin && { origin }),
        })),
        before: place(operation.before),
      }
    case 'update':
      return {
        ...operation,
        rows: await mapBreathing(operation.rows, ({ id, values, expected }) => ({
          id: idOf(id),
          values: checkValues(model, values, keepsToTypes),
          expected: expected && checkExpected(model, expected, values),
        })),
      }
    case 'delete':
      return { ...operation, ids: [...new Set(operation.ids.map(idOf))] }
    case 'move':
      refuseUnordered(model)
      return { ...operation, ids: [...new Set(operation.ids.map(idOf))], before: place(operation.before) }
    default:
      return { ...operation, id: idOf(operation.id) }
  }
}

function refuseTooMany(operations: Operation[]): void {
  const count = countOf(operations)
  if (count > MAX_RECORDS) {
    throw new AppError('BAD_REQUEST', m.records_error_too_many_records({ max: MAX_RECORDS, count }))
  }
}

const countOf = (operations: Operation[]): number =>
  operations.reduce((sum, operation) => sum + sizeOf(operation), 0)

/** Links and moves count as updates. */
const workKindOf = ({ kind }: Operation): WorkKind =>
  kind === 'insert' || kind === 'delete' ? kind : 'update'

function sizeOf(operation: Operation): number {
  if ('rows' in operation) return operation.rows.length
  return 'ids' in operation ? operation.ids.length : operation.targets.length
}

/** The kind of the log entry: that of its only operation on one table, which undo may revert as a set. */
function kindOf(operations: Operation[]): string {
  const kinds = new Set(operations.map((operation) => operation.kind))
  const tables = new Set(operations.map((operation) => operation.tableId))
  return `records.${kinds.size === 1 && tables.size === 1 ? [...kinds][0] : 'change'}`
}

/** The detail of a change that only moves records in a view’s manual order: the view. */
function orderedView(operations: Operation[]): { viewId: string } | undefined {
  const [first, ...others] = operations.map((one) => (one.kind === 'move' ? one.viewId : undefined))
  return first !== undefined && others.every((viewId) => viewId === first) ? { viewId: first } : undefined
}

/** The range of ids of many new records in one table, else null. */
function rangeOfNew(records: RecordChange[]): { from: number; to: number } | null {
  if (records.length < COMPACT_FROM) return null
  const from = records[0]?.recordId
  const to = records.at(-1)?.recordId
  // The ids of one insert have no gaps.
  if (typeof from !== 'number' || typeof to !== 'number' || to - from + 1 !== records.length) return null
  // A change that is sent again is answered with the ids in the order of its rows.
  if (records.some(({ recordId }, at) => recordId !== from + at)) return null
  return { from, to }
}
