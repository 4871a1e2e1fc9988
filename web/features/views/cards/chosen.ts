import type { RecordId } from '../../../../src/core/model.ts'
import { isChecked, withChecked } from '../../../grid/checks.ts'
import type { CheckedRows, GridSource } from '../../../grid/contract.ts'

export { countChecked, isChecked, NO_ROWS } from '../../../grid/checks.ts'

/** Adds a card to the selection, or removes it. */
export const toggled = (checked: CheckedRows, id: RecordId): CheckedRows =>
  withChecked(checked, [id], !isChecked(checked, id))

/** Selects exactly a range of cards, without those that are not loaded. */
export function run(idAt: (index: number) => RecordId | undefined, from: number, to: number): CheckedRows {
  const ids = new Set<RecordId>()
  for (let index = Math.min(from, to); index <= Math.max(from, to); index++) {
    const id = idAt(index)
    if (id !== undefined) ids.add(id)
  }
  return { kind: 'some', ids }
}

/** Records in the order of the view, not in that of their selection; those that are not loaded come last. */
export function inViewOrder(source: Pick<GridSource, 'indexOf'>, ids: Iterable<RecordId>): RecordId[] {
  const indexOf = (id: RecordId) => source.indexOf(id) ?? Number.MAX_SAFE_INTEGER
  return [...ids].sort((a, b) => indexOf(a) - indexOf(b))
}
