import { citus } from '../../dialects/citus.ts'
import type { Dialect, Statement } from '../../dialects/dialect.ts'
import { postgres } from '../../dialects/postgres.ts'

/** What depends on whether one PostgreSQL server holds a database or Citus spreads it over several. */
export interface PostgresVariant {
  dialect: Dialect
  /** Selects the size of a schema’s tables with their indexes, as `bytes`. */
  schemaSize(schema: string): Statement
  /** Selects the size of the whole database, as `bytes`. */
  databaseSize: Statement
}

const sizeOfTables = (sizeOf: string) => (schema: string) => ({
  sql: `select sum(${sizeOf}(c.oid)) as bytes from pg_class c
    join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relkind = 'r'`,
  params: [schema],
})

const SINGLE: PostgresVariant = {
  dialect: postgres,
  schemaSize: sizeOfTables('pg_total_relation_size'),
  databaseSize: { sql: 'select pg_database_size(current_database()) as bytes', params: [] },
}

const CITUS: PostgresVariant = {
  dialect: citus,
  schemaSize: sizeOfTables('citus_total_relation_size'),
  databaseSize: {
    sql: `select sum(result::bigint) as bytes
      from run_command_on_all_nodes('select pg_database_size(current_database())') where success`,
    params: [],
  },
}

/** The variant of a database, with `all` to read from it. */
export async function findVariant(
  all: (statement: Statement) => Promise<{ extensions: number }[]>,
): Promise<PostgresVariant> {
  const [row] = await all({
    sql: `select count(*)::int as extensions from pg_extension where extname = 'citus'`,
    params: [],
  })
  return row?.extensions === 1 ? CITUS : SINGLE
}
