import type { Operation } from '../../../../../src/core/changes.ts'
import type { RecordId } from '../../../../../src/core/model.ts'
import type { StackBy, StackKey } from './stack-by.ts'
import { stackValue } from './stack-by.ts'

/** Where cards are dropped: in a stack, ahead of a card of it; null: at its end. */
export interface DropPlace {
  key: StackKey
  before: RecordId | null
}

export interface DropRequest {
  by: StackBy
  /** The cards in the order of the board. */
  ids: readonly RecordId[]
  /** The stack that a card is in. */
  keyOf: (id: RecordId) => StackKey
  /** The card after one in its stack; null: it is the last, undefined: it is not known. */
  nextOf: (id: RecordId) => RecordId | null | undefined
  to: DropPlace
  /** The view in whose manual order the cards get a place; null: they get none. */
  viewId: string | null
}

/**
 * What dropping cards writes, as one change: the value of their new stack, and their place in the table's own
 * order. Empty where they stand there already.
 */
export function dropOperations({ by, ids, keyOf, nextOf, to, viewId }: DropRequest): Operation[] {
  const { tableId } = by.field
  const moved = new Set(ids)
  const value = stackValue(by, to.key)
  const strangers = ids.filter((id) => keyOf(id) !== to.key)
  const operations: Operation[] = []
  if (strangers.length > 0) {
    const rows = strangers.map((id) => ({ id, values: { [by.keyField.id]: value } }))
    operations.push({ kind: 'update', tableId, rows })
  }
  const before = skipMoved(to.before, moved, nextOf)
  const isThere = strangers.length === 0 && standBefore(ids, before, nextOf)
  if (viewId !== null && !isThere) operations.push({ kind: 'move', tableId, ids: [...ids], before, viewId })
  return operations
}

/** A card ahead of which the moved ones go must not be one of them. */
function skipMoved(
  before: RecordId | null,
  moved: ReadonlySet<RecordId>,
  nextOf: DropRequest['nextOf'],
): RecordId | null {
  let at = before
  while (at !== null && moved.has(at)) at = nextOf(at) ?? null
  return at
}

/** True where the cards stand one after the other, right ahead of that one. */
const standBefore = (
  ids: readonly RecordId[],
  before: RecordId | null,
  nextOf: DropRequest['nextOf'],
): boolean => ids.every((id, at) => nextOf(id) === (ids[at + 1] ?? before))
