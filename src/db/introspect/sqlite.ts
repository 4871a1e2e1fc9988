import {
  decimal,
  editable,
  float,
  literalText,
  shownOnly,
  sizesOf,
  withFacts,
  withoutSizes,
} from './shape.ts'
import type { ColumnShape, ColumnStructure, DatabaseStructure, StructureReader } from './structure.ts'

interface ColumnRow {
  table: string
  kind: 'table' | 'view'
  definition: string | null
  name: string
  type: string
  not_null: number
  default: string | null
  key_place: number
  hidden: number
}

interface ForeignRow {
  table: string
  id: number
  related: string
  own_column: string
  related_column: string | null
}

interface UniqueRow {
  table: string
  name: string
  column_name: string | null
}

const SHOWN = `m.type in ('table', 'view') and m.name not like 'sqlite\\_%' escape '\\'`

// `hidden`: 1 a virtual table's own parameter, 2 and 3 generated.
const COLUMNS = `select m.name as "table", m.type as kind, m.sql as definition, x.name as name, x.type as type,
    x."notnull" as not_null, x.dflt_value as "default", x.pk as key_place, x.hidden as hidden
  from sqlite_master m join pragma_table_xinfo(m.name) x
  where ${SHOWN} and x.hidden <> 1 order by m.name, x.cid`

const FOREIGN = `select m.name as "table", f.id as id, f."table" as related, f."from" as own_column,
    f."to" as related_column
  from sqlite_master m join pragma_foreign_key_list(m.name) f
  where m.type = 'table' order by m.name, f.id, f.seq`

const UNIQUE = `select m.name as "table", l.name as name, i.name as column_name
  from sqlite_master m join pragma_index_list(m.name) l join pragma_index_info(l.name) i
  where m.type = 'table' and l."unique" = 1 and l.partial = 0 and l.origin <> 'pk'
  order by m.name, l.seq, i.seqno`

/** Reads the structure of a file with three statements, whatever its size. */
export async function readSqlite(reader: StructureReader): Promise<DatabaseStructure> {
  const ask = <T>(sql: string) => reader.all<T>({ sql, params: [] })
  const byTable = Map.groupBy(await ask<ColumnRow>(COLUMNS), (row) => row.table)
  const foreign = Map.groupBy(await ask<ForeignRow>(FOREIGN), (row) => row.table)
  const unique = Map.groupBy(await ask<UniqueRow>(UNIQUE), (row) => row.table)
  // Table names are case-insensitive: a reference may use another case.
  const exact = new Map([...byTable.keys()].map((name) => [name.toLowerCase(), name]))
  const keyOf = (table: string): string[] =>
    (byTable.get(table) ?? [])
      .filter((row) => row.key_place > 0)
      .sort((a, b) => a.key_place - b.key_place)
      .map((row) => row.name)
  return {
    tables: [...byTable].map(([name, rows]) => {
      const primaryKey = keyOf(name)
      const withoutRowid = isWithoutRowid(rows[0]?.definition ?? '')
      const keys = Map.groupBy(unique.get(name) ?? [], (row) => row.name)
      return {
        name,
        kind: rows[0]?.kind ?? 'table',
        comment: null,
        rowEstimate: null,
        columns: rows.map((row) => toColumn(row, primaryKey.length === 1 && !withoutRowid)),
        primaryKey,
        // The column is null in an index over an expression.
        uniqueKeys: [...keys.values()]
          .filter((parts) => parts.every((part) => part.column_name !== null))
          .map((parts) => parts.flatMap((part) => part.column_name ?? [])),
        foreignKeys: [...Map.groupBy(foreign.get(name) ?? [], (row) => row.id)].flatMap(([id, parts]) => {
          const related = exact.get((parts[0]?.related ?? '').toLowerCase())
          if (related === undefined) return []
          // Without a column, the reference means the primary key.
          const implied = keyOf(related)
          return {
            name: `fk_${id}`,
            columns: parts.map((part) => columnIn(byTable.get(name), part.own_column)),
            relatedTable: related,
            relatedColumns: parts.map((part, index) =>
              columnIn(byTable.get(related), part.related_column ?? implied[index] ?? ''),
            ),
          }
        }),
      }
    }),
  }
}

/** The column's name in the case of its table. */
const columnIn = (rows: ColumnRow[] | undefined, name: string): string =>
  rows?.find((row) => row.name.toLowerCase() === name.toLowerCase())?.name ?? name

/** Table options follow the last parenthesis of the definition: `) WITHOUT ROWID, STRICT`. */
function isWithoutRowid(definition: string): boolean {
  const options = definition.slice(definition.lastIndexOf(')') + 1)
  return /^[\s;,a-z]*$/i.test(options) && /without\s+rowid/i.test(options)
}

function toColumn(row: ColumnRow, mayBeRowid: boolean): ColumnStructure {
  // Only the exact type INTEGER makes the column an alias of the rowid; INT does not.
  const isRowid = mayBeRowid && row.key_place === 1 && row.type.toUpperCase() === 'INTEGER'
  return {
    name: row.name,
    type: row.type,
    baseType: withoutSizes(row.type),
    sizes: sizesOf(row.type),
    isArray: false,
    isUnsigned: false,
    isNullable: row.not_null === 0 && !isRowid,
    defaultExpression: row.default === null || row.default.toUpperCase() === 'NULL' ? null : row.default,
    isGenerated: row.hidden === 2 || row.hidden === 3,
    isAutoIncrement: isRowid,
    values: null,
    comment: null,
  }
}

/** Field type by declared type, first match wins: SQLite accepts any type name. */
const WORDS: [RegExp, (column: ColumnStructure) => ColumnShape][] = [
  [/^(bool|boolean)$/, () => editable('Checkbox')],
  [/int/, () => editable('Number')],
  [/^(date)$/, () => editable('Date')],
  [/^(datetime|timestamp)/, () => editable('DateTime')],
  [/^time$/, () => editable('Time')],
  [/json/, () => editable('JSON')],
  [/char/, () => editable('SingleLineText')],
  [/uuid|guid/, () => editable('SingleLineText')],
  [/clob|text/, () => editable('LongText')],
  [/blob/, () => shownOnly('Binary data')],
  [/real|floa|doub/, float],
  // SQLite stores decimals as floating-point numbers whatever their declared size, so this loses nothing more.
  [
    /^(numeric|decimal)$/,
    ({ sizes, ...column }) =>
      sizes.length === 0 ? float() : decimal({ ...column, sizes: [15, sizes[1] ?? 0] }),
  ],
]

/** The field type for a column of an SQLite file. */
export function sqliteShape(column: ColumnStructure): ColumnShape {
  const { baseType, sizes } = column
  if (baseType === 'tinyint' && sizes[0] === 1) return withFacts(editable('Checkbox'), column)
  const [, shape] = WORDS.find(([word]) => word.test(baseType)) ?? []
  return withFacts(shape?.(column) ?? editable('SpecificDBType'), column)
}

/** The default if it is a plain value such as `'new'` or `42`; null for expressions, which the database evaluates. */
export function sqliteDefault({ defaultExpression }: ColumnStructure): string | null {
  if (defaultExpression === null) return null
  if (/^-?\d+(\.\d+)?$/.test(defaultExpression)) return defaultExpression
  return /^(true|false)$/i.test(defaultExpression)
    ? defaultExpression.toLowerCase()
    : literalText(defaultExpression)
}
