import type { Actor } from '../../src/core/actor.ts'
import type { AppliedChange, Change, Operation, RecordChange } from '../../src/core/changes.ts'
import { toStored } from '../../src/core/dates.ts'
import { AppError, notFound } from '../../src/core/errors.ts'
import type { RecordId } from '../../src/core/model.ts'
import type { Right } from '../../src/core/roles.ts'
import { appendChange, lastChangeId, type NewEntry } from '../../src/db/change-log.ts'
import type { Dialect, Transaction } from '../../src/dialects/dialect.ts'
import type { Kernel } from '../../src/kernel.ts'
import type { AuthService } from '../auth/index.ts'
import type { SchemaService, TableModel } from '../schema/index.ts'
import { storedId, wholeSecond } from './columns.ts'
import { explainViolation } from './explain.ts'
import { mergeChanges } from './merge.ts'
import { findRepeated } from './repeat.ts'
import type { RowCounts } from './row-counts.ts'
import { checkNewValues, checkValues } from './validate.ts'
import { deleteRecords, insertRecords, moveRecords, restoreRecords, updateRecords } from './write.ts'
import type { WriteContext } from './write-context.ts'

/** Most records that one change may write. */
export const MAX_RECORDS = 50_000

/** From this many on, a change that only adds records keeps their range in the log and not each of them. */
const COMPACT_FROM = 100

/** Most records that are listed in the answer and sent to other browsers; past that they read again. */
const LISTED = 500

const RIGHT_OF: Record<Operation['kind'], Right> = {
  insert: 'record.create',
  update: 'record.update',
  delete: 'record.delete',
  move: 'record.update',
}

/** What the door reports to the one who wrote. */
export interface Written extends AppliedChange {
  /** Ids of the added records, in the order of the operations. */
  inserted: RecordId[]
  /** How many records were written, listed or not. */
  count: number
}

export type Door = ReturnType<typeof createDoor>

/** An operation whose values are stored values already; `restore` brings deleted records back. */
export type CheckedOperation =
  | Operation
  | { kind: 'restore'; tableId: string; rows: Extract<Operation, { kind: 'update' }>['rows'] }

interface Deps {
  kernel: Pick<Kernel, 'sources' | 'events'>
  auth: Pick<AuthService, 'access'>
  schema: Pick<SchemaService, 'load'>
  counts: RowCounts
}

/** The write door: every change of records passes here, whoever makes it. */
export function createDoor({ kernel, auth, schema, counts }: Deps) {
  /**
   * Writes a change: all of it or none, with its line in the log.
   *
   * @throws TABLE_NOT_FOUND, RECORD_NOT_FOUND, FIELD_NOT_FOUND; PERMISSION_DENIED below editor;
   *   INVALID_VALUE_FOR_FIELD and REQUIRED_FIELD_MISSING naming the field; nothing is written then
   */
  async function apply(actor: Actor, change: Change): Promise<Written> {
    for (const operation of change.operations) {
      const { table } = await schema.load(operation.tableId)
      if (table.baseId !== change.baseId) throw notFound('Table', operation.tableId)
      await auth.access.authorize(actor, RIGHT_OF[operation.kind], change.baseId)
    }
    refuseTooMany(change.operations)
    return write(actor, change, {
      entry: { kind: kindOf(change.operations) },
      plan: () =>
        Promise.all(
          change.operations.map(async (operation) =>
            checkOperation(await schema.load(operation.tableId), operation),
          ),
        ),
    })
  }

  /** As `apply`, for operations that were checked before: undo and redo, whose values come from the log. */
  async function write(
    actor: Actor,
    { baseId, clientId }: Pick<Change, 'baseId' | 'clientId'>,
    how: {
      entry: Pick<NewEntry, 'kind' | 'undoes' | 'redoes'> & { tableId?: string | null }
      /** What is to be written. Called inside the lease: nothing can come between it and the write. */
      plan: () => Promise<CheckedOperation[]>
      /** Runs in the same transaction, after the entry is written. With it an entry is written in any case. */
      finish?: (tx: Transaction, dialect: Dialect, entryId: number) => Promise<void>
    },
  ): Promise<Written> {
    const engine = kernel.sources.engine(baseId)
    const { dialect } = engine
    const actorId = actor.kind === 'user' ? actor.id : null
    const models = new Map<string, TableModel>()

    async function writeAll(tx: Transaction) {
      const repeated = clientId && actorId ? await findRepeated(tx, actorId, clientId) : null
      if (repeated) return { ...repeated, isRepeated: true }
      const now = toStored(wholeSecond())
      const operations = await how.plan()
      const touched: RecordChange[] = []
      for (const operation of operations) {
        const model = await schema.load(operation.tableId)
        models.set(operation.tableId, model)
        for (const record of await run({ tx, dialect, model, actorId, now }, operation)) touched.push(record)
      }
      const [only] = operations
      const isPlainInsert = operations.length === 1 && only?.kind === 'insert'
      const records = isPlainInsert ? touched : mergeChanges(touched)
      const inserted = touched.filter(({ before }) => before === null).map(({ recordId }) => recordId)
      if (records.length === 0 && !how.finish) {
        const entry = { id: await lastChangeId(tx), at: new Date().toISOString() }
        return { records, inserted, entry, count: 0, tableIds: [], isRepeated: false }
      }
      const range = isPlainInsert ? rangeOfNew(records) : null
      const entry = await appendChange(tx, dialect, {
        actorId,
        clientId,
        actionId: actor.kind === 'user' ? actor.actionId : undefined,
        tableId: only?.tableId ?? null,
        ...how.entry,
        records: range ? [] : records,
        recordCount: records.length,
        detail: range ?? undefined,
      })
      await how.finish?.(tx, dialect, entry.id)
      const { length: count } = records
      return { records, inserted, entry, count, tableIds: [...models.keys()], isRepeated: false }
    }

    // Counted in the same breath as the commit: whoever counts rows sees both or neither.
    const count = ({ records, isRepeated }: { records: RecordChange[]; isRepeated: boolean }) => {
      if (isRepeated) return
      for (const { tableId, before, after } of records) {
        if (before === null) counts.add(tableId, 1)
        if (after === null) counts.add(tableId, -1)
      }
    }

    // What is planned from the records as they stand must not meet writes that are not committed yet.
    const written = how.finish
      ? engine.write(writeAll, async (result) => count(result))
      : engine.writeTogether(writeAll, count)
    const { records, inserted, entry, tableIds, isRepeated, ...result } = await written.catch((error) => {
      throw explainViolation(error, [...models.values()], dialect)
    })
    // The log keeps a repeated change of many new records as their range, without their values.
    const truncated = result.count > LISTED || records.length < result.count
    const report: AppliedChange = {
      id: entry.id,
      baseId,
      clientId,
      actorId,
      at: entry.at,
      records: truncated ? [] : records,
      truncated,
      tableIds,
    }
    if (records.length > 0 && !isRepeated) kernel.events.emit('records.changed', report)
    return { ...report, inserted, count: result.count }
  }

  return { apply, write }
}

function run(context: WriteContext, operation: CheckedOperation): Promise<RecordChange[]> {
  switch (operation.kind) {
    case 'insert':
      return insertRecords(context, operation)
    case 'update':
      return updateRecords(context, operation.rows)
    case 'delete':
      return deleteRecords(context, operation.ids)
    case 'move':
      return moveRecords(context, operation.ids, operation.before)
    case 'restore':
      return restoreRecords(context, operation.rows)
  }
}

function checkOperation(model: TableModel, operation: Operation): Operation {
  const idOf = (id: RecordId) => storedId(model, id)
  const place = (before: RecordId | null | undefined) => (before == null ? null : idOf(before))
  switch (operation.kind) {
    case 'insert':
      return {
        ...operation,
        rows: operation.rows.map(({ values }) => ({ values: checkNewValues(model, values) })),
        before: place(operation.before),
      }
    case 'update':
      return {
        ...operation,
        rows: operation.rows.map(({ id, values }) => ({ id: idOf(id), values: checkValues(model, values) })),
      }
    case 'delete':
      return { ...operation, ids: [...new Set(operation.ids.map(idOf))] }
    case 'move':
      return { ...operation, ids: [...new Set(operation.ids.map(idOf))], before: place(operation.before) }
  }
}

function refuseTooMany(operations: Operation[]): void {
  const count = operations.reduce((sum, o) => sum + ('rows' in o ? o.rows.length : o.ids.length), 0)
  if (count > MAX_RECORDS) {
    throw new AppError('BAD_REQUEST', `A change may write ${MAX_RECORDS} records at most, not ${count}`)
  }
}

function kindOf(operations: Operation[]): string {
  const kinds = new Set(operations.map((operation) => operation.kind))
  return `records.${kinds.size === 1 ? [...kinds][0] : 'change'}`
}

/** The range of ids of many new records of one table, else null. */
function rangeOfNew(records: RecordChange[]): { from: number; to: number } | null {
  if (records.length < COMPACT_FROM) return null
  const from = records[0]?.recordId
  const to = records.at(-1)?.recordId
  // Ids of one insert are given without a gap, so the two ends say them all.
  if (typeof from !== 'number' || typeof to !== 'number' || to - from + 1 !== records.length) return null
  return { from, to }
}
