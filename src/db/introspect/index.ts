import { AppError } from '../../core/errors.ts'
import { postgresIdentity } from '../same-server.ts'
import { withKey } from './implied-key.ts'
import { readMysql } from './mysql.ts'
import { mysqlDefault, mysqlShape } from './mysql-shape.ts'
import { readPostgres, readPostgresSchemas } from './postgres.ts'
import { postgresDefault, postgresShape } from './postgres-shape.ts'
import { readSqlite } from './sqlite.ts'
import { sqliteDefault, sqliteShape } from './sqlite-shape.ts'
import type { Introspector } from './structure.ts'

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
 * How databases of that kind tell their structure.
 * @throws BAD_REQUEST `Database not supported` for another kind (spec §8)
 */
export function introspector(client: string): Introspector {
  const found = BY_CLIENT.get(client)
  if (!found) throw new AppError('BAD_REQUEST', 'Database not supported', undefined, 'msg')
  return found
}

export { explainConnection } from './explain-connection.ts'
export { type OpenReader, openReader } from './open-reader.ts'
export { GENERATED } from './shape.ts'
