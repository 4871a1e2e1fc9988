import { NAME_PREFIX, SEARCH_PREFIX } from '../../dialects/automatic-index.ts'
import { quotePostgres } from '../../dialects/postgres-tables.ts'
import { quoteText } from '../../dialects/standard-sql.ts'
import type { PostgresConnection } from '../connection.ts'
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

type Sql = { unsafe<T extends object[]>(text: string): Promise<T> }

async function nameOf(tx: Sql, sequence: string): Promise<string> {
  const [row] = await tx.unsafe<{ name: string }[]>(`select ${sequence} as name`)
  if (!row?.name) throw new Error(`${sequence} is no sequence`)
  return row.name
}
