import type { Sql } from 'postgres'
import { quotePostgres as quote } from '../../dialects/postgres-tables.ts'
import { type PostgresConnection, postgresConnection } from '../connection.ts'
import { migratePostgres } from '../migrate.ts'
import {
  createBaseSchema,
  dropBaseSchema,
  hasSchema,
  schemaOfBase,
  upgradeBaseSchema,
} from '../postgres/base-schema.ts'
import { countServers } from '../postgres/cluster.ts'
import { connectPostgres } from '../postgres/driver.ts'
import {
  type Installation,
  type MetadataKinds,
  type MoveState,
  storeStateStatements,
} from './installation.ts'
import { openPostgresStore, type PostgresClient } from './postgres-store.ts'

/** Key of the advisory lock that a move holds. */
const MOVE_LOCK = 7_433_203

/** What an installation adds to the schema of the metadata, beside its tables. */
const OTHER_TABLES = ['migrations', 'releases', 'cluster_payloads', 'sheaf_move']

/** The state of a move in a database; null without one. @param query runs a statement in the schema of the metadata */
export async function readMoveStateIn(
  query: <T extends object>(sql: string) => Promise<readonly T[]>,
): Promise<MoveState | null> {
  const [found] = await query<{ isThere: boolean }>(
    `select to_regclass(quote_ident(current_schema()) || '.sheaf_move') is not null as "isThere"`,
  )
  if (!found?.isThere) return null
  const [state] = await query<MoveState>('select id, role, state, peer, at from sheaf_move')
  return state ?? null
}

/**
 * An installation in the database of `DATABASE_URL`, kept from other moves until `close`.
 *
 * @throws Error if a server or another move uses it
 */
export async function openPostgresInstallation(url: string): Promise<Installation> {
  const connection = postgresConnection(url)
  const client = connectPostgres(connection, { searchPath: null, statementTimeoutMs: 0 })
  const label = `PostgreSQL ${connection.host}:${connection.port}/${connection.database}`
  const close = () => client.end({ timeout: 5 })
  try {
    const [lock] = await client<{ got: boolean }[]>`select pg_try_advisory_lock(${MOVE_LOCK}) as got`
    if (!lock?.got) throw new Error(`Another “sheaf move” uses ${label}`)
    await migratePostgres(client)
    return { ...(await describe(client, connection, label)), close }
  } catch (error) {
    await close()
    throw error
  }
}

async function describe(
  client: Sql,
  connection: PostgresConnection,
  label: string,
): Promise<Omit<Installation, 'close'>> {
  const [row] = await client<{ schema: string }[]>`select current_schema()::text as schema`
  const schema = row?.schema ?? 'public'
  const storeOn = (on: PostgresClient) => openPostgresStore(on, schema, label)

  async function storeState(on: PostgresClient, state: MoveState | null): Promise<void> {
    for (const { sql, params } of storeStateStatements(state, (at) => `$${at}`)) await on.unsafe(sql, params)
  }

  return {
    client: 'pg',
    label,
    start: 'with DATABASE_URL',
    state: () => readMoveStateIn((text) => client.unsafe(text)),
    async setState(state) {
      await client.begin((tx) => storeState(tx, state))
      // A server joins the others before it looks for the state: one that started in between is found here.
      const servers = state === null ? 0 : await countServers(client)
      if (servers === 0) return
      if (state?.state === 'moving') await storeState(client, null)
      throw new Error(`A server is running on ${label}: stop all servers first (${servers} running)`)
    },
    async isEmpty() {
      const [found] = await client<{ used: boolean }[]>`
        select exists (select 1 from users) or exists (select 1 from pg_namespace where nspname ~ '^nc_p[a-z0-9]{14}$') as used`
      return found?.used !== true
    },
    async kinds(): Promise<MetadataKinds> {
      const tables = await storeOn(client).tables()
      return new Map(
        tables.map((table) => [
          table.name,
          new Map(table.columns.map((column) => [column.name, column.kind])),
        ]),
      )
    },
    metadata: async () => storeOn(client),
    async writeMetadata(_kinds, state, work) {
      await client.begin(async (tx) => {
        await work(storeOn(tx))
        await storeState(tx, state)
      })
    },
    async home(baseId) {
      const own = schemaOfBase(baseId)
      if (!(await hasSchema(connection, own))) return null
      await upgradeBaseSchema(connection, own)
      const home = connectPostgres(connection, { searchPath: quote(own), statementTimeoutMs: 0 })
      return openPostgresStore(home, own, `schema ${own}`, () => home.end({ timeout: 5 }))
    },
    createHome: (baseId) => createBaseSchema(connection, schemaOfBase(baseId)),
    async remove(baseIds) {
      for (const baseId of baseIds) await dropBaseSchema(connection, schemaOfBase(baseId))
      const tables = (await storeOn(client).tables()).map((table) => table.name)
      await client.begin(async (tx) => {
        for (const name of [...tables, ...OTHER_TABLES])
          await tx.unsafe(`drop table if exists ${quote(schema)}.${quote(name)} cascade`)
        await tx.unsafe('drop function if exists sheaf_row_changed()')
      })
    },
  }
}
