import { definitionEntries } from '../../../src/db/change-log.ts'
import type { Engine } from '../../../src/dialects/dialect.ts'
import type { FieldDefinition } from '../model/index.ts'
import type { FieldDetail } from './undo.ts'

/** What fields were like at an entry of the log, by their ids: those that have been changed since. */
export type DefinitionsAt = (entryId: number) => ReadonlyMap<string, FieldDefinition>

/** Tells what fields were like at `oldest` and later entries. Scans the log once, from that entry on. */
export async function definitionsSince(engine: Engine, oldest: number): Promise<DefinitionsAt> {
  const changes = (await definitionEntries(engine, oldest)).flatMap(({ id, action, direction }) => {
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
