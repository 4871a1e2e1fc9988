import type { Operation } from '../../../../../src/core/changes.ts'
import type { RecordId } from '../../../../../src/core/model.ts'
import type { StackBy, StackKey } from './stack-by.ts'
import { stackValue } from './stack-by.ts'

export interface DropRequest {
  by: StackBy
  /** The cards in the order of the board. */
  ids: readonly RecordId[]
  /** The stack that a card is in. */
  keyOf: (id: RecordId) => StackKey
  /** The stack that they are dropped into. */
  key: StackKey
}

/**
 * What dropping cards writes: the value of their new stack, and nothing else. Cards stand in the order of the view's
 * sorts, or of the table, which grids and galleries show as well: a drop on a board must not change it for them.
 * Empty where all cards are in the stack already.
 */
export function dropOperations({ by, ids, keyOf, key }: DropRequest): Operation[] {
  const strangers = ids.filter((id) => keyOf(id) !== key)
  if (strangers.length === 0) return []
  const value = stackValue(by, key)
  const rows = strangers.map((id) => ({ id, values: { [by.keyField.id]: value } }))
  return [{ kind: 'update', tableId: by.field.tableId, rows }]
}
