import { SEARCH_PREFIX } from '../../dialects/automatic-index.ts'
import type { IndexDefinition, IndexedTable, SearchIndexVersion, Statement } from '../../dialects/dialect.ts'
import {
  POSTGRES_SEARCH_FUNCTIONS,
  postgresIndexedColumns,
  postgresSearchIndexes,
} from '../../dialects/postgres-search.ts'
import { quotePostgres } from '../../dialects/postgres-tables.ts'
import { quoteText } from '../../dialects/standard-sql.ts'
import type { PostgresConnection } from '../connection.ts'
import { connectPostgres } from './driver.ts'

const LOOK_AGAIN_MS = 200

type Client = ReturnType<typeof connectPostgres>

/**
 * Builds an index without blocking writers. `create index concurrently` cannot run in a transaction, and leaves an
 * invalid index behind if it fails, which is dropped here.
 */
export async function buildIndex(
  connection: PostgresConnection,
  schema: string,
  { name, table, terms }: IndexDefinition,
): Promise<void> {
  await withClient(connection, schema, async (client) => {
    await takeTurn(client, schema)
    await build(client, schema, name, table, `(${terms.join(', ')})`)
  })
}

/**
 * Builds the search index of a table without blocking writers.
 *
 * @returns `unavailable` if the database has no pg_trgm and its account may not create it
 */
export async function buildSearchIndex(
  connection: PostgresConnection,
  schema: string,
  table: IndexedTable,
  version: SearchIndexVersion,
): Promise<'built' | 'unavailable'> {
  const extension = await trigramSchema(connection)
  if (extension === null) return 'unavailable'
  await withClient(connection, schema, async (client) => {
    await takeTurn(client, schema)
    for (const text of POSTGRES_SEARCH_FUNCTIONS) await client.unsafe(text)
    const name = postgresSearchIndexes.indexName(table, version.generation)
    // Nobody waits for a read of pending entries, and writers never for more than a quarter of a megabyte of them.
    const definition = `using gin (${postgresIndexedColumns(version, extension)})
      with (gin_pending_list_limit = ${PENDING_KILOBYTES})`
    await build(client, schema, name, table.name, definition)
    // The index is used from then on.
    await client.unsafe(
      `comment on index ${quotePostgres(name)} is ${quoteText(JSON.stringify(version.columns))}`,
    )
  })
  return 'built'
}

/** Entries of new and changed records that wait to be sorted into a search index. */
const PENDING_KILOBYTES = 256

/** The schema of pg_trgm, which is created in the first schema of the account if possible; null if there is none. */
async function trigramSchema(connection: PostgresConnection): Promise<string | null> {
  const client = connectPostgres(connection, { searchPath: null, statementTimeoutMs: 0 })
  const find = async () => {
    const [row] = await client<{ schema: string }[]>`select n.nspname as schema
      from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'pg_trgm'`
    return row?.schema ?? null
  }
  try {
    // Another server may create it at the same time.
    return (await find()) ?? (await client`create extension if not exists pg_trgm`.then(find, find))
  } finally {
    await client.end({ timeout: 5 })
  }
}

/** Selects the part of a table's search index that is built, as `part`. */
export const searchIndexProgress = (schema: string, { name }: IndexedTable): Statement => ({
  sql: `select (case when p.blocks_total > 0 then least(p.blocks_done::float8 / p.blocks_total, 1) else 0 end) as part
    from pg_stat_progress_create_index p join pg_class i on i.oid = p.index_relid
    where p.relid = to_regclass(quote_ident($1) || '.' || quote_ident($2)) and starts_with(i.relname::text, $3)`,
  params: [schema, name, SEARCH_PREFIX],
})

async function build(
  client: Client,
  schema: string,
  name: string,
  table: string,
  definition: string,
): Promise<void> {
  // A server that was killed while it built the index has left it invalid.
  await dropInvalid(client, schema, name)
  const [quotedName, quotedTable] = [quotePostgres(name), quotePostgres(table)]
  try {
    await client.unsafe(
      `create index concurrently if not exists ${quotedName} on ${quotedTable} ${definition}`,
    )
  } catch (error) {
    await dropInvalid(client, schema, name)
    throw error
  }
  // Statistics of expressions, and the visibility map, without which an index alone answers no query.
  await client.unsafe(`vacuum (analyze) ${quotedTable}`)
}

/** Drops an index without blocking writers. */
export const dropIndex = (connection: PostgresConnection, schema: string, name: string): Promise<void> =>
  withClient(connection, schema, async (client) => {
    await takeTurn(client, schema)
    await client.unsafe(`drop index concurrently if exists ${quotePostgres(name)}`)
  })

/**
 * Waits until no other server builds an index in the schema. Two at once end in a deadlock, and so does waiting for a
 * lock in a statement, whose snapshot the other one waits for.
 */
async function takeTurn(client: Client, schema: string): Promise<void> {
  for (;;) {
    const [row] =
      await client`select pg_try_advisory_lock(hashtextextended(${`sheaf indexes ${schema}`}, 0)) as taken`
    if (row?.taken) return
    await Bun.sleep(LOOK_AGAIN_MS)
  }
}

async function dropInvalid(client: Client, schema: string, name: string): Promise<void> {
  const invalid = await client`select 1 from pg_index i join pg_class c on c.oid = i.indexrelid
    join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = ${schema} and c.relname = ${name} and not i.indisvalid`
  if (invalid.length > 0) await client.unsafe(`drop index concurrently if exists ${quotePostgres(name)}`)
}

async function withClient(
  connection: PostgresConnection,
  schema: string,
  work: (client: Client) => Promise<void>,
): Promise<void> {
  const client = connectPostgres(connection, { searchPath: quotePostgres(schema), statementTimeoutMs: 0 })
  try {
    await work(client)
  } finally {
    await client.end({ timeout: 5 })
  }
}
