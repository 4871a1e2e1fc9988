import type { RecordPage } from '../../../../../src/core/model.ts'
import type { GridRow } from '../../../../grid/source.ts'
import type { RowRange } from '../../../records/store/segments.ts'
import type { Columns } from '../../../records/store/types.ts'
import type { BoardState } from './board-state.ts'
import type { Lane } from './lane.ts'
import type { StackKey } from './stack-by.ts'

/** Cards of a stack that are kept at most, however far one scrolls. */
const MAX_CARDS = 3000

interface Answer {
  page: RecordPage
  range: RowRange
  columns: Columns
  /** The moment it was asked for, as `rows.now` told it. */
  askedAt: number
}

type KeyOf = (row: GridRow) => StackKey

/** Puts a page of a stack in its place. Cards that left the stack since it was read stay where they are. */
export function placePage(
  { state, lanes }: BoardState,
  keyOf: KeyOf,
  lane: Lane,
  { page, range, columns, askedAt }: Answer,
): void {
  const { rows } = state
  const wasLane = page.ids.map((id) => lanes.of(id))
  for (const [at, id] of page.ids.entries()) rows.store(id, columns, page.rows[at] ?? [], askedAt)
  const ids = page.ids.filter((id, at) => {
    const row = rows.row(id)
    return row && (keyOf(row) === lane.key || wasLane[at] === undefined || wasLane[at] === lane)
  })
  const dropped = lanes.put(lane, range.first, ids)
  const end = range.first + page.ids.length
  if (page.ids.length < range.last - range.first + 1 && (page.ids.length > 0 || range.first === 0))
    lane.count = Math.max(end, lane.segments.end)
  const isPinned = (id: string | number) => rows.drafts.has(id) || rows.edits.has(id)
  rows.forget([...dropped, ...lanes.evict(lane, MAX_CARDS, range, isPinned)])
  lanes.changed(lane)
  // A card that stood here before draws what was read anew: fields that are shown by now, other values.
  for (const id of ids) {
    const row = rows.row(id)
    if (row && keyOf(row) === lane.key) state.rowChanged(id)
  }
}

/** Puts a page in the place of all that is known of a stack; records not made yet go to its end. */
export function replaceLane(board: BoardState, keyOf: KeyOf, lane: Lane, answer: Answer): void {
  const { state, lanes } = board
  const { rows } = state
  const before = lanes.clear(lane)
  rows.forget(before.filter((id) => !answer.page.ids.includes(id) && !rows.drafts.has(id)))
  for (const id of before) rows.unmatched.delete(id)
  placePage(board, keyOf, lane, answer)
  const drafts = [...rows.drafts.keys()].filter((id) => {
    const row = rows.row(id)
    return lanes.of(id) === undefined && row !== undefined && keyOf(row) === lane.key
  })
  if (drafts.length > 0) lanes.insert(lane, lanes.length(lane), drafts)
}
