import type { Actor } from '../../../src/core/actor.ts'
import { cellText } from '../../../src/core/fields/cell-text.ts'
import type { RecordId } from '../../../src/core/model.ts'
import type { SchemaReader } from '../../schema/index.ts'
import type { Reader } from './read.ts'

/** Tables to search: the one on screen, then the first of the base. */
const MAX_TABLES = 40
/** Results per table, and in total. */
const PER_TABLE = 5
const MAX_FOUND = 20

/** A record in the results of the command palette. */
export interface NamedRecord {
  tableId: string
  recordId: RecordId
  name: string
}

export interface NameSearch {
  baseId: string
  text: string
  /** The table on the screen. */
  tableId?: string
}

/**
 * Finds records of a base by name, those of the table on screen first. Queries one table after another until there
 * are enough results.
 */
export function createFindByName(
  reader: Pick<Reader, 'open' | 'page'>,
  schema: Pick<SchemaReader, 'tables'>,
) {
  /** @throws BASE_NOT_FOUND, PERMISSION_DENIED */
  return async function findByName(
    actor: Actor,
    { baseId, text, tableId }: NameSearch,
  ): Promise<NamedRecord[]> {
    const tables = await schema.tables(actor, baseId)
    const inOrder = tables.toSorted((a, b) => Number(b.id === tableId) - Number(a.id === tableId))
    const found: NamedRecord[] = []
    for (const table of inOrder.slice(0, MAX_TABLES)) {
      const opened = await reader.open(actor, table.id)
      const { displayField } = opened.model
      const search = { text, fieldId: displayField.id }
      const query = { tableId: table.id, search, limit: PER_TABLE, offset: 0 }
      const { ids, rows } = await reader.page(opened, query, [displayField])
      const people = opened.context.moment.people ?? []
      ids.forEach((recordId, at) => {
        const name = cellText(displayField, rows[at]?.[0] ?? null, { people, timeZone: 'UTC' })
        found.push({ tableId: table.id, recordId, name })
      })
      if (found.length >= MAX_FOUND) break
    }
    return found.slice(0, MAX_FOUND)
  }
}
