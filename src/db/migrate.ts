import type { Database } from 'bun:sqlite'
import type { Sql } from 'postgres'
import { migrationFiles } from '../embedded.ts'

interface Migration {
  /** File name, e.g. `0001_users.sql`: the order and the identity of the migration. */
  name: string
  statements: string[]
}

/** What drizzle-kit writes between two statements of one file. */
const BREAKPOINT = '--> statement-breakpoint'

/** The committed migrations of an engine, in order. */
function readMigrations(engine: 'sqlite' | 'postgres'): Migration[] {
  return migrationFiles(engine).map(({ name, text }) => ({
    name,
    statements: text.split(BREAKPOINT).filter((statement) => statement.trim() !== ''),
  }))
}

/** @throws Error where one of the migrations that were applied is not of this version: what it added would be ignored */
function refuseLater(applied: Iterable<string>, migrations: Migration[], where: string): void {
  const known = new Set(migrations.map(({ name }) => name))
  for (const name of applied) {
    if (!known.has(name))
      throw new Error(
        `${where} was written by a later version of Sheaf (${name}): start that version, or use a backup`,
      )
  }
}

/** Applies what the file has not seen yet, each migration whole or not at all. @throws Error as `refuseLater` */
export function migrateSqlite(file: Database): void {
  file.run('create table if not exists migrations (name text primary key, applied_at text not null)')
  const applied = new Set(
    file
      .query<{ name: string }, []>('select name from migrations')
      .all()
      .map((m) => m.name),
  )
  const migrations = readMigrations('sqlite')
  refuseLater(applied, migrations, file.filename)
  for (const { name, statements } of migrations) {
    if (applied.has(name)) continue
    file.transaction(() => {
      for (const statement of statements) file.run(statement)
      file.run('insert into migrations values (?, ?)', [name, new Date().toISOString()])
    })()
  }
}

/** The same for PostgreSQL; a lock keeps two processes that start together from applying one twice. */
export async function migratePostgres(client: Sql): Promise<void> {
  await client.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(7433201)`
    await tx`create table if not exists migrations (name text primary key, applied_at text not null)`
    const applied = new Set(
      (await tx<{ name: string }[]>`select name from migrations`).map((row) => row.name),
    )
    const migrations = readMigrations('postgres')
    refuseLater(applied, migrations, 'It')
    for (const { name, statements } of migrations) {
      if (applied.has(name)) continue
      for (const statement of statements) await tx.unsafe(statement)
      await tx`insert into migrations values (${name}, ${new Date().toISOString()})`
    }
  })
}
