import type { Sql } from 'postgres'
import { nowIso } from '../../clock.ts'
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
import { installationTables, metadataTables } from '../postgres/definitions.ts'
import { connectPostgres } from '../postgres/driver.ts'
import {
  type BaseMove,
  type BaseMoves,
  type Installation,
  type MetadataKinds,
  type MoveState,
  storeStateStatements,
} from './installation.ts'
import { openPostgresStore, type PostgresClient } from './postgres-store.ts'

/** Key of the advisory lock that a move holds. */
const MOVE_LOCK = 7_433_203

/** As `sheaf_move`, no migration: only installations that have moved single bases have it. */
const CREATE_BASE_MOVES = `create table if not exists sheaf_base_moves
  (base_id text primary key, client text not null, state text not null, at text not null)`

/** Runs a statement in the schema of the metadata. */
type Query = <T extends object>(sql: string) => Promise<readonly T[]>

const hasTable = async (query: Query, name: 'sheaf_move' | 'sheaf_base_moves'): Promise<boolean> => {
  const [found] = await query<{ isThere: boolean }>(
    `select to_regclass(quote_ident(current_schema()) || '.${name}') is not null as "isThere"`,
  )
  return found?.isThere === true
}

/** The state of a move in a database; null without one. */
export async function readMoveStateIn(query: Query): Promise<MoveState | null> {
  if (!(await hasTable(query, 'sheaf_move'))) return null
  const [state] = await query<MoveState>('select id, role, state, peer, at from sheaf_move')
  return state ?? null
}

/** The moves of single bases in a database. */
export async function readBaseMovesIn(query: Query): Promise<readonly BaseMove[]> {
  if (!(await hasTable(query, 'sheaf_base_moves'))) return []
  return query<BaseMove>(
    'select base_id as "baseId", client as "to", state, at from sheaf_base_moves order by base_id',
  )
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
  // Other tables in the schema belong to other programs.
  const storeOn = (on: PostgresClient) =>
    openPostgresStore(on, schema, label, undefined, { only: metadataTables() })

  async function storeState(on: PostgresClient, state: MoveState | null): Promise<void> {
    for (const { sql, params } of storeStateStatements(state, (at) => `$${at}`)) await on.unsafe(sql, params)
  }

  const query: Query = (text) => client.unsafe(text)

  /** The client opens another connection after a loss, and a lock ends with its connection. */
  async function requireLock(on: PostgresClient): Promise<void> {
    const [held] = await on.unsafe(
      `select 1 from pg_locks where locktype = 'advisory' and objid = ${MOVE_LOCK} and pid = pg_backend_pid() and granted`,
    )
    if (held) return
    throw new Error(
      `The connection to ${label} was lost, which kept another “sheaf move” away: run the same command again`,
    )
  }

  /** A transaction of the metadata that is only committed while the lock is held. */
  const exclusively = (work: (tx: PostgresClient) => Promise<void>) =>
    client.begin(async (tx) => {
      await work(tx)
      await requireLock(tx)
    })

  /** @throws Error if a server runs. One that starts now joins the others before it looks for marks */
  async function refuseServers(): Promise<void> {
    const servers = await countServers(client)
    if (servers > 0)
      throw new Error(`A server is running on ${label}: stop all servers first (${servers} running)`)
  }

  const baseMoves: BaseMoves = {
    list: async () => [...(await readBaseMovesIn(query))],
    async begin(baseIds, to) {
      const at = nowIso()
      await exclusively(async (tx) => {
        await tx.unsafe(CREATE_BASE_MOVES)
        for (const baseId of baseIds)
          await tx.unsafe(
            `insert into sheaf_base_moves (base_id, client, state, at) values ($1, $2, 'moving', $3)
              on conflict (base_id) do update set client = $2, state = 'moving', at = $3`,
            [baseId, to, at],
          )
      })
      try {
        await refuseServers()
      } catch (error) {
        await baseMoves.forget(baseIds)
        throw error
      }
    },
    async finish(baseId, to) {
      await exclusively(async (tx) => {
        await tx.unsafe('update sources set client = $1 where base_id = $2 and is_own', [to, baseId])
        await tx.unsafe(`update sheaf_base_moves set state = 'moved', at = $1 where base_id = $2`, [
          nowIso(),
          baseId,
        ])
      })
    },
    async forget(baseIds) {
      for (const baseId of baseIds) await client`delete from sheaf_base_moves where base_id = ${baseId}`
    },
  }

  return {
    client: 'pg',
    label,
    start: 'with DATABASE_URL',
    state: () => readMoveStateIn(query),
    async setState(state) {
      await exclusively((tx) => storeState(tx, state))
      if (state === null) return
      try {
        await refuseServers()
      } catch (error) {
        if (state.state === 'moving') await storeState(client, null)
        throw error
      }
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
      await exclusively(async (tx) => {
        await work(storeOn(tx))
        await storeState(tx, state)
      })
    },
    requireLock: () => requireLock(client),
    baseMoves,
    homeName: (baseId) => `schema ${schemaOfBase(baseId)}`,
    hasHome: (baseId) => hasSchema(connection, schemaOfBase(baseId)),
    async home(baseId) {
      const own = schemaOfBase(baseId)
      if (!(await hasSchema(connection, own))) return null
      await upgradeBaseSchema(connection, own)
      const home = connectPostgres(connection, { searchPath: quote(own), statementTimeoutMs: 0 })
      return openPostgresStore(home, own, `schema ${own}`, () => home.end({ timeout: 5 }))
    },
    createHome: (baseId) => createBaseSchema(connection, schemaOfBase(baseId)),
    removeHome: (baseId) => dropBaseSchema(connection, schemaOfBase(baseId)),
    async remove(baseIds) {
      for (const baseId of baseIds) await dropBaseSchema(connection, schemaOfBase(baseId))
      await client.begin(async (tx) => {
        for (const name of installationTables())
          await tx.unsafe(`drop table if exists ${quote(schema)}.${quote(name)} cascade`)
        await tx.unsafe('drop function if exists sheaf_row_changed()')
      })
    },
  }
}
