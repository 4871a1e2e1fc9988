import { definitionEntries } from '../../../src/db/change-log.ts'
import type { Engine } from '../../../src/dialects/dialect.ts'
import type { FieldDefinition } from '../model/index.ts'
import type { FieldDetail } from './undo.ts'

/** What the fields of a table were like at an entry of the log, by their ids: those that have been changed since. */
export type DefinitionsAt = (entryId: number) => ReadonlyMap<string, FieldDefinition>

/** Tells what the fields of a table were like at `oldest` and later entries. Reads the log once, from that entry on. */
export async function definitionsSince(
  engine: Engine,
  tableId: string,
  oldest: number,
): Promise<DefinitionsAt> {
  const entries = await definitionEntries(engine, oldest, { tableId, kind: 'field.update' })
  const changes = entries.flatMap(({ id, action, direction }) => {
    if (action?.kind !== 'field.update') return []
    const { fieldId, before, after } = action.detail as FieldDetail
    return [{ id, fieldId, definition: direction === 'undo' ? after : before }]
  })
  return (entryId) => {
    const found = new Map<string, FieldDefinition>()
    // The first change since tells.
    for (const { id, fieldId, definition } of changes)
      if (id > entryId && !found.has(fieldId)) found.set(fieldId, definition)
    return found
  }
}
