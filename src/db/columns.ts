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

/**
 * The same kinds for PostgreSQL. They are handed out under the SQLite types: a query is built by
 * whichever dialect runs it, and both answer the same values, which the tests hold on each.
 */
export const postgresColumns: Columns = {
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
} as never
