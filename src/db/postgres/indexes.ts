import type { IndexDefinition } from '../../dialects/dialect.ts'
import { quotePostgres } from '../../dialects/postgres-tables.ts'
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
    // A server that was killed while it built the index has left it invalid.
    await dropInvalid(client, schema, name)
    const [quotedName, quotedTable] = [quotePostgres(name), quotePostgres(table)]
    try {
      await client.unsafe(
        `create index concurrently if not exists ${quotedName} on ${quotedTable} (${terms.join(', ')})`,
      )
    } catch (error) {
      await dropInvalid(client, schema, name)
      throw error
    }
    // Statistics of expressions, and the visibility map, without which an index alone answers no query.
    await client.unsafe(`vacuum (analyze) ${quotedTable}`)
  })
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
