import postgres, { type Sql } from 'postgres'
import { fractionDigits } from '../../core/dates.ts'
import { AppError } from '../../core/errors.ts'
import { exactNumber } from '../../dialects/exact-number.ts'
import { storedTime } from '../../dialects/standard-words.ts'
import type { PostgresConnection } from '../connection.ts'
import { dial } from './dial.ts'

/** Numbers that PostgreSQL gives its own types: https://github.com/postgres/postgres/blob/master/src/include/catalog/pg_type.dat */
const OID = {
  bool: 16,
  bytea: 17,
  int8: 20,
  json: 114,
  date: 1082,
  time: 1083,
  timestamp: 1114,
  numeric: 1700,
  float4: 700,
  float8: 701,
  timestamptz: 1184,
  jsonb: 3802,
}

const same = (text: string): string => text

/** Values as cells have them: nothing of a number is lost, and dates, times and JSON stay text. */
const TYPES = {
  exact: { to: OID.int8, from: [OID.int8, OID.numeric], serialize: String, parse: exactNumber },
  // An infinite number is not in JSON.
  float: {
    to: OID.float8,
    from: [OID.float4, OID.float8],
    serialize: String,
    parse: (text: string) => exactNumber(Number(text)),
  },
  flag: {
    to: OID.bool,
    from: [OID.bool],
    // Where text is bound, PostgreSQL itself reads it: `yes`, `off`, `1`.
    serialize: String,
    parse: (text: string) => text === 't',
  },
  json: { to: OID.json, from: [OID.json, OID.jsonb], serialize: String, parse: same },
  date: { to: OID.date, from: [OID.date], serialize: String, parse: same },
  time: { to: OID.time, from: [OID.time], serialize: String, parse: storedTime },
  bytes: { to: OID.bytea, from: [OID.bytea], serialize: String, parse: same },
  instant: {
    to: OID.timestamptz,
    from: [OID.timestamptz, OID.timestamp],
    serialize: String,
    parse: storedInstant,
  },
}

/** `2024-02-29 12:00:00.5+00` as cells have it: `2024-02-29 12:00:00.500+00:00`; without a zone it is taken for UTC. */
export function storedInstant(text: string): string {
  const match = /^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?:\.(\d+))?(?:\+00)?$/.exec(text)
  // `infinity`, and days outside of the years 1 to 9999.
  if (!match) return text
  const digits = fractionDigits(match[2] ?? '')
  return `${match[1]}${digits === '' ? '' : `.${digits}`}+00:00`
}

/** What a connection sets once it is made. */
export interface ConnectionSettings {
  /** Whatever is called by a name alone is looked for here. */
  searchPath: string
  /** A statement that takes longer is cut off; 0 for none. */
  statementTimeoutMs: number
  onclose?: () => void
  /** Aborted where nobody waits for the connection any more: an attempt that is under way then ends at once. */
  signal?: AbortSignal
}

/** At the start nothing is found by its name alone: whoever forgets to say where gets an error. */
export const NOWHERE = 'sheaf_nowhere'

/**
 * A client of one connection, which it makes when it is first used and again after it was lost.
 *
 * The driver fills in what it is not given from this server's own environment (`PGUSER`, `PGPASSWORD`, …), and takes
 * a host with a `/` for a local socket: so it is given all parts, and lines that are open already.
 */
export function connectPostgres(
  target: PostgresConnection,
  { searchPath, statementTimeoutMs, onclose, signal }: ConnectionSettings,
): Sql {
  const { host, port, user, password, database } = target
  if (user === '' || host.includes('/'))
    throw new AppError('DATABASE_ERROR', 'A connection needs a user, and the name or address of a host')
  const options = {
    // Lists are not split at commas.
    host: [host],
    port: [port],
    user,
    database,
    // A function counts as given also where it returns no password.
    pass: () => password,
    socket: () => dial(target, signal),
    max: 1,
    // Nobody but us closes a connection: it could be in the middle of a transaction.
    idle_timeout: 0,
    max_lifetime: null,
    // `dial` keeps the time, and encrypts.
    connect_timeout: null,
    backoff: () => 0,
    ssl: false,
    sslnegotiation: null,
    max_pipeline: 100,
    keep_alive: 60,
    prepare: true,
    debug: false,
    publications: 'alltables',
    fetch_types: false,
    onnotice: () => {},
    onclose,
    types: TYPES,
    connection: {
      application_name: 'sheaf',
      TimeZone: 'UTC',
      DateStyle: 'ISO, MDY',
      IntervalStyle: 'postgres',
      search_path: searchPath,
      statement_timeout: statementTimeoutMs,
      // A page with many subqueries looks so dear that it is compiled first: a second, to save milliseconds.
      jit: 'off',
    },
  }
  // The driver's types lack lists of hosts and ports, and null for no time limit.
  return postgres(options as object)
}
