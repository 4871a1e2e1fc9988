import { definitionEntries } from '../../../src/db/change-log/entries.ts'
import { lastChangeId } from '../../../src/db/change-log/entry.ts'
import type { Engine } from '../../../src/dialects/dialect.ts'
import type { FieldDefinition } from '../model/index.ts'
import type { FieldDetail } from './undo.ts'

/** The changes of the fields of a table after an entry of the log, oldest first. */
export interface FieldChanges {
  /** What each of them replaced. */
  replaced: readonly { id: number; fieldId: string; definition: FieldDefinition }[]
  /** An entry up to which all are known. */
  upTo: number
}

/**
 * What the fields of a table were like from an entry of the log on, by their ids, oldest first and without what they are now: those
 * that have been changed since.
 */
export type DefinitionsAt = (entryId: number) => ReadonlyMap<string, readonly FieldDefinition[]>

/**
 * Reads the log from an entry on.
 *
 * @param known what was read before, e.g. without the write lease: only the rest is read
 */
export async function fieldChangesSince(
  engine: Engine,
  tableId: string,
  entryId: number,
  known?: FieldChanges,
): Promise<FieldChanges> {
  const from = known?.upTo ?? entryId
  const upTo = Math.max(from, await lastChangeId(engine))
  const entries = await definitionEntries(engine, from, { tableId, kind: 'field.update' })
  const replaced = entries.flatMap(({ id, action, direction }) => {
    if (action?.kind !== 'field.update') return []
    const { fieldId, before, after } = action.detail as FieldDetail
    return [{ id, fieldId, definition: direction === 'undo' ? after : before }]
  })
  return { replaced: [...(known?.replaced ?? []), ...replaced], upTo }
}

/** Tells what the fields of a table were like at the first of the changes, and later. */
export const definitionsAt =
  ({ replaced }: FieldChanges): DefinitionsAt =>
  (entryId) => {
    const found = new Map<string, FieldDefinition[]>()
    for (const { id, fieldId, definition } of replaced) {
      if (id <= entryId) continue
      const known = found.get(fieldId)
      if (known) known.push(definition)
      else found.set(fieldId, [definition])
    }
    return found
  }
