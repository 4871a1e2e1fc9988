import { definitionEntries } from '../../../src/db/change-log.ts'
import type { Engine } from '../../../src/dialects/dialect.ts'
import type { FieldDefinition } from '../model/index.ts'
import type { FieldDetail } from './undo.ts'

/** What fields were like at an entry of the log, by their ids: those that have been changed since. */
export async function definitionsAt(
  engine: Engine,
  entryId: number,
): Promise<ReadonlyMap<string, FieldDefinition>> {
  const found = new Map<string, FieldDefinition>()
  for (const { action, direction } of await definitionEntries(engine, entryId)) {
    if (action?.kind !== 'field.update') continue
    const { fieldId, before, after } = action.detail as FieldDetail
    // The first change since tells.
    if (!found.has(fieldId)) found.set(fieldId, direction === 'undo' ? after : before)
  }
  return found
}
