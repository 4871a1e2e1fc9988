import {
  choices,
  decimal,
  editable,
  float,
  literalText,
  quotedTexts,
  shownOnly,
  sizesOf,
  withFacts,
} from './shape.ts'
import type { ColumnShape, ColumnStructure, DatabaseStructure, StructureReader } from './structure.ts'

interface TableRow {
  name: string
  kind: string
  comment: string | null
  estimate: number | string | null
}

interface ColumnRow {
  table: string
  name: string
  type: string
  base: string
  nullable: string
  default_text: string | null
  extra: string
  generation: string | null
  comment: string | null
}

interface KeyRow {
  table: string
  name: string
  column_name: string
  related: string | null
  related_column: string | null
}

const TABLES = `select TABLE_NAME as name, TABLE_TYPE as kind, TABLE_COMMENT as comment, TABLE_ROWS as estimate
  from information_schema.TABLES where TABLE_SCHEMA = database() order by TABLE_NAME`

const COLUMNS = `select TABLE_NAME as \`table\`, COLUMN_NAME as name, COLUMN_TYPE as type, DATA_TYPE as base,
    IS_NULLABLE as nullable, COLUMN_DEFAULT as default_text, EXTRA as extra, GENERATION_EXPRESSION as generation,
    COLUMN_COMMENT as comment
  from information_schema.COLUMNS where TABLE_SCHEMA = database() order by TABLE_NAME, ORDINAL_POSITION`

/** A column that is indexed by a prefix only (\`SUB_PART\`) is not unique as a whole. */
const UNIQUE = `select TABLE_NAME as \`table\`, INDEX_NAME as name, COLUMN_NAME as column_name,
    null as related, null as related_column
  from information_schema.STATISTICS s
  where TABLE_SCHEMA = database() and NON_UNIQUE = 0 and COLUMN_NAME is not null and SUB_PART is null
  order by TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX`

const FOREIGN = `select TABLE_NAME as \`table\`, CONSTRAINT_NAME as name, COLUMN_NAME as column_name,
    REFERENCED_TABLE_NAME as related, REFERENCED_COLUMN_NAME as related_column
  from information_schema.KEY_COLUMN_USAGE
  where TABLE_SCHEMA = database() and REFERENCED_TABLE_SCHEMA = database()
  order by TABLE_NAME, CONSTRAINT_NAME, ORDINAL_POSITION`

/** MariaDB keeps JSON as text with a check; MySQL has a type of that name. */
const JSON_CHECKS = `select TABLE_NAME as \`table\`, CHECK_CLAUSE as clause
  from information_schema.CHECK_CONSTRAINTS
  where CONSTRAINT_SCHEMA = database() and CHECK_CLAUSE like 'json_valid(%'`

/** Reads the structure of the connection's database. */
export async function readMysql(reader: StructureReader): Promise<DatabaseStructure> {
  const ask = <T>(sql: string) => reader.all<T>({ sql, params: [] })
  const isMariadb = /mariadb/i.test((await ask<{ v: string }>('select version() as v'))[0]?.v ?? '')
  const tables = await ask<TableRow>(TABLES)
  const columns = Map.groupBy(await ask<ColumnRow>(COLUMNS), (row) => row.table)
  const unique = keysOf(await ask<KeyRow>(UNIQUE))
  const foreign = keysOf(await ask<KeyRow>(FOREIGN))
  const jsonColumns = new Set(
    isMariadb
      ? (await ask<{ table: string; clause: string }>(JSON_CHECKS)).map(
          ({ table, clause }) => `${table}\n${/^json_valid\(`(.*)`\)$/s.exec(clause)?.[1]}`,
        )
      : [],
  )
  return {
    tables: tables
      .filter(({ kind }) => /^(BASE TABLE|VIEW|SYSTEM VERSIONED)$/.test(kind))
      .map(({ name, kind, comment, estimate }) => ({
        name,
        kind: kind === 'VIEW' ? ('view' as const) : ('table' as const),
        comment: kind === 'VIEW' ? null : comment || null,
        rowEstimate: estimate === null ? null : Number(estimate),
        columns: (columns.get(name) ?? []).map((row) =>
          toColumn(row, isMariadb, jsonColumns.has(`${name}\n${row.name}`)),
        ),
        primaryKey: (unique.get(name) ?? [])
          .filter((key) => key.name === 'PRIMARY')
          .flatMap((key) => key.rows.map((row) => row.column_name)),
        uniqueKeys: (unique.get(name) ?? [])
          .filter((key) => key.name !== 'PRIMARY')
          .map((key) => key.rows.map((row) => row.column_name)),
        foreignKeys: (foreign.get(name) ?? []).map(({ name: key, rows }) => ({
          name: key,
          columns: rows.map((row) => row.column_name),
          relatedTable: rows[0]?.related ?? '',
          relatedColumns: rows.flatMap((row) => row.related_column ?? []),
        })),
      })),
  }
}

/** The keys by table, each with its rows in key order. */
function keysOf(rows: KeyRow[]): Map<string, { name: string; rows: KeyRow[] }[]> {
  const tables = Map.groupBy(rows, (row) => row.table)
  return new Map(
    [...tables].map(([table, own]) => [
      table,
      [...Map.groupBy(own, (row) => row.name)].map(([name, keyRows]) => ({ name, rows: keyRows })),
    ]),
  )
}

function toColumn(row: ColumnRow, isMariadb: boolean, isJson: boolean): ColumnStructure {
  const extra = row.extra.toLowerCase()
  const base = isJson ? 'json' : row.base.toLowerCase()
  const hasValues = base === 'enum' || base === 'set'
  const isGenerated = (row.generation ?? '') !== '' || /\b(virtual|stored|persistent) generated/.test(extra)
  return {
    name: row.name,
    type: isJson ? 'json' : row.type,
    baseType: base,
    sizes: hasValues ? [] : sizesOf(row.type),
    isArray: false,
    isUnsigned: /\bunsigned\b/i.test(row.type) && !hasValues,
    isNullable: row.nullable === 'YES',
    defaultExpression: isGenerated ? null : defaultOf(row, isMariadb, extra),
    isGenerated,
    isAutoIncrement: extra.includes('auto_increment'),
    values: hasValues ? quotedTexts(row.type) : null,
    comment: row.comment || null,
  }
}

/**
 * The default as SQL. MariaDB reports it so; MySQL reports plain values without quotes and marks expressions in
 * `EXTRA`.
 */
function defaultOf(
  { default_text: text, base }: ColumnRow,
  isMariadb: boolean,
  extra: string,
): string | null {
  if (text === null || (isMariadb && text.toUpperCase() === 'NULL')) return null
  if (isMariadb || extra.includes('default_generated')) return text
  return /int|decimal|float|double|bit|year/i.test(base) ? text : `'${text.replaceAll("'", "''")}'`
}

const wholeNumber = () => editable('Number')
const line = () => editable('SingleLineText')
const text = () => editable('LongText')
const binary = () => shownOnly('Binary data')
const geometry = () => shownOnly('A geometry')

/** Field type per MySQL and MariaDB type. Types not listed are shown as read-only text. */
const SHAPES: Record<string, (column: ColumnStructure) => ColumnShape> = {
  // spec §5: a tinyint of length 1 is treated as boolean.
  tinyint: ({ sizes, isUnsigned }) =>
    sizes[0] === 1 && !isUnsigned ? editable('Checkbox') : editable('Number'),
  smallint: wholeNumber,
  mediumint: wholeNumber,
  int: wholeNumber,
  bigint: wholeNumber,
  decimal,
  float,
  double: float,
  char: line,
  varchar: line,
  uuid: line,
  inet4: line,
  inet6: line,
  tinytext: text,
  text,
  mediumtext: text,
  longtext: text,
  enum: ({ values }) => editable('SingleSelect', choices(values)),
  set: ({ values }) => editable('MultiSelect', choices(values)),
  date: () => editable('Date'),
  datetime: () => editable('DateTime'),
  timestamp: () => editable('DateTime'),
  // A MySQL time may be a span of up to 838 hours; those are shown unchanged.
  time: () => editable('Time'),
  year: () => editable('Year'),
  json: () => editable('JSON'),
  // Many programs store booleans as one bit.
  bit: ({ sizes }) => (sizes[0] === 1 ? editable('Checkbox') : shownOnly('A bit string')),
  binary,
  varbinary: binary,
  tinyblob: binary,
  blob: binary,
  mediumblob: binary,
  longblob: binary,
  geometry,
  point: geometry,
  linestring: geometry,
  polygon: geometry,
  geometrycollection: geometry,
  multipoint: geometry,
  multilinestring: geometry,
  multipolygon: geometry,
  geomcollection: geometry,
}

/** The field type for a column of MySQL or MariaDB. */
export function mysqlShape(column: ColumnStructure): ColumnShape {
  const shape = SHAPES[column.baseType]?.(column) ?? shownOnly(`The type ${column.baseType}`)
  return withFacts(shape, column)
}

/** The default if it is a plain value such as `'new'` or `42`; null for expressions, which the database evaluates. */
export function mysqlDefault({ defaultExpression }: ColumnStructure): string | null {
  if (defaultExpression === null) return null
  return /^-?\d+(\.\d+)?$/.test(defaultExpression) ? defaultExpression : literalText(defaultExpression)
}
