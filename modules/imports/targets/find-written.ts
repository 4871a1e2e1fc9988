import type { CellValue } from '../../../src/core/fields/field-type.ts'
import type { RecordId } from '../../../src/core/model.ts'
import type { StoredRecord } from '../../records/index.ts'
import type { ConnectedDeps, ConnectedImport } from './connected-import.ts'
import type { RowPlanner } from './plan-rows.ts'
import { type Mark, RowState, readReason, type StagedRow, writeReason } from './staged-rows.ts'

/** Records of others that may be among those added since a chunk began. */
const OTHERS = 5_000

/**
 * Looks in the table for rows that were being written when the process or the connection ended. Rows are recognized by their
 * key, by the fields that find records, or, where the database numbers its records, by their values among those with a higher
 * number than the highest before. What cannot be told is uncertain.
 *
 * @param rows all of one chunk, `adding` or `changing`
 * @returns their states; null for those that are not there
 */
export async function findWritten(
  { records }: Pick<ConnectedDeps, 'records'>,
  { model, input }: Pick<ConnectedImport, 'model' | 'input'>,
  planner: RowPlanner,
  rows: readonly StagedRow[],
): Promise<Mark[]> {
  // Changing a record again to the same values does nothing.
  const marks: Mark[] = rows.flatMap(({ number, state }) =>
    state === RowState.changing ? [{ number, state: null, reason: null }] : [],
  )
  const added = rows.filter(({ state }) => state === RowState.adding)
  if (added.length === 0) return marks
  const markOf = (
    { number, reason }: StagedRow,
    state: RowState | null,
    id: RecordId | null = null,
  ): Mark => {
    const { problems = [], later } = readReason(reason)
    const kept = { problems, later: later && { id }, id: input.keepsRows ? (id ?? undefined) : undefined }
    return { number, state, reason: state === RowState.added ? writeReason(kept) : null }
  }
  const known = await planner.findByKey(added)
  if (known) {
    return [
      ...marks,
      ...added.map((row) => {
        const id = known.get(row.number)
        return id === undefined ? markOf(row, null) : markOf(row, RowState.added, id)
      }),
    ]
  }
  const top = readReason(added[0]?.reason ?? null).top
  if (top === undefined) return [...marks, ...added.map((row) => markOf(row, RowState.uncertain))]
  const limit = added.length + OTHERS
  const found = await records.readAbove(model, top, planner.valueFields, limit)
  if (found.length === 0) return [...marks, ...added.map((row) => markOf(row, null))]
  const ids = found.length < limit ? findEach(added, found, planner) : null
  return [
    ...marks,
    ...added.map((row) =>
      ids ? markOf(row, RowState.added, ids.get(row.number)) : markOf(row, RowState.uncertain),
    ),
  ]
}

/** The record with the values of each row; null unless each has one of its own. Empty cells have the default of the database. */
function findEach(
  rows: readonly StagedRow[],
  found: readonly StoredRecord[],
  planner: RowPlanner,
): ReadonlyMap<number, RecordId> | null {
  const free = new Set(found)
  const ids = new Map<number, RecordId>()
  for (const row of rows) {
    const values = Object.entries(planner.valuesOf(row)).filter(([, value]) => value !== null)
    const record = [...free].find((one) =>
      values.every(([fieldId, value]) => isSame(one.values[fieldId] ?? null, value)),
    )
    if (!record) return null
    free.delete(record)
    ids.set(row.number, record.id)
  }
  return ids
}

const isSame = (stored: CellValue, given: CellValue): boolean => String(stored) === String(given)
