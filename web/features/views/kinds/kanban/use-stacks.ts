import { useCallback, useEffect, useMemo, useSyncExternalStore } from 'react'
import type { Person } from '../../../../../src/core/model.ts'
import type { KanbanOptions } from '../../../../../src/core/views/index.ts'
import type { RecordStore } from '../../../records/record-store.ts'
import type { BoardNumbers } from './board-paging.ts'
import type { Board } from './create-board.ts'
import type { StackBy, StackKey } from './stack-by.ts'
import { type StackNumbers, shownStacks, stacksOf } from './stacks.ts'

interface StacksInput {
  board: Board
  store: RecordStore
  by: StackBy
  options: KanbanOptions
  people: readonly Person[]
  numbers: BoardNumbers | null
}

/** The stacks of a board, and those of them that it shows. */
export function useStacks({ board, store, by, options, people, numbers }: StacksInput) {
  // A card that has just come in fills a stack before the server has counted.
  const filled = useSyncExternalStore(
    store.source.subscribe,
    useCallback(() => filledKeys(board), [board]),
  )
  const stacks = useMemo(() => {
    const known = numbers && withFilled(numbers.stacks, JSON.parse(filled) as StackKey[])
    return stacksOf({ by, options, people, numbers: known })
  }, [by, options, people, numbers, filled])
  const shown = useMemo(() => shownStacks(stacks, options.hideEmpty), [stacks, options.hideEmpty])
  useEffect(() => board.setOrder(shown.map(({ key }) => key)), [board, shown])
  return { stacks, shown }
}

const filledKeys = ({ lanes }: Board): string =>
  JSON.stringify(lanes.all().flatMap((lane) => ((lane.count ?? lane.segments.end) > 0 ? [lane.key] : [])))

/** The numbers of stacks, with whether they hold any card as it is at this moment. */
function withFilled(
  numbers: ReadonlyMap<StackKey, StackNumbers>,
  filled: readonly StackKey[],
): ReadonlyMap<StackKey, StackNumbers> {
  const all = new Map<StackKey, StackNumbers>()
  for (const [key, { count, summary }] of numbers)
    all.set(key, { count: filled.includes(key) ? Math.max(1, count) : 0, summary })
  for (const key of filled) if (!all.has(key)) all.set(key, { count: 1, summary: null })
  return all
}
