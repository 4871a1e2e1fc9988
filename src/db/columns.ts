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
 * The column kinds of the metadata tables, for SQLite. Limited to kinds that both engines return as the same JavaScript
 * type, so that one definition and one query serve both: times are ISO text (`2026-11-20T10:33:08.000Z`), order keys
 * are reals.
 */
export const sqliteColumns = {
  table: sqliteTable,
  index,
  uniqueIndex,
  primaryKey,
  text: (name: string) => text(name),
  integer: (name: string) => integer(name),
  /** An integer that may exceed 2^31, such as a size in bytes. */
  bigInteger: (name: string) => integer(name),
  real: (name: string) => real(name),
  flag: (name: string) => integer(name, { mode: 'boolean' }),
  json: (name: string) => text(name, { mode: 'json' }),
  /** Auto-incremented primary key. */
  serial: (name: string) => integer(name).primaryKey({ autoIncrement: true }),
}

export type Columns = typeof sqliteColumns

type ColumnKind = Exclude<keyof Columns, 'table' | 'index' | 'uniqueIndex' | 'primaryKey'>
type ValueOf<Builder> = Builder extends { _: { data: infer Value } } ? Value : never
/** Every column kind with the JavaScript type of SQLite's column. */
type SameColumns = {
  [Kind in ColumnKind]: (name: string) => { _: { data: ValueOf<ReturnType<Columns[Kind]>> } }
}

/**
 * Gives Drizzle's PostgreSQL builders the types of the SQLite ones, because Drizzle has no common type. The builders
 * share the methods we use, `SameColumns` checks that their values have equal types, and the tests run the queries on
 * both.
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
