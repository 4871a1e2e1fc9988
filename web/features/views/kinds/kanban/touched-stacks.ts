import type { RecordChange } from '../../../../../src/core/changes.ts'
import type { BoardReads } from './board-paging.ts'
import type { Lanes } from './lane.ts'
import type { StackKey } from './stack-by.ts'

/** The stacks that records were in and are in; undefined where that cannot be told. */
export function touchedStacks(
  lanes: Pick<Lanes, 'of'>,
  { keyFieldId, keyOf }: Pick<BoardReads, 'keyFieldId' | 'keyOf'>,
  touched: readonly RecordChange[],
): Set<StackKey> | undefined {
  const keys = new Set<StackKey>()
  for (const { recordId, before, after } of touched) {
    const lane = lanes.of(recordId)
    if (lane) keys.add(lane.key)
    const sides = [before, after].filter((values) => values && keyFieldId in values)
    for (const values of sides) keys.add(keyOf({ values: (id) => values?.[id] ?? null }))
    if (!lane && sides.length === 0) return undefined
  }
  return keys
}
