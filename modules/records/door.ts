import type { Actor } from '../../src/core/actor.ts'
import type { AppliedChange, Change, Operation, RecordChange } from '../../src/core/changes.ts'
import { toStored } from '../../src/core/dates.ts'
import { AppError, notFound } from '../../src/core/errors.ts'
import type { Right } from '../../src/core/roles.ts'
import { appendChange, type NewEntry } from '../../src/db/change-log.ts'
import type { Dialect, Transaction } from '../../src/dialects/dialect.ts'
import type { Kernel } from '../../src/kernel.ts'
import type { AuthService } from '../auth/index.ts'
import type { SchemaService, TableModel } from '../schema/index.ts'
import { wholeSecond } from './columns.ts'
import type { RowCounts } from './row-counts.ts'
import { checkNewValues, checkValues } from './validate.ts'
import {
  deleteRecords,
  insertRecords,
  moveRecords,
  restoreRecords,
  updateRecords,
  type WriteContext,
} from './write.ts'

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
  inserted: (number | string)[]
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
      prepare: async (operation) => checkOperation(await schema.load(operation.tableId), operation),
    })
  }

  /** As `apply`, for operations that were checked before: undo and redo, whose values come from the log. */
  async function write<O extends CheckedOperation>(
    actor: Actor,
    change: Omit<Change, 'operations'> & { operations: O[] },
    how: {
      entry: Pick<NewEntry, 'kind' | 'undoes' | 'redoes' | 'detail'>
      prepare?: (operation: O) => Promise<CheckedOperation>
      /** Runs in the same transaction, after the entry is written. */
      finish?: (tx: Transaction, dialect: Dialect, entryId: number) => Promise<void>
    },
  ): Promise<Written> {
    const engine = kernel.sources.engine(change.baseId)
    const { dialect } = engine
    const actorId = actor.kind === 'user' ? actor.id : null
    const records: RecordChange[] = []
    const applied = await engine
      .write(async (tx) => {
        const now = toStored(wholeSecond())
        for (const raw of change.operations) {
          // Checked inside the lease: no schema change can come between the check and the write.
          const operation = how.prepare ? await how.prepare(raw) : raw
          const model = await schema.load(operation.tableId)
          for (const record of await run({ tx, dialect, model, actorId, now }, operation))
            records.push(record)
        }
        const range = compactRange(change.operations, records)
        const entry = await appendChange(tx, dialect, {
          actorId,
          tableId: change.operations[0]?.tableId ?? null,
          ...how.entry,
          records: range ? [] : records,
          recordCount: records.length,
          detail: range ?? how.entry.detail,
        })
        await how.finish?.(tx, dialect, entry.id)
        return entry
      })
      .catch(async (error) => {
        throw await explain(error, change.operations, dialect)
      })
    for (const record of records) {
      if (record.before === null) counts.add(record.tableId, 1)
      if (record.after === null) counts.add(record.tableId, -1)
    }
    const truncated = records.length > LISTED
    const report: AppliedChange = {
      id: applied.id,
      baseId: change.baseId,
      clientId: change.clientId,
      actorId,
      at: applied.at,
      records: truncated ? [] : records,
      truncated,
      tableIds: [...new Set(change.operations.map((operation) => operation.tableId))],
    }
    kernel.events.emit('records.changed', report)
    return { ...report, inserted: records.filter((r) => r.before === null).map((r) => r.recordId) }
  }

  /** Turns a constraint of the database into words about the table's own field. */
  async function explain(error: unknown, operations: CheckedOperation[], dialect: Dialect): Promise<unknown> {
    const violation = dialect.violation(error)
    if (!violation) return error
    const models = await Promise.all(operations.map((operation) => schema.load(operation.tableId)))
    const field = models
      .flatMap((model) => model.fields)
      .find((f) => violation.columns.includes(f.columnName))
    const name = field?.title ?? violation.columns.join(', ')
    const details = { fieldId: field?.id, field: name }
    return violation.kind === 'unique'
      ? new AppError(
          'DATABASE_ERROR',
          `This record already exists: the values of "${name}" must be unique`,
          details,
        )
      : new AppError('REQUIRED_FIELD_MISSING', `Field '${name}' is required`, details)
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
  switch (operation.kind) {
    case 'insert':
      return {
        ...operation,
        rows: operation.rows.map(({ values }) => ({ values: checkNewValues(model, values) })),
      }
    case 'update':
      return {
        ...operation,
        rows: operation.rows.map(({ id, values }) => ({ id, values: checkValues(model, values) })),
      }
    default:
      return operation
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

/** The range of ids of a change that only adds many records to one table, else null. */
function compactRange(
  operations: CheckedOperation[],
  records: RecordChange[],
): { from: number; to: number } | null {
  if (operations.length !== 1 || operations[0]?.kind !== 'insert' || records.length < COMPACT_FROM)
    return null
  const from = records[0]?.recordId
  const to = records.at(-1)?.recordId
  // Ids of one insert are given without a gap, so the two ends say them all.
  if (typeof from !== 'number' || typeof to !== 'number' || to - from + 1 !== records.length) return null
  return { from, to }
}
