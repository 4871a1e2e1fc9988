import type { Sql } from 'postgres'
import { SEARCH_PREFIX } from '../../dialects/automatic-index.ts'
import { quotePostgres as quote } from '../../dialects/postgres-tables.ts'
import { quoteText } from '../../dialects/standard-sql.ts'
import { migrationFiles } from '../../embedded.ts'

/** A client or a transaction. */
export type PostgresClient = Pick<Sql, 'unsafe'>

/** A table as the catalog describes it. */
export interface TableDefinition {
  name: string
  /** Statement that creates it without keys and indexes, in the first schema of the search path. */
  create: string
  /** Columns that are stored, without generated ones. */
  columns: string[]
  /** Differs after every change of columns, and when the table was rewritten or emptied. */
  version: string
  /** Its identity column. */
  identity: string | null
}

interface FoundColumn {
  number: number
  name: string
  type: string
  collation: string | null
  isRequired: boolean
  /** `a`: always, `d`: by default, or empty. */
  identity: string
  /** `s`: a stored expression, or empty. */
  generated: string
  /** What rows have that are older than the column. */
  missing: string | null
  expression: string | null
}

/** Tables of the metadata's schema: others in it belong to other programs. */
export function metadataTables(): string[] {
  const created = migrationFiles('postgres').flatMap(({ text }) =>
    [...text.matchAll(/create table "(\w+)"/gi)].map(([, name]) => name ?? ''),
  )
  return ['migrations', 'releases', ...created]
}

/** All tables that an installation may have in the metadata's schema: also those that no migration creates. */
export function installationTables(): string[] {
  return [...metadataTables(), 'cluster_payloads', 'sheaf_move', 'sheaf_base_moves', 'sheaf_restored']
}

/** The tables of a schema by name. @param only their names; null: all */
export async function readTables(
  client: PostgresClient,
  schema: string,
  only: readonly string[] | null,
): Promise<TableDefinition[]> {
  const found = await client.unsafe<{ name: string; oid: string; file: string; columns: string }[]>(TABLES, [
    schema,
    only === null ? null : JSON.stringify(only),
  ])
  return found.map(({ name, oid, file, columns: text }) => {
    const columns = JSON.parse(text) as FoundColumn[]
    return {
      name,
      create: `create table ${quote(name)} (${columns.map(columnClause).join(', ')})`,
      columns: columns.filter(({ generated }) => generated === '').map((column) => column.name),
      version: new Bun.CryptoHasher('sha256').update([oid, file, text].join('\n')).digest('hex'),
      identity: columns.find(({ identity }) => identity !== '')?.name ?? null,
    }
  })
}

function columnClause({
  name,
  type,
  collation,
  isRequired,
  identity,
  generated,
  expression,
}: FoundColumn): string {
  const clauses = [quote(name), type]
  if (collation !== null) clauses.push(`collate ${quote(collation)}`)
  if (isRequired) clauses.push('not null')
  if (identity !== '') clauses.push(`generated ${identity === 'a' ? 'always' : 'by default'} as identity`)
  else if (generated !== '') clauses.push(`generated always as (${expression}) stored`)
  else if (expression !== null) clauses.push(`default ${expression}`)
  return clauses.join(' ')
}

/**
 * Statements that create the keys, indexes and references of tables, for a search path that begins with their schema.
 * Indexes of searches are left out: the first search builds them.
 */
export async function readCompletion(
  client: PostgresClient,
  schema: string,
  tables: readonly string[],
): Promise<string[]> {
  const names = JSON.stringify(tables)
  const constraints = await client.unsafe<{ table: string; name: string; definition: string }[]>(
    CONSTRAINTS,
    [schema, names],
  )
  const indexes = await client.unsafe<
    { name: string; definition: string; schema: string; comment: string | null }[]
  >(INDEXES, [schema, names])
  return [
    ...indexes.flatMap(({ name, definition, schema: quoted, comment }) => [
      definition.replace(` ON ${quoted}.`, ' ON '),
      ...(comment === null ? [] : [`comment on index ${quote(name)} is ${quoteText(comment)}`]),
    ]),
    ...constraints.map(
      ({ table, name, definition }) =>
        `alter table ${quote(table)} add constraint ${quote(name)} ${definition.replaceAll(` REFERENCES ${quote(schema)}.`, ' REFERENCES ')}`,
    ),
  ]
}

/** The numbers that the identity column of a table has given. */
export async function readIdentity(
  client: PostgresClient,
  schema: string,
  { name, identity }: TableDefinition,
): Promise<{ column: string; last: string; isCalled: boolean } | null> {
  if (identity === null) return null
  const [found] = await client.unsafe<{ sequence: string }[]>(
    'select pg_get_serial_sequence($1, $2) as sequence',
    [`${quote(schema)}.${quote(name)}`, identity],
  )
  const [row] = await client.unsafe<{ last: string; called: boolean }[]>(
    `select last_value::text as last, is_called as called from ${found?.sequence}`,
  )
  return row ? { column: identity, last: row.last, isCalled: row.called } : null
}

/** Lets the identity column of a table go on after these numbers; the table is in the first schema of the search path. */
export async function setIdentity(
  client: PostgresClient,
  table: string,
  given: Awaited<ReturnType<typeof readIdentity>>,
): Promise<void> {
  if (given === null) return
  await client.unsafe('select setval(pg_get_serial_sequence($1, $2), $3, $4)', [
    quote(table),
    given.column,
    given.last,
    given.isCalled,
  ])
}

const TABLES = `select c.relname::text as name, c.oid::text as oid, c.relfilenode::text as file,
    (select json_agg(json_build_object('number', a.attnum, 'name', a.attname,
        'type', format_type(a.atttypid, a.atttypmod), 'isRequired', a.attnotnull,
        'collation', case when a.attcollation <> t.typcollation then l.collname end,
        'identity', a.attidentity, 'generated', a.attgenerated, 'missing', a.attmissingval::text,
        'expression', pg_get_expr(d.adbin, d.adrelid)) order by a.attnum)
      from pg_attribute a join pg_type t on t.oid = a.atttypid
        left join pg_collation l on l.oid = a.attcollation
        left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped)::text as columns
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = $1 and c.relkind = 'r'
    and ($2::text is null or c.relname::text in (select json_array_elements_text($2::json)))
  order by c.relname`

/** Keys before the references to them. */
const CONSTRAINTS = `select c.relname::text as table, k.conname::text as name,
    pg_get_constraintdef(k.oid) as definition
  from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = $1 and k.contype in ('p', 'u', 'c', 'x', 'f')
    and c.relname::text in (select json_array_elements_text($2::json))
  order by k.contype = 'f', c.relname, k.conname`

const INDEXES = `select o.relname::text as name, pg_get_indexdef(i.indexrelid) as definition,
    quote_ident(n.nspname) as schema, obj_description(i.indexrelid, 'pg_class') as comment
  from pg_index i join pg_class c on c.oid = i.indrelid join pg_namespace n on n.oid = c.relnamespace
    join pg_class o on o.oid = i.indexrelid
  where n.nspname = $1 and i.indisvalid and c.relname::text in (select json_array_elements_text($2::json))
    and not exists (select from pg_constraint k where k.conindid = i.indexrelid and k.contype in ('p', 'u', 'x'))
    and not starts_with(o.relname::text, '${SEARCH_PREFIX}')
  order by c.relname, o.relname`
