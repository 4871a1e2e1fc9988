import type { StructureReader } from './introspect/structure.ts'

/** Readable by anyone, and of no other database: when its server was started, and the number it has there. */
const IDENTITY = `select pg_postmaster_start_time()::text || ' ' || oid::text as identity
  from pg_database where datname = current_database()`

/**
 * What tells a database of PostgreSQL from all others, whatever name or address it was reached by. Changes
 * when the server is started anew.
 */
export async function postgresIdentity(reader: StructureReader): Promise<string> {
  const [row] = await reader.all<{ identity: string }>({ sql: IDENTITY, params: [] })
  return row?.identity ?? ''
}
