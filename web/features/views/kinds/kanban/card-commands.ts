import type { RecordId } from '../../../../../src/core/model.ts'
import { m } from '../../../../messages.gen.ts'
import type { TableContext } from '../../../records/context/table-context.ts'
import type { Board } from './create-board.ts'
import { type DropPlace, dropOperations } from './move.ts'
import { type StackBy, type StackKey, stackValues, takesRecords } from './stack-by.ts'

/** What moving cards works with. */
export interface MoveContext {
  context: TableContext
  board: Board
  by: StackBy
  /** True where cards may be put into an order by hand; else why not. */
  order: true | string
  titleOf(key: StackKey): string
}

/** The card ahead of which cards go that are dropped at an index; null: to the end; undefined: it is not loaded. */
export function cardAhead(board: Board, key: StackKey, index: number): RecordId | null | undefined {
  const lane = board.lanes.lane(key)
  return index >= board.lanes.length(lane) ? null : lane.segments.idAt(index)
}

/** Why cards cannot be dropped into a stack; null where they can. */
export function dropRefusal(
  { board, by, order }: MoveContext,
  ids: readonly RecordId[],
  key: StackKey,
): string | null {
  const stays = ids.every((id) => board.keyOf(id) === key)
  if (stays) return order === true ? null : order
  if (takesRecords(by, key)) return null
  return by.field.readOnlyReason ?? m.kanban_field_needs_a_value({ field: by.field.title })
}

/** Moves cards to a place as one change. True where something moved; a refusal is told, and all is as before. */
export function moveCards(move: MoveContext, ids: readonly RecordId[], to: DropPlace): boolean {
  const { context, board, by, order, titleOf } = move
  const { store } = context
  const known = ids.filter(store.isSaved).map(store.realId)
  const operations = dropOperations({
    by,
    ids: known,
    to,
    keyOf: (id) => board.keyOf(id) ?? null,
    nextOf: board.nextOf,
    viewId: order === true ? context.state.view.id : null,
  })
  if (operations.length === 0) return false
  // The key is written; the link beside it, which the open record shows, looks right at once.
  const values = { [by.field.id]: null, ...stackValues(by, to.key, titleOf(to.key)) }
  const looks = by.kind === 'record' ? known.map((id) => ({ id, values })) : []
  void store.apply(operations, { rollsBack: true, looks })
  return true
}
