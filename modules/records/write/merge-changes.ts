import { breathing } from '../../../src/breathe.ts'
import type { RecordChange } from '../../../src/core/changes.ts'

/**
 * One entry for each record that a change touched, however often: what it was before the first
 * operation and after the last. A record that came and went within the change is left out.
 */
export async function mergeChanges(records: RecordChange[]): Promise<RecordChange[]> {
  const merged = new Map<string, RecordChange>()
  for await (const next of breathing(records)) {
    const key = `${next.tableId} ${next.recordId}`
    const earlier = merged.get(key)
    merged.set(key, earlier ? join(earlier, next) : next)
  }
  const all = [...merged.values()]
  return all.filter(({ before, after }) => before !== null || after !== null)
}

/** Each side holds the fields that either operation touched; on the way in the earlier knows, on the way out the later. */
function join(earlier: RecordChange, later: RecordChange): RecordChange {
  return {
    ...later,
    before: earlier.before && { ...later.before, ...earlier.before },
    after: later.after && { ...earlier.after, ...later.after },
  }
}
