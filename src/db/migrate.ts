import type { Database } from 'bun:sqlite'
import type { Sql } from 'postgres'
import { nowIso } from '../clock.ts'
import { migrationFiles } from '../embedded.ts'
import { VERSION } from '../version.ts'
import { installCluster } from './postgres/cluster.ts'
import { isLaterVersion, writtenLater } from './written-later.ts'

interface Migration {
  /** File name, e.g. `0001_users.sql`: the order and the identity of the migration. */
  name: string
  statements: string[]
}

/** Separator of statements in the files of drizzle-kit. */
const BREAKPOINT = '--> statement-breakpoint'

/** The committed migrations of an engine, in order. */
function readMigrations(engine: 'sqlite' | 'postgres'): Migration[] {
  return migrationFiles(engine).map(({ name, text }) => ({
    name,
    statements: text.split(BREAKPOINT).filter((statement) => statement.trim() !== ''),
  }))
}

/** Record of the versions that have written the metadata. */
export interface Written {
  /** Names of the migrations that were applied. */
  applied: ReadonlySet<string>
  /** Versions of Sheaf that have opened it, in any order. Versions before 0.2.0 are not recorded. */
  releases: readonly string[]
}

/**
 * The names of the migrations that a start would apply.
 *
 * @throws Error as `refuseLater`
 */
export function pendingMigrations(engine: 'sqlite' | 'postgres', written: Written, where: string): string[] {
  const migrations = readMigrations(engine)
  refuseLater(written, migrations, where)
  return migrations.map(({ name }) => name).filter((name) => !written.applied.has(name))
}

/** As `pendingMigrations`, of an SQLite file. */
export function pendingMigrationsOf(file: Database, where: string): string[] {
  const applied = new Set(namesIn(file, 'migrations', 'name'))
  return pendingMigrations('sqlite', { applied, releases: namesIn(file, 'releases', 'version') }, where)
}

/** The values of a column; an empty list if there is no such table. */
function namesIn(file: Database, table: string, column: string): string[] {
  const isThere = file.query(`select 1 from sqlite_master where type = 'table' and name = ?`).get(table)
  return isThere === null ? [] : file.query(`select ${column} from ${table}`).values().flat().map(String)
}

/** @throws Error naming the later version that has written the metadata: this version would ignore its additions */
function refuseLater({ applied, releases }: Written, migrations: Migration[], where: string): void {
  const latest = releases.reduce<string | null>(
    (last, version) => (last === null || isLaterVersion(version, last) ? version : last),
    null,
  )
  if (latest !== null && isLaterVersion(latest, VERSION)) throw new Error(writtenLater(where, latest))
  const known = new Set(migrations.map(({ name }) => name))
  for (const name of applied) {
    if (!known.has(name)) throw new Error(writtenLater(where, null, ` (${name})`))
  }
}

/** Applies pending migrations, each in one transaction. @throws Error as `refuseLater` */
export function migrateSqlite(file: Database): void {
  const applied = new Set(namesIn(file, 'migrations', 'name'))
  const migrations = readMigrations('sqlite')
  refuseLater({ applied, releases: namesIn(file, 'releases', 'version') }, migrations, file.filename)
  file.run('create table if not exists migrations (name text primary key, applied_at text not null)')
  for (const { name, statements } of migrations) {
    if (applied.has(name)) continue
    file.transaction(() => {
      for (const statement of statements) file.run(statement)
      file.run('insert into migrations values (?, ?)', [name, nowIso()])
    })()
  }
  file.run('create table if not exists releases (version text primary key, opened_at text not null)')
  file.run('insert into releases values (?, ?) on conflict do nothing', [VERSION, nowIso()])
}

/** As `migrateSqlite`, for PostgreSQL. A lock keeps processes that start together from applying a migration twice. */
export async function migratePostgres(client: Sql): Promise<void> {
  await client.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(7433201)`
    await tx`create table if not exists migrations (name text primary key, applied_at text not null)`
    await tx`create table if not exists releases (version text primary key, opened_at text not null)`
    const applied = new Set(
      (await tx<{ name: string }[]>`select name from migrations`).map((row) => row.name),
    )
    const releases = (await tx<{ version: string }[]>`select version from releases`).map((row) => row.version)
    const migrations = readMigrations('postgres')
    refuseLater({ applied, releases }, migrations, 'It')
    for (const { name, statements } of migrations) {
      if (applied.has(name)) continue
      // The tables are in the first schema of the search path, which drizzle-kit takes for `public`.
      for (const statement of statements)
        await tx.unsafe(statement.replaceAll(' REFERENCES "public".', ' REFERENCES '))
      await tx`insert into migrations values (${name}, ${nowIso()})`
    }
    await tx`insert into releases values (${VERSION}, ${nowIso()}) on conflict do nothing`
    await installCluster(tx)
  })
}
