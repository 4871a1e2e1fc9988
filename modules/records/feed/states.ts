import type { Values } from '../../../src/core/changes.ts'
import type { RecordId } from '../../../src/core/model.ts'
import { linesSince } from '../../../src/db/change-log/records.ts'
import type { Engine } from '../../../src/dialects/dialect.ts'
import { type Opened, storedFields } from '../read/index.ts'
import { chunks, isForeign, readRecords, storedId } from '../table/index.ts'

/** A record that an entry touches. */
export interface Touch {
  entryId: number
  recordId: RecordId
}

/** The stored values of a record before and after an entry, by field id; null: it did not exist. */
export interface RecordState {
  before: Values | null
  after: Values | null
}

/**
 * The states of records around entries of the log, however much later they are asked for: the values of now, with all
 * later changes taken back. Both are null for a record of which the log has nothing any more.
 *
 * @param home the database with the log of the base, also of its connected tables
 * @returns in the order of the touches
 */
export async function statesAround(
  { engine, model }: Pick<Opened, 'engine' | 'model'>,
  home: Engine,
  touches: readonly Touch[],
): Promise<RecordState[]> {
  const states = new Map<string, RecordState>()
  const keyOf = (entryId: number, recordId: RecordId) => `${entryId} ${recordId}`
  const { dialect } = engine
  const byRecord = Map.groupBy(touches, ({ recordId }) => recordId)
  const from = Math.min(...touches.map(({ entryId }) => entryId))
  for (const recordIds of chunks([...byRecord.keys()])) {
    const read = async () => {
      // Before the log: a change that comes in between is taken back from values that do not have it yet, which changes nothing.
      const current = await readRecords({ tx: engine, dialect, model }, recordIds, storedFields(model))
      return [
        current,
        await linesSince(home, home.dialect, { tableId: model.table.id, recordIds, from }),
      ] as const
    }
    // A connected database commits before the log does: between the two, the log lacks a change that the values have.
    const [now, lines] = await (isForeign(model) ? home.exclusively(read) : read())
    const linesOf = Map.groupBy(lines, ({ record_id }) => storedId(model, record_id))
    for (const recordId of recordIds) {
      let state = now.get(String(recordId)) ?? null
      const own = linesOf.get(recordId) ?? []
      const listed = new Set(own.map(({ change_id }) => Number(change_id)))
      // Entries that added it as one of a range have no line.
      const ranged = (byRecord.get(recordId) ?? []).filter(({ entryId }) => !listed.has(entryId))
      for (const { change_id, before, after } of own) {
        const entryId = Number(change_id)
        // The last value of a deleted record is in its line.
        const earlier = before === null ? null : (JSON.parse(before) as Values)
        const previous = earlier === null ? null : after === null ? earlier : { ...state, ...earlier }
        states.set(keyOf(entryId, recordId), { before: previous, after: after === null ? null : state })
        state = previous
      }
      for (const { entryId } of ranged) {
        states.set(keyOf(entryId, recordId), { before: null, after: state })
      }
    }
  }
  return touches.map(
    ({ entryId, recordId }) => states.get(keyOf(entryId, recordId)) ?? { before: null, after: null },
  )
}
