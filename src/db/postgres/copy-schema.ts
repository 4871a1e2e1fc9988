import { isAutomaticIndex, NAME_PREFIX, SEARCH_PREFIX } from '../../dialects/automatic-index.ts'
import type { Engine, Statement } from '../../dialects/dialect.ts'
import { quotePostgres } from '../../dialects/postgres-tables.ts'
import { quoteText } from '../../dialects/standard-sql.ts'
import { CLEAR_LOG } from '../change-log/tables.ts'
import type { PostgresConnection } from '../connection.ts'
import { type HomeCopy, replacement } from '../copy-home.ts'
import { readCompletion, readIdentity, readTables, setIdentity } from './definitions.ts'
import { connectPostgres } from './driver.ts'

interface CopiedTable {
  name: string
  /** The identity column with its last value; null if there is none. */
  identity: string | null
}

/**
 * Copies a consistent snapshot of tables into another schema of the same database: columns, keys, indexes under their
 * names except automatic ones and those of searches, and records. Identity columns continue from the original's value.
 *
 * @param tables their names; others are not copied. The product's own tables exist already, and of these only the
 *   manual order of views is copied
 * @param withData false: no records
 */
export async function copySchema(
  connection: PostgresConnection,
  { from, to, tables, withData }: { from: string; to: string; tables: readonly string[]; withData: boolean },
): Promise<void> {
  const client = connectPostgres(connection, { searchPath: quotePostgres(to), statementTimeoutMs: 0 })
  try {
    await client.begin('isolation level repeatable read', async (tx) => {
      const found = await tx<CopiedTable[]>`
        select c.relname as name, a.attname as identity
        from pg_class c join pg_namespace n on n.oid = c.relnamespace
          left join pg_attribute a on a.attrelid = c.oid and a.attidentity <> ''
        where n.nspname = ${from} and c.relkind = 'r' and c.relname::text in (select json_array_elements_text(${JSON.stringify(tables)}::json))`
      for (const { name, identity } of found) {
        const [source, target] = [from, to].map((schema) => `${quotePostgres(schema)}.${quotePostgres(name)}`)
        await tx.unsafe(`create table ${target} (like ${source} including all excluding indexes)`)
        if (withData) {
          await tx.unsafe(`insert into ${target} overriding system value select * from ${source}`)
        }
        const definitions = await tx<{ definition: string }[]>`
          select case when i.indisprimary
            then ${`alter table ${target} add `} || (select pg_get_constraintdef(k.oid) from pg_constraint k
              where k.conindid = i.indexrelid)
            else replace(pg_get_indexdef(i.indexrelid),
              ${` ON ${from}.`}, ${` ON ${quotePostgres(to)}.`}) end as definition
          from pg_index i join pg_class c on c.oid = i.indexrelid
          where i.indrelid = ${source ?? ''}::regclass and not starts_with(c.relname::text, ${NAME_PREFIX})
            and not starts_with(c.relname::text, ${SEARCH_PREFIX})`
        for (const { definition } of definitions) await tx.unsafe(definition)
        if (identity === null || !withData) continue
        const sequence = (table: string | undefined) =>
          `pg_get_serial_sequence(${quoteText(table ?? '')}, ${quoteText(identity)})`
        const [last] = await tx.unsafe<{ value: string; called: boolean }[]>(
          `select last_value as value, is_called as called from ${await nameOf(tx, sequence(source))}`,
        )
        if (last) await tx.unsafe(`select setval(${sequence(target)}, ${last.value}, ${last.called})`)
      }
      if (!withData) return
      const [source, target] = [from, to].map((schema) => `${quotePostgres(schema)}.sheaf_places`)
      await tx.unsafe(`insert into ${target} select * from ${source}`)
    })
  } finally {
    await client.end({ timeout: 5 })
  }
}

/** Copies a consistent snapshot of a schema with everything in it, the log included, into a new one. */
export async function copyWholeSchema(
  connection: PostgresConnection,
  from: string,
  to: string,
): Promise<void> {
  const client = connectPostgres(connection, { searchPath: quotePostgres(to), statementTimeoutMs: 0 })
  try {
    await client.begin('isolation level repeatable read', async (tx) => {
      await tx.unsafe(`create schema ${quotePostgres(to)}`)
      const tables = await readTables(tx, from, null)
      for (const table of tables) {
        const columns = table.columns.map(quotePostgres).join(', ')
        await tx.unsafe(table.create)
        await tx.unsafe(
          `insert into ${quotePostgres(table.name)} (${columns}) overriding system value
            select ${columns} from ${quotePostgres(from)}.${quotePostgres(table.name)}`,
        )
        await setIdentity(tx, table.name, await readIdentity(tx, from, table))
      }
      const names = tables.map(({ name }) => name)
      for (const statement of await readCompletion(tx, from, names)) await tx.unsafe(statement)
    })
  } finally {
    await client.end({ timeout: 5 })
  }
}

/** Gives a schema another name. */
export async function renameSchema(connection: PostgresConnection, from: string, to: string): Promise<void> {
  const client = connectPostgres(connection, { searchPath: 'pg_catalog', statementTimeoutMs: 0 })
  try {
    await client.unsafe(`alter schema ${quotePostgres(from)} rename to ${quotePostgres(to)}`)
  } finally {
    await client.end({ timeout: 5 })
  }
}

/** Removes from the copy of a base's schema what the copy does not take over, and the log. */
export async function reducePostgresCopy(
  copy: Engine,
  { tables, withData, replaced }: HomeCopy,
): Promise<void> {
  const kept = new Set(tables)
  const { dialect } = copy
  const names = await copy.all<{ name: string }>({
    sql: 'select tablename::text as name from pg_tables where schemaname = current_schema()',
    params: [],
  })
  // The metadata of the copy know no automatic indexes; its own reads decide which it gets.
  const indexes = await copy.all<{ name: string }>({
    sql: 'select indexname::text as name from pg_indexes where schemaname = current_schema()',
    params: [],
  })
  const plain = (sql: string): Statement => ({ sql, params: [] })
  const theirs = names.map(({ name }) => name).filter((name) => !name.startsWith('sheaf_'))
  const copied = theirs.filter((name) => kept.has(name))
  await copy.writeScript([
    ...CLEAR_LOG,
    ...indexes
      .filter(({ name }) => isAutomaticIndex(name))
      .map(({ name }) => plain(`drop index ${dialect.quote(name)}`)),
    ...theirs.filter((name) => !kept.has(name)).flatMap((name) => dialect.dropTable(name)),
    ...(withData
      ? []
      : ['sheaf_places', ...copied].map((name) => plain(`delete from ${dialect.quote(name)}`))),
    ...(withData ? replaced.map((column) => replacement(column, dialect)) : []),
  ])
}

type Sql = { unsafe<T extends object[]>(text: string): Promise<T> }

async function nameOf(tx: Sql, sequence: string): Promise<string> {
  const [row] = await tx.unsafe<{ name: string }[]>(`select ${sequence} as name`)
  if (!row?.name) throw new Error(`${sequence} is no sequence`)
  return row.name
}
