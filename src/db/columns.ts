import {
  bigint,
  boolean,
  doublePrecision,
  jsonb,
  index as pgIndex,
  integer as pgInteger,
  primaryKey as pgPrimaryKey,
  pgTable,
  text as pgText,
  uniqueIndex as pgUniqueIndex,
} from 'drizzle-orm/pg-core'
import { index, integer, primaryKey, real, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'

/**
 * The column kinds our own tables are made of, for SQLite. Only kinds that both engines give back
 * as the same JavaScript type are here, so that one definition and one query serve both:
 * times are ISO text (`2026-11-20T10:33:08.000Z`), order keys are reals.
 */
export const sqliteColumns = {
  table: sqliteTable,
  index,
  uniqueIndex,
  primaryKey,
  text: (name: string) => text(name),
  integer: (name: string) => integer(name),
  /** A count that may pass 2^31, such as a size in bytes. */
  bigInteger: (name: string) => integer(name),
  real: (name: string) => real(name),
  flag: (name: string) => integer(name, { mode: 'boolean' }),
  json: (name: string) => text(name, { mode: 'json' }),
  /** Primary key that the database numbers. */
  serial: (name: string) => integer(name).primaryKey({ autoIncrement: true }),
}

export type Columns = typeof sqliteColumns

type ColumnKind = Exclude<keyof Columns, 'table' | 'index' | 'uniqueIndex' | 'primaryKey'>
type ValueOf<Builder> = Builder extends { _: { data: infer Value } } ? Value : never
/** Every kind of column, with the JavaScript type that SQLite's column of that kind gives. */
type SameColumns = {
  [Kind in ColumnKind]: (name: string) => { _: { data: ValueOf<ReturnType<Columns[Kind]>> } }
}

/**
 * Drizzle's builders for PostgreSQL under the types of those for SQLite: our definitions and queries are
 * written once. Drizzle has no type for both. The builders share the methods we use; `SameColumns` holds their values
 * equal, and the tests run the queries on both.
 */
export const typedAsSqlite = <T>(builder: object): T => builder as T

/** The same kinds for PostgreSQL. */
export const postgresColumns = typedAsSqlite<Columns>({
  table: pgTable,
  index: pgIndex,
  uniqueIndex: pgUniqueIndex,
  primaryKey: pgPrimaryKey,
  text: (name: string) => pgText(name),
  integer: (name: string) => pgInteger(name),
  bigInteger: (name: string) => bigint(name, { mode: 'number' }),
  real: (name: string) => doublePrecision(name),
  flag: (name: string) => boolean(name),
  json: (name: string) => jsonb(name),
  serial: (name: string) => pgInteger(name).primaryKey().generatedAlwaysAsIdentity(),
} satisfies SameColumns & Record<keyof Columns, unknown>)
