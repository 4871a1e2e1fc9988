import { type SQL, sql } from 'drizzle-orm'
import type { CellValue } from '../core/fields/field-type.ts'
import { fieldType } from '../core/fields/index.ts'
import type { Field, RecordId } from '../core/model.ts'
import type { Engine, Statement } from '../dialects/dialect.ts'

/** Records that are read and written at once: some milliseconds of work, then others have their turn. */
export const PAGE = 2000

/** A record's value of one column. */
export interface ColumnValue {
  id: RecordId
  value: CellValue
}

/** Where values are read: a column or an expression over one row, and how they come out of the database. */
export interface ValueSource {
  column: SQL
  decode: ((value: unknown) => CellValue) | null
}

/** A table whose values are read: its name in the database and its key. */
export interface PagedTable {
  table: { tableName: string }
  primaryKey: Pick<Field, 'type' | 'columnName'>
}

/** Where a field's values lie: its own column, or the system column that it shows. */
export const columnNameOf = (field: Pick<Field, 'type' | 'columnName'>): string =>
  fieldType(field.type).systemColumn ?? field.columnName

/**
 * Every value of a field that is not empty, in pages by ascending record id. Between two pages the
 * thread answers other requests in between.
 *
 * @param read runs a statement: in a transaction, or as a scan beside it
 * @param source where the values are, if not in the field's own column
 */
export async function* pagesOf(
  engine: Pick<Engine, 'dialect'>,
  model: PagedTable,
  field: Pick<Field, 'type' | 'columnName'>,
  read: (statement: Statement) => Promise<ColumnValue[]>,
  source?: ValueSource,
): AsyncGenerator<ColumnValue[]> {
  const { dialect } = engine
  const table = sql.identifier(model.table.tableName)
  const id = sql.identifier(columnNameOf(model.primaryKey))
  const column = source?.column ?? sql`${sql.identifier(columnNameOf(field))}`
  const decode = source ? source.decode : dialect.decode(fieldType(field.type).storage)
  let last: RecordId | null = null
  for (;;) {
    const after = last === null ? sql`` : sql` and ${id} > ${last}`
    const rows: ColumnValue[] = await read(
      dialect.render(
        sql`select ${id} as ${sql.identifier('id')}, ${column} as ${sql.identifier('value')} from ${table}
          where ${column} is not null${after} order by ${id} limit ${PAGE}`,
      ),
    )
    if (decode) for (const row of rows) row.value = decode(row.value)
    if (rows.length > 0) yield rows
    if (rows.length < PAGE) return
    last = rows.at(-1)?.id ?? null
    await Bun.sleep(0)
  }
}

/** Values that stand in a field more than once, the most frequent first, at most five. */
export function duplicatesStatement(engine: Engine, tableName: string, columnName: string): Statement {
  const column = sql.identifier(columnName)
  return engine.dialect.render(
    sql`select ${column} as ${sql.identifier('value')}, count(*) as ${sql.identifier('times')}
      from ${sql.identifier(tableName)} where ${column} is not null
      group by ${column} having count(*) > 1 order by count(*) desc, ${column} limit 5`,
  )
}
