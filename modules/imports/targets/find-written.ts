import type { Values } from '../../../src/core/changes.ts'
import type { RecordId } from '../../../src/core/model.ts'
import type { ConnectedDeps, ConnectedImport } from './connected-import.ts'
import type { RowPlanner } from './plan-rows.ts'
import { type Mark, RowState, readReason, type StagedRow, writeReason } from './staged-rows.ts'

/**
 * Looks in the table for rows that were being written when the process or the connection ended: they are there if records have
 * the ids that the database was about to commit, and their values. The database gives a number again where a transaction with it was rolled
 * back, so a record with other values may be somebody else's: then it is uncertain.
 *
 * @param rows all of one chunk, `adding` or `changing`
 * @param committing the ids of the records by number of the row; rows without one were not about to be committed
 * @returns their states; null for those that are not there
 */
export async function findWritten(
  { records }: Pick<ConnectedDeps, 'records'>,
  { model, input }: Pick<ConnectedImport, 'model' | 'input'>,
  planner: RowPlanner,
  rows: readonly StagedRow[],
  committing: ReadonlyMap<number, RecordId>,
): Promise<Mark[]> {
  // Changing a record again to the same values does nothing.
  const marks: Mark[] = rows.flatMap(({ number, state }) =>
    state === RowState.changing ? [{ number, state: null, reason: null }] : [],
  )
  const added = rows.filter(({ state }) => state === RowState.adding)
  const ids = added.flatMap(({ number }) => committing.get(number) ?? [])
  const stored = await records.readStored(model, ids)
  const storedOf = ({ number }: StagedRow) => stored.get(String(committing.get(number)))
  const isThere = added.every((row) => {
    const values = storedOf(row)
    return values && (planner.hasOwnKeys || hasValues(values, planner.valuesOf(row)))
  })
  const markOf = ({ number, reason }: StagedRow): Mark => {
    // All of them are written, or none.
    if (stored.size === 0) return { number, state: null, reason: null }
    if (!isThere) return { number, state: RowState.uncertain, reason: null }
    const { problems = [], later } = readReason(reason)
    const id = committing.get(number)
    const kept = { problems, later: later && { id: id ?? null }, id: input.keepsRows ? id : undefined }
    return { number, state: RowState.added, reason: writeReason(kept) }
  }
  return [...marks, ...added.map(markOf)]
}

/** True if a record has the values of a row. Empty cells have the default of the database. */
const hasValues = (stored: Values, given: Values): boolean =>
  Object.entries(given).every(
    ([fieldId, value]) => value === null || String(stored[fieldId] ?? null) === String(value),
  )
