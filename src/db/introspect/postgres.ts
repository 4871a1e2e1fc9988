import {
  choices,
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
  kind: string
  table_comment: string | null
  estimate: number
  name: string | null
  place: number
  type_id: number
  type: string
  category: string
  not_null: boolean
  identity: string
  generated: string
  default: string | null
  comment: string | null
}

interface TypeRow {
  id: number
  kind: string
  base_id: number
  base: string | null
  labels: string | null
}

interface KeyRow {
  table: string
  kind: 'p' | 'u' | 'f'
  name: string
  places: string
  related: string | null
  related_places: string | null
}

/** Tables (`r`, `p`), views (`v`, `m`) and foreign tables (`f`), without partitions of a partitioned table. */
const IS_SHOWN = `c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition
  and has_table_privilege(c.oid, 'select')`

const COLUMNS = `select c.relname::text as "table", c.relkind::text as kind,
    obj_description(c.oid, 'pg_class') as table_comment, greatest(c.reltuples, -1)::float8 as estimate,
    a.attname::text as name, a.attnum::int4 as place, a.atttypid::int4 as type_id,
    format_type(a.atttypid, a.atttypmod) as type, t.typcategory::text as category,
    (a.attnotnull or coalesce(t.typnotnull, false)) as not_null, a.attidentity::text as identity, a.attgenerated::text as generated,
    pg_get_expr(d.adbin, d.adrelid) as "default", col_description(c.oid, a.attnum) as comment
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  left join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  left join pg_type t on t.oid = a.atttypid
  left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
  where n.nspname = $1 and ${IS_SHOWN}
  order by c.relname, a.attnum`

/** Domains with their base type, and enums with their values (as JSON text, because drivers read arrays differently). */
const TYPES = `select t.oid::int4 as id, t.typtype::text as kind, t.typbasetype::int4 as base_id,
    format_type(t.typbasetype, t.typtypmod) as base,
    (select json_agg(e.enumlabel order by e.enumsortorder)::text from pg_enum e where e.enumtypid = t.oid) as labels
  from pg_type t where t.typtype in ('d', 'e')`

/** Includes unique indexes without a constraint, but no partial ones: those are not unique over the whole table. */
const KEYS = `select c.relname::text as "table", case when i.indisprimary then 'p' else 'u' end as kind,
    x.relname::text as name,
    (select string_agg(k.place::text, ',' order by k.nth)
      from unnest(i.indkey::int2[]) with ordinality as k(place, nth) where k.nth <= i.indnkeyatts) as places,
    null as related, null as related_places
  from pg_index i
  join pg_class c on c.oid = i.indrelid
  join pg_class x on x.oid = i.indexrelid
  join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = $1 and i.indisunique and i.indisvalid and i.indpred is null and i.indexprs is null
    and ${IS_SHOWN}
  union all
  select c.relname::text, 'f', o.conname::text, array_to_string(o.conkey, ','), r.relname::text,
    array_to_string(o.confkey, ',')
  from pg_constraint o
  join pg_class c on c.oid = o.conrelid
  join pg_class r on r.oid = o.confrelid
  join pg_namespace n on n.oid = c.relnamespace
  where o.contype = 'f' and n.nspname = $1 and r.relnamespace = c.relnamespace and ${IS_SHOWN}
  order by 1, 3`

/** Reads the structure of one schema with three statements, whatever its size. */
export async function readPostgres(reader: StructureReader, schema: string): Promise<DatabaseStructure> {
  const params = [schema]
  const rows = await reader.all<ColumnRow>({ sql: COLUMNS, params })
  const types = new Map(
    (await reader.all<TypeRow>({ sql: TYPES, params: [] })).map((row) => [row.id, row] as const),
  )
  const keys = Map.groupBy(await reader.all<KeyRow>({ sql: KEYS, params }), (row) => row.table)
  const byTable = Map.groupBy(rows, (row) => row.table)
  const nameOf = (table: string, place: string): string | undefined =>
    byTable.get(table)?.find((row) => row.place === Number(place))?.name ?? undefined
  const namesOf = (table: string, places: string | null): string[] =>
    (places ?? '').split(',').flatMap((place) => nameOf(table, place) ?? [])
  const tables = [...byTable].map(([name, columns]) => {
    const own = keys.get(name) ?? []
    const [first] = columns
    const keysOf = (kind: KeyRow['kind']) => own.filter((key) => key.kind === kind)
    return {
      name,
      kind: first?.kind === 'v' || first?.kind === 'm' ? ('view' as const) : ('table' as const),
      comment: first?.table_comment ?? null,
      // -1: never analysed.
      rowEstimate: first && first.estimate >= 0 ? Number(first.estimate) : null,
      columns: columns.flatMap((row) => (row.name === null ? [] : [toColumn(row, row.name, types)])),
      primaryKey: keysOf('p').flatMap((key) => namesOf(name, key.places)),
      uniqueKeys: keysOf('u').map((key) => namesOf(name, key.places)),
      foreignKeys: keysOf('f').map((key) => ({
        name: key.name,
        columns: namesOf(name, key.places),
        relatedTable: key.related ?? '',
        relatedColumns: namesOf(key.related ?? '', key.related_places),
      })),
    }
  })
  return { tables }
}

/** Schemas with user tables, `public` first. */
export async function readPostgresSchemas(reader: StructureReader): Promise<string[]> {
  const rows = await reader.all<{ name: string }>({
    sql: `select nspname::text as name from pg_namespace
      where nspname !~ '^pg_' and nspname <> 'information_schema' and has_schema_privilege(oid, 'usage')
      order by nspname <> 'public', nspname`,
    params: [],
  })
  return rows.map(({ name }) => name)
}

/** Extension types are named with the schema that they were installed in. */
const OF_EXTENSION = /^.+\.(?=(?:citext|hstore|ltree)$)/

function toColumn(row: ColumnRow, name: string, types: ReadonlyMap<number, TypeRow>): ColumnStructure {
  let [id, type] = [row.type_id, row.type]
  // Domains may be nested.
  for (let domain = types.get(id); domain?.kind === 'd'; domain = types.get(id)) {
    id = domain.base_id
    type = domain.base ?? type
  }
  const labels = types.get(id)?.labels
  const isSerial = row.default?.startsWith('nextval(') ?? false
  return {
    name,
    type: row.type,
    baseType: labels ? 'enum' : withoutSizes(type.replace(/\[\]$/, '')).replace(OF_EXTENSION, ''),
    sizes: sizesOf(type),
    isArray: type.endsWith('[]') || row.category === 'A',
    isUnsigned: false,
    isNullable: !row.not_null,
    defaultExpression: row.generated === '' ? row.default : null,
    isGenerated: row.generated !== '',
    isAutoIncrement: row.identity !== '' || isSerial,
    values: labels ? JSON.parse(labels) : null,
    comment: row.comment,
  }
}

/** Field type per PostgreSQL type. Types not listed are shown as read-only text. */
const SHAPES: Record<string, (column: ColumnStructure) => ColumnShape> = {
  smallint: () => editable('Number'),
  integer: () => editable('Number'),
  bigint: () => editable('Number'),
  numeric: decimal,
  real: float,
  'double precision': float,
  boolean: () => editable('Checkbox'),
  'character varying': () => editable('SingleLineText'),
  character: () => editable('SingleLineText'),
  text: () => editable('LongText'),
  citext: () => editable('SingleLineText'),
  hstore: () => editable('SpecificDBType'),
  ltree: () => editable('SpecificDBType'),
  name: () => editable('SingleLineText'),
  uuid: () => editable('SingleLineText'),
  enum: ({ values }) => editable('SingleSelect', choices(values)),
  date: () => editable('Date'),
  'timestamp without time zone': () => editable('DateTime'),
  'timestamp with time zone': () => editable('DateTime'),
  'time without time zone': () => editable('Time'),
  json: () => editable('JSON'),
  jsonb: () => editable('JSON'),
  // Text that the database validates; its error message is shown for invalid text.
  money: () => editable('SpecificDBType'),
  interval: () => editable('SpecificDBType'),
  'time with time zone': () => editable('SpecificDBType'),
  inet: () => editable('SpecificDBType'),
  cidr: () => editable('SpecificDBType'),
  macaddr: () => editable('SpecificDBType'),
  macaddr8: () => editable('SpecificDBType'),
  xml: () => editable('SpecificDBType'),
  bytea: () => shownOnly('Binary data'),
  bit: () => shownOnly('A bit string'),
  'bit varying': () => shownOnly('A bit string'),
  tsvector: () => shownOnly('A search index'),
}

/** The field type for a column of PostgreSQL. */
export function postgresShape(column: ColumnStructure): ColumnShape {
  const { baseType, isArray } = column
  const shape = isArray
    ? shownOnly('An array')
    : (SHAPES[baseType]?.(column) ?? shownOnly(`The type ${baseType}`))
  return withFacts(shape, column)
}

/**
 * The default if it is a plain value such as `'new'::text`, `42` or `true`; null for expressions, which the database
 * evaluates.
 */
export function postgresDefault({ defaultExpression, isArray }: ColumnStructure): string | null {
  if (defaultExpression === null || isArray) return null
  const bare = defaultExpression.replace(/::[\w\s".()]+$/, '')
  if (/^\(?-?\d+(\.\d+)?\)?$/.test(bare)) return bare.replace(/[()]/g, '')
  return /^(true|false)$/.test(bare) ? bare : literalText(bare)
}

/** Unique per database and readable by every user: the server's start time and the database's oid. */
const IDENTITY = `select pg_postmaster_start_time()::text || ' ' || oid::text as identity
  from pg_database where datname = current_database()`

/** Identifies a PostgreSQL database, whatever name or address it was reached by. Changes when the server restarts. */
export async function postgresIdentity(reader: StructureReader): Promise<string> {
  const [row] = await reader.all<{ identity: string }>({ sql: IDENTITY, params: [] })
  return row?.identity ?? ''
}
