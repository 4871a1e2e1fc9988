import { type SQL, sql } from 'drizzle-orm'
import type { Values } from '../../../src/core/changes.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
import { chunks, columnName, idIn, isOurs, type WriteContext } from '../table/index.ts'

interface Row {
  id: RecordId
  values: Values
}

/**
 * Lets records hand values of unique fields to one another in one change, as where two cells are swapped or a
 * column moves down by one: the database looks at each row by itself, and would find such a value twice on the
 * way. Whoever has what another one is given is emptied first; all of them are written right after.
 *
 * @param before what the records hold, by id as text
 */
export async function handOver(
  context: WriteContext,
  rows: Row[],
  before: ReadonlyMap<string, Values>,
): Promise<void> {
  const { tx, dialect, model } = context
  if (rows.length < 2 || !isOurs(model)) return
  for (const field of model.fields.filter(({ unique }) => unique)) {
    for (const chunk of chunks(handingOver(field, rows, before))) {
      const column: SQL = sql`${sql.identifier(columnName(field))}`
      await tx.run(
        dialect.render(sql`update ${sql.identifier(model.table.tableName)} set ${column} = null
          where ${idIn(model, chunk)}`),
      )
    }
  }
}

/** Records that are given another value of a field while another record is given the one that they have. */
function handingOver({ id: fieldId }: Field, rows: Row[], before: ReadonlyMap<string, Values>): RecordId[] {
  const takers = new Map<string, RecordId>()
  for (const { id, values } of rows) {
    const value = values[fieldId] ?? null
    if (value !== null) takers.set(String(value), id)
  }
  const givers = rows.filter(({ id, values }) => {
    const held = before.get(String(id))?.[fieldId] ?? null
    if (held === null || !(fieldId in values) || values[fieldId] === held) return false
    const taker = takers.get(String(held))
    return taker !== undefined && String(taker) !== String(id)
  })
  return [...new Set(givers.map(({ id }) => id))]
}
