import type { Operation } from '../../../../../src/core/changes.ts'
import type { RecordId } from '../../../../../src/core/model.ts'
import { m } from '../../../../messages.gen.ts'
import {
  type StackBy,
  type StackKey,
  stackValue,
  stackValues,
  takesRecords,
} from '../../../../records/layouts/stack-by.ts'
import type { StacksLayout } from '../../../../records/layouts/stacks-layout.ts'
import type { TableContext } from '../../../records/context/table-context.ts'

/** Dependencies of `moveCards` and `dropRefusal`. */
export interface MoveContext {
  context: TableContext
  layout: StacksLayout
  by: StackBy
  /** True if cards can be ordered manually, else the reason. */
  order: true | string
  titleOf(key: StackKey): string
}

/** The card before which cards dropped at an index are inserted; null: at the end; undefined: not loaded. */
export function cardAhead(layout: StacksLayout, key: StackKey, index: number): RecordId | null | undefined {
  const cards = layout.loaded.stack(key)
  return index >= layout.loaded.length(cards) ? null : cards.segments.idAt(index)
}

/** Why cards cannot be dropped into a stack; null if they can. */
export function dropRefusal(
  { layout, by, order }: MoveContext,
  ids: readonly RecordId[],
  key: StackKey,
): string | null {
  const stays = ids.every((id) => layout.keyOf(id) === key)
  if (stays) return order === true ? null : order
  if (takesRecords(by, key)) return null
  return by.field.readOnlyReason ?? m.kanban_field_needs_a_value({ field: by.field.title })
}

/** Moves cards to a position as one change. Returns true if something moved; shows the reason otherwise. */
export function moveCards(move: MoveContext, ids: readonly RecordId[], to: DropPosition): boolean {
  const { context, layout, by, order, titleOf } = move
  const { store } = context
  const known = ids.filter(store.isSaved).map(store.realId)
  const operations = dropOperations({
    by,
    ids: known,
    to,
    keyOf: layout.keyOf,
    nextOf: layout.nextOf,
    viewId: order === true ? context.state.view.id : null,
  })
  if (operations.length === 0) return false
  // Writes the key; the link field is updated optimistically for the open record.
  const values = { [by.field.id]: null, ...stackValues(by, to.key, titleOf(to.key)) }
  const looks = by.kind === 'record' ? known.map((id) => ({ id, values })) : []
  void store.apply(operations, { rollsBack: true, previews: looks })
  return true
}

/** Drop position: a stack and the following card; null for the end. */
interface DropPosition {
  key: StackKey
  before: RecordId | null
}

export interface DropRequest {
  by: StackBy
  /** The cards in the order of the kanban. */
  ids: readonly RecordId[]
  /** The stack that a card is in; undefined if it is not loaded. */
  keyOf: (id: RecordId) => StackKey | undefined
  /** The next card in its stack; null for the last, undefined if unknown. */
  nextOf: (id: RecordId) => RecordId | null | undefined
  to: DropPosition
  /** The view whose manual order positions the cards; null: they keep their positions. */
  viewId: string | null
}

/**
 * Operations of a drop, as one change: the value of the new stack and the positions in the table's manual
 * order. Empty if nothing would move.
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

/** Skips moved cards when choosing the card to insert before. */
function skipMoved(
  before: RecordId | null,
  moved: ReadonlySet<RecordId>,
  nextOf: DropRequest['nextOf'],
): RecordId | null {
  let at = before
  while (at !== null && moved.has(at)) at = nextOf(at) ?? null
  return at
}

/** True if the cards are consecutive and directly before that one. */
const standBefore = (
  ids: readonly RecordId[],
  before: RecordId | null,
  nextOf: DropRequest['nextOf'],
): boolean => ids.every((id, at) => nextOf(id) === (ids[at + 1] ?? before))
