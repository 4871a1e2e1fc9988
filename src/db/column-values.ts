import { type SQL, sql } from 'drizzle-orm'
import type { CellValue } from '../core/fields/field-type.ts'
import { fieldType } from '../core/fields/index.ts'
import type { Field, RecordId } from '../core/model.ts'
import type { Engine, Statement } from '../dialects/dialect.ts'

/** Records read and written per step: a few milliseconds of work between turns of the event loop. */
export const PAGE = 2000

/** A record's value of one column. */
export interface ColumnValue {
  id: RecordId
  value: CellValue
}

/** A column or an expression over one row, and how its values are decoded. */
export interface ValueSource {
  column: SQL
  decode: ((value: unknown) => CellValue) | null
}

/** A table to read in pages: its name in the database and its key. */
export interface PagedTable {
  table: { tableName: string }
  primaryKey: Pick<Field, 'type' | 'columnName'>
}

/** The column with a field's values: its own, or the system column that it shows. */
export const columnNameOf = (field: Pick<Field, 'type' | 'columnName'>): string =>
  fieldType(field.type).systemColumn ?? field.columnName

/**
 * The non-empty values of a field, in pages by ascending record id. Yields to other requests between pages.
 *
 * @param read runs a statement, in a transaction or as a scan
 * @param source location of the values, if not the field's own column
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

/** Duplicate values of a field, the most frequent first, at most five. */
export function duplicatesStatement(engine: Engine, tableName: string, columnName: string): Statement {
  const column = sql.identifier(columnName)
  return engine.dialect.render(
    sql`select ${column} as ${sql.identifier('value')}, count(*) as ${sql.identifier('times')}
      from ${sql.identifier(tableName)} where ${column} is not null
      group by ${column} having count(*) > 1 order by count(*) desc, ${column} limit 5`,
  )
}
