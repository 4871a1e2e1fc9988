import { AppError } from '../../core/errors.ts'
import { m } from '../../messages.gen.ts'
import { mysqlDefault, mysqlShape, readMysql } from './mysql.ts'
import {
  postgresDefault,
  postgresIdentity,
  postgresShape,
  readPostgres,
  readPostgresSchemas,
} from './postgres.ts'
import { readSqlite, sqliteDefault, sqliteShape } from './sqlite.ts'
import type { Introspector, TableStructure } from './structure.ts'

export type {
  ColumnShape,
  ColumnStructure,
  DatabaseStructure,
  ForeignKeyStructure,
  Introspector,
  StructureReader,
  TableStructure,
} from './structure.ts'

const INTROSPECTORS: readonly Introspector[] = [
  {
    client: 'pg',
    read: readPostgres,
    schemas: readPostgresSchemas,
    identity: postgresIdentity,
    shape: postgresShape,
    defaultValue: postgresDefault,
  },
  {
    client: 'mysql2',
    read: readMysql,
    schemas: async () => [],
    identity: async () => null,
    shape: mysqlShape,
    defaultValue: mysqlDefault,
  },
  {
    client: 'sqlite3',
    read: readSqlite,
    schemas: async () => [],
    identity: async () => null,
    shape: sqliteShape,
    defaultValue: sqliteDefault,
  },
]

const BY_CLIENT = new Map(
  INTROSPECTORS.map((one): [string, Introspector] => [
    one.client,
    {
      ...one,
      async read(reader, schema) {
        const { tables } = await one.read(reader, schema)
        return { tables: tables.map(withKey) }
      },
    },
  ]),
)

/**
 * The introspector of a kind of database.
 * @throws BAD_REQUEST `Database not supported` for another kind (spec §8)
 */
export function introspector(client: string): Introspector {
  const found = BY_CLIENT.get(client)
  if (!found) throw new AppError('BAD_REQUEST', m.wire_error_database_not_supported(), undefined, 'msg')
  return found
}

export { explainConnection, type OpenReader, openReader } from './open-reader.ts'
export { GENERATED } from './shape.ts'

/**
 * Sets a record key for a table without a primary key: the first unique key whose columns are all not null
 * (as in Rails' join tables).
 */
function withKey(table: TableStructure): TableStructure {
  if (table.kind === 'view' || table.primaryKey.length > 0) return table
  const filled = new Set(table.columns.filter(({ isNullable }) => !isNullable).map(({ name }) => name))
  const key = table.uniqueKeys
    .filter((columns) => columns.length > 0 && columns.every((name) => filled.has(name)))
    .toSorted((a, b) => a.length - b.length)[0]
  return key
    ? { ...table, primaryKey: key, uniqueKeys: table.uniqueKeys.filter((one) => one !== key) }
    : table
}
