import type { EngineLocation } from '../dialects/dialect.ts'
import type { BulkWatch, BulkWriter } from './bulk-writer.ts'
import { openPostgresBulkWriter } from './postgres/bulk-writer.ts'
import { openSqliteBulkWriter } from './sqlite-bulk-writer.ts'

type Openers = {
  [C in EngineLocation['client']]: (
    location: Extract<EngineLocation, { client: C }>,
    watch: BulkWatch,
  ) => BulkWriter
}

const OPENERS: Openers = {
  sqlite3: ({ file }) => openSqliteBulkWriter(file),
  pg: ({ connection, schema }, watch) => openPostgresBulkWriter(connection, schema, watch),
  mysql2() {
    throw new Error('No base has its home in MySQL')
  },
}

/** @throws Error for an external database */
export function openBulkWriter(location: EngineLocation, watch: BulkWatch): BulkWriter {
  const open = OPENERS[location.client] as (location: EngineLocation, watch: BulkWatch) => BulkWriter
  return open(location, watch)
}
