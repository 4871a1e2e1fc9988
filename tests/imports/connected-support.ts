import { Database } from 'bun:sqlite'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { ImportResult } from '../../src/core/csv/import-result.ts'
import type { FieldOptions } from '../../src/core/fields/field-type.ts'
import type { FieldTypeName } from '../../src/core/fields/index.ts'
import type { Field } from '../../src/core/model.ts'
import type { Bench } from '../records/support.ts'
import { connect, createForeign, type ForeignDatabase } from '../sources/support.ts'
import { createTrpcClient, type TrpcClient } from '../support/client.ts'
import { type Door, ended, formatOf, reportOf, resultOf, upload } from './support.ts'

export const ENGINES = ['postgres', 'mariadb', 'sqlite'] as const
export type EngineKind = (typeof ENGINES)[number]

/**
 * True where a suite runs all of its tests: for each connected database on SQLite, and for one on the other home, which keeps the
 * same log for all. There, the other databases only get the tests whose values or messages are their own.
 */
export const isWholeSuite = (kind: EngineKind): boolean =>
  process.env.TEST_HOME !== 'postgres' || kind === 'mariadb'

let files = 0

export type ConnectedDatabase = Pick<ForeignDatabase, 'sent' | 'ask' | 'stop'>

/**
 * An empty database of that kind in which the statements have been run.
 *
 * @param dataDir the data folder of the server that connects it, which has a folder for SQLite files
 */
export async function createConnected(
  kind: EngineKind,
  statements: string[],
  dataDir: string,
): Promise<ConnectedDatabase> {
  if (kind !== 'sqlite') return createForeign(kind, statements)
  const folder = join(dataDir, 'sources')
  mkdirSync(folder, { recursive: true })
  const filename = `shop${++files}.db`
  const file = new Database(join(folder, filename), { create: true, strict: true })
  file.run('pragma journal_mode = wal')
  for (const statement of statements) file.run(statement)
  return {
    sent: { client: 'sqlite3', connection: { filename } },
    ask: async <T>(statement: string) => file.query(statement).all() as T[],
    stop: async () => file.close(),
  }
}

export interface ConnectedTable {
  tableId: string
  fields: Field[]
}

/** The tables of a base by their names in the database. */
export async function tablesOf(client: TrpcClient, baseId: string): Promise<Map<string, ConnectedTable>> {
  const found = new Map<string, ConnectedTable>()
  for (const { id, tableName } of await client.schema.tables.query({ baseId })) {
    const { fields } = await client.schema.table.query({ tableId: id })
    found.set(tableName, { tableId: id, fields })
  }
  return found
}

/** Connects a database to the bench's base and gives its tables by name. */
export async function connectTables(
  bench: Bench,
  { sent }: Pick<ConnectedDatabase, 'sent'>,
): Promise<{ sourceId: string; tables: Map<string, ConnectedTable> }> {
  const sourceId = await connect(bench, sent)
  return { sourceId, tables: await tablesOf(bench.trpc, bench.baseId) }
}

export type StartInput = Parameters<TrpcClient['imports']['start']['mutate']>[0]

export interface LoadOptions {
  /** Titles of the key fields. */
  keys?: string[]
  mode?: 'updateAndAdd' | 'update' | 'add'
  emptyCells?: 'keep' | 'clear'
  preview?: boolean
  uploadId?: string
  decimal?: '.' | ','
  /** Titles of link fields whose missing records are created. */
  creates?: string[]
}

/** Starts an import of CSV whose header names the fields. */
export async function startLoad(
  { url, token }: Door,
  baseId: string,
  { tableId, fields }: ConnectedTable,
  file: string,
  { keys, mode, emptyCells, preview = false, uploadId, decimal = '.', creates }: LoadOptions = {},
): Promise<{ jobId: string; uploadId: string }> {
  const header = (file.split('\n', 1)[0] ?? '').split(',')
  const idOf = (title: string): string => {
    const field = fields.find((one) => one.title === title)
    if (!field) throw new Error(`There is no field ${title}`)
    return field.id
  }
  const id = uploadId ?? (await upload({ url, token }, file))
  const input: StartInput = {
    baseId,
    tableId,
    uploadId: id,
    format: formatOf(file, { decimal }),
    width: header.length,
    columns: header.map((title, index) => ({
      index,
      fieldId: idOf(title),
      ...(creates?.includes(title) && { missing: 'create' as const }),
    })),
    update: keys && { keys: keys.map(idOf), mode, emptyCells },
    preview,
  }
  const { jobId } = await createTrpcClient(url, token).imports.start.mutate(input)
  return { jobId, uploadId: id }
}

/** Imports CSV and gives the result with the lines of its report. */
export async function load(
  door: Door,
  baseId: string,
  table: ConnectedTable,
  file: string,
  options: LoadOptions = {},
): Promise<{ result: ImportResult; report: string[] }> {
  const { jobId } = await startLoad(door, baseId, table, file, options)
  const result = resultOf(await ended(door, jobId))
  return { result, report: await reportOf(door, jobId) }
}

/** Imports CSV into a new table of a connected database. Titles and types are those of the columns. */
export async function loadNew(
  { url, token }: Door,
  place: { baseId: string; sourceId: string },
  file: string,
  columns: { title: string; type: FieldTypeName; options?: FieldOptions }[],
): Promise<{ result: ImportResult; report: string[] }> {
  const { jobId } = await createTrpcClient(url, token).imports.start.mutate({
    ...place,
    uploadId: await upload({ url, token }, file),
    format: formatOf(file),
    width: columns.length,
    columns: columns.map((_, index) => ({ index })),
    table: { title: 'New items', fields: columns },
  })
  const result = resultOf(await ended({ url, token }, jobId))
  return { result, report: await reportOf({ url, token }, jobId) }
}
