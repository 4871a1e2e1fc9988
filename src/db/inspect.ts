import { constants, Database } from 'bun:sqlite'
import { accessSync, existsSync, constants as files, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { postgresConnection } from './connection.ts'
import { pendingMigrations, pendingMigrationsOf } from './migrate.ts'
import { refuseMoved } from './move/installation.ts'
import { readBaseMovesIn, readMoveStateIn } from './move/postgres-installation.ts'
import { readMoveState } from './move/sqlite-installation.ts'
import { schemaOfBase } from './postgres/base-schema.ts'
import { connectPostgres } from './postgres/driver.ts'
import { problemOf } from './sqlite-index-build.ts'

/*
 * Looks into an installation's databases without changing them: no file is created, no migration applied.
 */

/** What a check has found: `note` is worth knowing, `fail` keeps the server or a part of it from working. */
export interface Finding {
  level: 'ok' | 'note' | 'fail'
  text: string
}

export const ok = (text: string): Finding => ({ level: 'ok', text })
export const note = (text: string): Finding => ({ level: 'note', text })
export const fail = (text: string): Finding => ({ level: 'fail', text })

/** What the metadata say about bases, as far as checks need it. */
export interface KnownBases {
  /** Bases in files, and those in PostgreSQL. */
  inFiles: { id: string; title: string }[]
  inSchemas: { id: string; title: string }[]
  connections: { alias: string | null; config: string }[]
  /** Active plugins, with their sealed settings. */
  plugins: { id: string; input: string }[]
}

interface MetadataCheck {
  findings: Finding[]
  /** Null before the first start, and for metadata that an older version has written. */
  known: KnownBases | null
}

const basesIn = (client: 'sqlite3' | 'pg'): string =>
  `select b.id, b.title from bases b join sources s on s.base_id = b.id and s.is_own = true and s.client = '${client}'`
const CONNECTIONS =
  'select alias, config from sources where config is not null and is_enabled = true and is_own = false'

const PLUGINS = 'select id, input from plugins where input is not null and is_active = true'

/** What the metadata say about bases. */
async function readBases(all: (sql: string) => unknown): Promise<KnownBases> {
  const [inFiles, inSchemas, connections, plugins] = [
    await all(basesIn('sqlite3')),
    await all(basesIn('pg')),
    await all(CONNECTIONS),
    await all(PLUGINS),
  ]
  return { inFiles, inSchemas, connections, plugins } as KnownBases
}

/** The metadata's state, and what they know of bases. @throws Error that says why they cannot be used */
export const inspectMetadata = async (config: Config): Promise<MetadataCheck> =>
  config.databaseUrl === null ? inspectSqlite(config) : inspectPostgres(config)

/**
 * Opens a file for reading only. One that nobody has open is read without creating the files of a shared log.
 *
 * @throws Error if the file cannot be written: the server has to
 */
function openReadonly(path: string): Database {
  accessSync(path, files.R_OK | files.W_OK)
  const isOpen = existsSync(`${path}-wal`)
  const uri = `file:${encodeURI(path).replaceAll('?', '%3f').replaceAll('#', '%23')}${isOpen ? '' : '?immutable=1'}`
  return new Database(uri, constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI)
}

async function inspectSqlite({ dataDir }: Config): Promise<MetadataCheck> {
  const path = join(dataDir, 'sheaf.db')
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0) {
    const isLost = existsSync(join(dataDir, 'bases'))
    const text = isLost
      ? `${path} is missing or empty, but there are bases: restore it from a backup`
      : `${path} does not exist yet: the first start creates it`
    return { findings: [isLost ? fail(text) : note(text)], known: null }
  }
  const file = openReadonly(path)
  try {
    const problems = file.query('pragma quick_check(3)').values().flat().map(String)
    if (problems[0] !== 'ok')
      return { findings: [fail(`${path} is damaged: ${problems.join('; ')}`)], known: null }
    const pending = pendingMigrationsOf(file, path)
    refuseMoved(`The data folder ${dataDir}`, readMoveState(file))
    return {
      findings: [ok(`The metadata in ${path} can be read`), ...describePending(pending)],
      known: pending.length > 0 ? null : await readBases((sql) => file.query(sql).all()),
    }
  } finally {
    file.close()
  }
}

const describePending = (pending: string[]): Finding[] =>
  pending.length === 0
    ? []
    : [
        note(
          `The next start upgrades the metadata (${pending.length} steps); run the check again after it for the bases`,
        ),
      ]

/** The oldest PostgreSQL that is supported. */
const MIN_POSTGRES = 130_000

async function inspectPostgres({ databaseUrl, databaseConnections }: Config): Promise<MetadataCheck> {
  const target = postgresConnection(databaseUrl ?? '')
  const client = connectPostgres(target, { searchPath: null, statementTimeoutMs: 10_000 })
  try {
    const query = async <T>(sql: string): Promise<T[]> => (await client.unsafe(sql)) as unknown as T[]
    const [server] = await query<{ version: string; mayCreate: boolean; most: string; used: string }>(
      `select current_setting('server_version_num') as version, current_setting('max_connections') as most,
        has_database_privilege(current_database(), 'create') as "mayCreate",
        (select count(*) from pg_stat_activity) as used`,
    )
    const findings = [ok(`PostgreSQL ${target.database} on ${target.host} answers`)]
    if (Number(server?.version) < MIN_POSTGRES) findings.push(fail('PostgreSQL 13 or later is needed'))
    if (!server?.mayCreate) {
      findings.push(
        fail(
          `${target.user} may not create schemas: grant create on database "${target.database}" to "${target.user}"`,
        ),
      )
    }
    const most = Number(server?.most)
    const wanted = `${databaseConnections} connections per server (DATABASE_CONNECTIONS)`
    if (databaseConnections > most) findings.push(fail(`${wanted}, but PostgreSQL allows ${most} in all`))
    else findings.push(ok(`${wanted}; PostgreSQL allows ${most} in all, ${server?.used} are open`))
    const tables = await query<{ name: string }>(
      `select tablename as name from pg_tables where schemaname = current_schema() and tablename in ('migrations', 'releases')`,
    )
    const namesIn = async (table: string, column: string) =>
      tables.some(({ name }) => name === table)
        ? (await query<{ value: string }>(`select ${column} as value from ${table}`)).map(
            ({ value }) => value,
          )
        : []
    const written = {
      applied: new Set(await namesIn('migrations', 'name')),
      releases: await namesIn('releases', 'version'),
    }
    const pending = pendingMigrations('postgres', written, 'It')
    refuseMoved('It', await readMoveStateIn(query), await readBaseMovesIn(query))
    if (written.applied.size === 0)
      return { findings: [...findings, note('The database is empty: the first start fills it')], known: null }
    if (pending.length > 0) return { findings: [...findings, ...describePending(pending)], known: null }
    const known = await readBases(query)
    const schemas = new Set(
      (await query<{ name: string }>('select schema_name as name from information_schema.schemata')).map(
        ({ name }) => name,
      ),
    )
    const missing = known.inSchemas.filter(({ id }) => !schemas.has(schemaOfBase(id)))
    for (const { id, title } of missing)
      findings.push(
        fail(`The schema ${schemaOfBase(id)} of the base “${title}” is missing: restore it from a backup`),
      )
    return { findings, known }
  } finally {
    await client.end({ timeout: 1 })
  }
}

/** Checks the files of bases: that each is there and is a database; with `isFull` its whole structure. */
export function inspectBases({ dataDir }: Config, known: KnownBases | null, isFull: boolean): Finding[] {
  const inFiles = known?.inFiles ?? []
  const problems = inFiles.flatMap(({ id, title }) => {
    const path = join(dataDir, 'bases', `${id}.db`)
    const what = `The base “${title}” (${path})`
    try {
      if (!existsSync(path)) return [fail(`${what} is missing: restore the file from a backup`)]
      const file = openReadonly(path)
      try {
        file.query('select count(*) from sqlite_master').get()
        if (!isFull) return []
        const problem = problemOf(file, 'integrity_check')
        return problem === null ? [] : [fail(`${what} is damaged: ${problem}`)]
      } finally {
        file.close()
      }
    } catch (error) {
      return [fail(`${what} cannot be opened: ${error instanceof Error ? error.message : String(error)}`)]
    }
  })
  if (inFiles.length === 0) return []
  const found = `${inFiles.length - problems.length} of ${inFiles.length} base files can be read`
  return [problems.length === 0 ? ok(found) : note(found), ...problems]
}
