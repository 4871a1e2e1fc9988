import { AppError } from '../../../src/core/errors.ts'
import type { ConnectionConfig } from '../../../src/db/connection.ts'
import {
  explainConnection,
  introspector,
  type OpenReader,
  openReader,
  type StructureReader,
  type TableStructure,
} from '../../../src/db/introspect/index.ts'

/** Looks at what a connection has led to. @throws AppError where that is not for the one who connects */
export type Look = (config: ConnectionConfig, reader: StructureReader) => Promise<void>

/** How a try to connect went. */
export type ConnectionTest = { ok: true } | { ok: false; message: string }

/** What a connection leads to, for choosing from it. */
export interface Inspection {
  /** Schemas that may be chosen; empty where the database has none. */
  schemas: string[]
  tables: { name: string; kind: TableStructure['kind']; columns: number; rowEstimate: number | null }[]
}

/** Schema of a connection that names none (spec §3). */
export const DEFAULT_SCHEMA = 'public'

/** The schema that a connection means; databases without any ignore it. */
export const schemaOf = (config: ConnectionConfig): string =>
  ('schema' in config ? config.schema : undefined) ?? DEFAULT_SCHEMA

/**
 * Connects, asks for one thing and closes again. Databases are usually on private addresses, so none is
 * refused: who may ask is decided before.
 */
export async function testConnection(config: ConnectionConfig, look: Look): Promise<ConnectionTest> {
  try {
    await using reader = await connect(config)
    await look(config, reader)
    await introspector(config.client).schemas(reader)
    return { ok: true }
  } catch (error) {
    return {
      ok: false,
      message: error instanceof AppError ? error.message : explainConnection(error, config),
    }
  }
}

/** Its schemas, and the tables of the one that it names. @throws what `explainConnection` words */
export async function inspectDatabase(config: ConnectionConfig, look: Look): Promise<Inspection> {
  await using reader = await connect(config)
  await look(config, reader)
  const { schemas, read } = introspector(config.client)
  const { tables } = await read(reader, schemaOf(config))
  return {
    schemas: await schemas(reader),
    tables: tables.map(({ name, kind, columns, rowEstimate }) => ({
      name,
      kind,
      rowEstimate,
      columns: columns.length,
    })),
  }
}

async function connect(config: ConnectionConfig): Promise<OpenReader & AsyncDisposable> {
  const reader = await openReader(config)
  return { ...reader, [Symbol.asyncDispose]: () => reader.close() }
}
