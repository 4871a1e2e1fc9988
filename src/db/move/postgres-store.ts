import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { sql } from 'drizzle-orm'
import type { Sql } from 'postgres'
import { canonicalJson } from '../../core/canonical-json.ts'
import { NAME_PREFIX } from '../../dialects/automatic-index.ts'
import { postgres } from '../../dialects/postgres.ts'
import { instantText, quotePostgres as quote, timeText } from '../../dialects/postgres-tables.ts'
import { storedTime } from '../../dialects/standard-sql.ts'
import { copyText } from '../postgres/bulk-writer.ts'
import { storedInstant } from '../postgres/driver.ts'
import {
  BATCH_ROWS,
  type ColumnKind,
  canonicalReal,
  cellOf,
  keyPositions,
  type RowsOnly,
  type StoredColumn,
  type StoredRow,
  type StoredTable,
  type TableStore,
} from './store.ts'

/** Tables that a schema has for itself: what it was written by, messages between servers, and the state of a move and a restore. */
const OWN_TABLES = [
  'migrations',
  'releases',
  'cluster_payloads',
  'sheaf_version',
  'sheaf_move',
  'sheaf_base_moves',
  'sheaf_restored',
]

const KINDS: Record<string, ColumnKind> = {
  integer: 'integer',
  bigint: 'integer',
  'double precision': 'real',
  text: 'text',
  boolean: 'boolean',
  date: 'date',
  'timestamp with time zone': 'datetime',
  'time without time zone': 'time',
  jsonb: 'json',
}

/** A column that only PostgreSQL has. */
export class UnknownColumnType extends Error {}

interface FoundColumn {
  table_name: string
  name: string
  type: string
  required: boolean
  identity: boolean
  default_text: string | null
}

/** What a client and a transaction of it have in common. */
export type PostgresClient = Pick<Sql, 'unsafe'>

/**
 * The tables of a PostgreSQL schema.
 *
 * @param client whose search path is the schema; in a transaction, `insert` is part of it
 * @param close ends the client
 * @param isJsonExact reads JSON as PostgreSQL prints it instead of its canonical text, which rounds long numbers
 * @param only names of tables; others in the schema are left out. Null: all
 */
export function openPostgresStore(
  client: PostgresClient,
  schema: string,
  name: string,
  close: () => Promise<void> = async () => {},
  { isJsonExact = false, only = null }: { isJsonExact?: boolean; only?: readonly string[] | null } = {},
): TableStore {
  async function tables(): Promise<StoredTable[]> {
    const columns = await client.unsafe<FoundColumn[]>(COLUMNS, [schema])
    const keys = await client.unsafe<{ table_name: string; name: string }[]>(KEYS, [schema])
    const indexes = await client.unsafe<{ table_name: string; unique: boolean; columns: string | null }[]>(
      INDEXES,
      [schema],
    )
    const references = await client.unsafe<{ child: string; parent: string }[]>(REFERENCES, [schema])
    const names = [...new Set(columns.map((column) => column.table_name))].filter(
      (table) => !OWN_TABLES.includes(table) && (only === null || only.includes(table)),
    )
    const lastIds = await client.unsafe<{ table_name: string; last: string | null }[]>(LAST_IDS, [schema])
    const found: StoredTable[] = []
    for (const table of parentsFirst(names, references)) {
      const own = columns.filter((column) => column.table_name === table)
      const stored: StoredColumn[] = []
      for (const column of own) stored.push(await describe(column))
      found.push({
        name: table,
        columns: stored,
        key: keys.filter((key) => key.table_name === table).map((key) => key.name),
        indexes: indexes
          .filter((index) => index.table_name === table && index.columns !== null)
          .map((index) => ({
            isUnique: index.unique,
            columns: JSON.parse(index.columns ?? '[]') as string[],
          })),
        lastId: lastIds.find((each) => each.table_name === table)?.last ?? null,
      })
    }
    return found
  }

  async function describe(column: FoundColumn): Promise<StoredColumn> {
    const kind = KINDS[column.type]
    if (kind === undefined)
      throw new UnknownColumnType(
        `${name}: column ${column.table_name}.${column.name} has the unknown type ${column.type}`,
      )
    return {
      name: column.name,
      kind,
      isIdentity: column.identity,
      isRequired: column.required && !column.identity,
      defaultText: column.default_text === null ? null : await evaluate(column.default_text, kind),
    }
  }

  async function evaluate(expression: string, kind: ColumnKind): Promise<string | null> {
    const statement = postgres.render(sql`select ${textOf(sql.raw(`(${expression})`), kind)} as value`)
    const [row] = await client.unsafe<{ value: string | null }[]>(statement.sql)
    return canonical(row?.value ?? null, kind)
  }

  const fullName = (table: string): string => `${quote(schema)}.${quote(table)}`

  /** Ordered as in SQLite, whatever the collation of the column. */
  const ordered = (table: StoredTable, column: string) =>
    table.columns.find((each) => each.name === column)?.kind === 'text'
      ? `${quote(column)} collate "C"`
      : quote(column)

  const full = (table: StoredTable) => fullName(table.name)

  function selection(table: StoredTable): string {
    const columns = table.columns.map(
      (column, index) =>
        sql`${textOf(sql`${sql.identifier(column.name)}`, column.kind)} as ${sql.raw(`v${index}`)}`,
    )
    return postgres.render(sql`select ${sql.join(columns, sql`, `)}`).sql
  }

  async function page(table: StoredTable, tail: string, params: string[]): Promise<StoredRow[]> {
    const rows = await client.unsafe<Record<string, string | null>[]>(
      `${selection(table)} from ${full(table)} ${tail}`,
      params,
    )
    return rows.map((row) =>
      table.columns.map((column, index) =>
        canonical(row[`v${index}`] ?? null, isJsonExact && column.kind === 'json' ? 'text' : column.kind),
      ),
    )
  }

  const keyOf = (table: StoredTable, row: StoredRow) => keyPositions(table).map((at) => row[at] ?? null)

  return {
    name,
    tables,
    async *rows(table, after = null, ...only) {
      const columns = table.key.map((column) => ordered(table, column)).join(', ')
      const placeholders = table.key.map((_, index) => `$${index + 1}`).join(', ')
      for (let last = after; ; ) {
        const key = last === null ? [] : last.map((text) => text ?? '')
        const params = [...key]
        const conditions = [
          ...(last === null ? [] : [`(${columns}) > (${placeholders})`]),
          ...selected(only, params),
        ]
        const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`
        const rows = await page(table, `${where} order by ${columns} limit ${BATCH_ROWS}`, params)
        if (rows.length > 0) yield rows
        if (rows.length < BATCH_ROWS) return
        last = keyOf(table, rows.at(-1) ?? [])
      }
    },
    async lastKey(table) {
      const order = table.key.map((column) => `${ordered(table, column)} desc`).join(', ')
      const [row] = await page(table, `order by ${order} limit 1`, [])
      return row ? keyOf(table, row) : null
    },
    async create(table) {
      const [known] = await client.unsafe(
        'select 1 from pg_tables where schemaname = $1 and tablename = $2',
        [schema, table.name],
      )
      if (known) return
      const columns = table.columns.map((column) => ({
        name: column.name,
        storage: column.isIdentity ? ('id' as const) : column.kind,
        required: column.isRequired,
        defaultValue: cellOf(column.defaultText, column.kind),
      }))
      for (const statement of postgres.createTable(table.name, columns)) await client.unsafe(statement.sql)
    },
    async insert(table, rows) {
      const columns = table.columns.map((column) => quote(column.name)).join(', ')
      const stream = await client.unsafe(`copy ${full(table)} (${columns}) from stdin`).writable()
      const lines = rows.map((row) => `${row.map(copyText).join('\t')}\n`)
      await pipeline(Readable.from([Buffer.from(lines.join(''))]), stream)
    },
    async remove(table, ...only) {
      const params: string[] = []
      const where = selected(only, params).join(' and ')
      return (await client.unsafe(`delete from ${full(table)} where ${where}`, params)).count
    },
    async clear(table) {
      await client.unsafe(`truncate ${fullName(table)}`)
    },
    async buildIndexes(table, indexes) {
      for (const { sql: text } of indexes) await client.unsafe(text)
      await analyze(table)
    },
    async complete(table) {
      const known = (await tables()).find((each) => each.name === table.name)?.indexes ?? []
      const isKnown = (columns: string[]) => known.some((index) => Bun.deepEquals(index.columns, columns))
      for (const { columns, isUnique } of table.indexes) {
        if (isKnown(columns)) continue
        const statements = isUnique
          ? postgres.createUniqueIndex(table.name, columns)
          : postgres.createIndex(table.name, columns)
        for (const statement of statements) await client.unsafe(statement.sql)
      }
      await analyze(table.name)
      await continueIds(table)
    },
    continueIds,
    close,
  }

  /** A new table has no statistics yet, without which its first queries may be slow. */
  async function analyze(table: string): Promise<void> {
    await client.unsafe(`analyze ${fullName(table)}`)
  }

  async function continueIds({ name: table, lastId }: StoredTable): Promise<void> {
    if (lastId === null || lastId === '0') return
    for (const statement of postgres.numberAfter(table, Number(lastId)))
      await client.unsafe(statement.sql, statement.params as (string | number)[])
  }
}

/** The text of a value; canonical but for numbers and JSON. */
/** Conditions with their texts added to the parameters. */
function selected(only: readonly RowsOnly[], params: string[]): string[] {
  return only.map(({ column, texts }) => {
    const first = params.length + 1
    params.push(...texts)
    return `${quote(column)} in (${texts.map((_, at) => `$${first + at}`).join(', ')})`
  })
}

function textOf(value: ReturnType<typeof sql>, kind: ColumnKind) {
  if (kind === 'text') return sql`(${value})::text`
  if (kind === 'datetime') return instantText(value)
  if (kind === 'time') return timeText(value)
  return sql`(${value})::text`
}

/** The canonical text of a value in the text format of COPY, in a session whose time zone is UTC. */
export function canonicalOfCopy(text: string | null, kind: ColumnKind): string | null {
  if (text === null) return null
  if (kind === 'boolean') return String(text === 't')
  if (kind === 'datetime') return storedInstant(text)
  return kind === 'time' ? storedTime(text) : canonical(text, kind)
}

function canonical(text: string | null, kind: ColumnKind): string | null {
  if (text === null) return null
  if (kind === 'real') return canonicalReal(text)
  return kind === 'json' ? canonicalJson(JSON.parse(text)) : text
}

/** Tables in an order in which each comes after those that it refers to. */
function parentsFirst(
  names: readonly string[],
  references: readonly { child: string; parent: string }[],
): string[] {
  const sorted: string[] = []
  const add = (name: string, path: readonly string[]) => {
    if (sorted.includes(name) || path.includes(name)) return
    for (const { child, parent } of references) if (child === name) add(parent, [...path, name])
    if (names.includes(name)) sorted.push(name)
  }
  for (const name of names) add(name, [])
  return sorted
}

const COLUMNS = `select c.relname::text as table_name, a.attname::text as name,
    format_type(a.atttypid, null) as type, a.attnotnull as required, a.attidentity <> '' as identity,
    pg_get_expr(d.adbin, d.adrelid) as default_text
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
  where n.nspname = $1 and c.relkind = 'r' order by c.relname, a.attnum`

/** A table that someone else drops meanwhile, as staging tables are, is still listed and has no name any more. */
const LAST_IDS = `select relname::text as table_name, case when to_regclass(full_name) is not null
      then pg_sequence_last_value(pg_get_serial_sequence(full_name, attname)::regclass)::text end as last
  from pg_namespace n join pg_class c on c.relnamespace = n.oid
    join pg_attribute a on a.attrelid = c.oid and a.attidentity <> '' and not a.attisdropped
    cross join lateral format('%I.%I', nspname, relname) as named (full_name)
  where n.nspname = $1 and c.relkind = 'r'`

const KEYS = `select c.relname::text as table_name, a.attname::text as name
  from pg_index i join pg_class c on c.oid = i.indrelid join pg_namespace n on n.oid = c.relnamespace
    cross join lateral unnest(i.indkey) with ordinality as k(attnum, place)
    join pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum
  where n.nspname = $1 and i.indisprimary order by c.relname, k.place`

const INDEXES = `select c.relname::text as table_name, i.indisunique as unique,
    (select json_agg(a.attname order by k.place)::text from unnest(i.indkey) with ordinality as k(attnum, place)
      join pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum) as columns
  from pg_index i join pg_class c on c.oid = i.indrelid join pg_namespace n on n.oid = c.relnamespace
    join pg_class own on own.oid = i.indexrelid
  where n.nspname = $1 and c.relkind = 'r' and not i.indisprimary and not starts_with(own.relname::text, '${NAME_PREFIX}')
  order by c.relname, own.relname`

const REFERENCES = `select c.relname::text as child, p.relname::text as parent
  from pg_constraint o join pg_class c on c.oid = o.conrelid join pg_class p on p.oid = o.confrelid
    join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = $1 and o.contype = 'f' and o.conrelid <> o.confrelid`
