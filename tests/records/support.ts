import { expect } from 'bun:test'
import { type SQL, sql } from 'drizzle-orm'
import type { FieldOptions } from '../../src/core/fields/field-type.ts'
import type { FieldTypeName } from '../../src/core/fields/index.ts'
import type { Field, TableSchema } from '../../src/core/model.ts'
import { createTestApp, type TestApp, type TestAppOptions, type TestUser } from '../support/app.ts'
import { createBase } from '../support/factories.ts'
import { tableNames } from '../support/home.ts'

/** A field of a test table: its type, or all that there is to say of it. */
export type FieldSpec =
  | FieldTypeName
  | {
      type: FieldTypeName
      options?: FieldOptions
      required?: boolean
      unique?: boolean
      defaultValue?: string | number | boolean
    }

/** An app with a base in which `owner` may do everything. */
export interface Bench {
  app: TestApp
  owner: TestUser
  baseId: string
  /** The owner's REST client and tRPC client. */
  rest: ReturnType<TestApp['rest']>
  trpc: ReturnType<TestApp['trpc']>
  table(fields?: Record<string, FieldSpec>, rows?: object[]): Promise<TestTable>
  stop(): Promise<void>
}

/** A table with short ways to what tests ask of it. */
export interface TestTable {
  id: string
  title: string
  schema: TableSchema
  /** Path of its records in the v2 API. */
  path: string
  field(title: string): Field
  /** Values by field id, from values by title. */
  values(byTitle: Record<string, unknown>): Record<string, never>
  list(query?: string): Promise<Record<string, unknown>[]>
  /** Titles of the records in the table's order. */
  titles(query?: string): Promise<unknown[]>
  total(): Promise<number>
}

let made = 0

export async function createBench(options: TestAppOptions = {}): Promise<Bench> {
  const app = await createTestApp(options)
  const owner = await app.signUp()
  const { id: baseId } = await createBase(app, owner)
  return benchOf(app, owner, baseId)
}

export function benchOf(app: TestApp, owner: TestUser, baseId: string): Bench {
  const rest = app.rest(owner.token)
  const trpc = app.trpc(owner.token)
  return {
    app,
    owner,
    baseId,
    rest,
    trpc,
    stop: () => app.stop(),
    async table(fields = { Title: 'SingleLineText' }, rows = []) {
      const inputs = Object.entries(fields).map(([title, spec]) => ({
        title,
        ...(typeof spec === 'string' ? { type: spec } : spec),
      }))
      const title = `Table ${++made}`
      const schema = await trpc.schema.createTable.mutate({ baseId, title, fields: inputs })
      const table = testTable(rest, schema)
      if (rows.length > 0) {
        const { status, body } = await rest.post(table.path, rows)
        if (status !== 200) throw new Error(`The rows of the test were refused: ${JSON.stringify(body)}`)
      }
      return table
    },
  }
}

/** A table that has been made, with its short ways. */
export function testTable(rest: Bench['rest'], schema: TableSchema): TestTable {
  const { id, title } = schema.table
  const path = `/api/v2/tables/${id}/records`
  const field = (name: string): Field => {
    const found = schema.fields.find((candidate) => candidate.title === name)
    if (!found) throw new Error(`There is no field ${name}`)
    return found
  }
  const read = async (query = '') => {
    const { status, body } = await rest.get(`${path}${query}`)
    if (status !== 200) throw new Error(`${query}: ${status} ${JSON.stringify(body)}`)
    return body
  }
  return {
    id,
    title,
    schema,
    path,
    field,
    values: (byTitle) =>
      Object.fromEntries(Object.entries(byTitle).map(([name, value]) => [field(name).id, value as never])),
    list: async (query = '?limit=1000') => (await read(query)).list,
    titles: async (query = '?limit=1000') =>
      (await read(query)).list.map((row: { Title: unknown }) => row.Title),
    total: async () => (await read('?limit=1')).pageInfo.totalRows,
  }
}

/** Everything that a base's home holds: what must be the same after a refusal. */
export async function dump({
  app,
  baseId,
}: Pick<Bench, 'app' | 'baseId'>): Promise<Record<string, unknown[]>> {
  const engine = await app.kernel.sources.engine(baseId)
  const tables = (await tableNames(app, baseId)).map(async (name) => {
    const rows = await engine.values({ sql: `select * from "${name}"`, params: [] })
    return [name, rows] as const
  })
  return Object.fromEntries(await Promise.all(tables))
}

interface Logged {
  id: number
  kind: string
  actor_id: string | null
  records: number
  undone_by: number | null
  detail: string | null
  changes: {
    record_id: number | string
    before: Record<string, unknown> | null
    after: Record<string, unknown> | null
  }[]
}

/** The log's lines about a table, oldest first, each with its records. */
export async function readLog(
  { app, baseId }: Pick<Bench, 'app' | 'baseId'>,
  table: TestTable,
): Promise<Logged[]> {
  const engine = await app.kernel.sources.engine(baseId)
  const ask = <T>(query: SQL) => engine.all<T>(engine.dialect.render(query))
  const entries = await ask<Omit<Logged, 'changes'>>(
    sql`select * from sheaf_changes where table_id = ${table.id} order by id`,
  )
  const parse = (text: string | null) => (text === null ? null : JSON.parse(text))
  return Promise.all(
    entries.map(async (entry) => {
      const records = await ask<{ record_id: number | string; before: string | null; after: string | null }>(
        sql`select record_id, before, after from sheaf_change_records where change_id = ${entry.id}`,
      )
      const changes = records.map((r) => ({
        // Some homes keep every id as text.
        record_id: Number(r.record_id),
        before: parse(r.before),
        after: parse(r.after),
      }))
      return { ...entry, changes: changes.sort((a, b) => a.record_id - b.record_id) }
    }),
  )
}

/** The refusal of a tRPC call: its code, message and details. @throws Error when it was not refused */
export async function refusalOf(
  call: Promise<unknown>,
): Promise<{ code: string; status: number; message: string }> {
  try {
    await call
  } catch (error) {
    const { message, data } = error as { message: string; data?: { appCode?: string; httpStatus?: number } }
    return { code: data?.appCode ?? 'none', status: data?.httpStatus ?? 0, message }
  }
  throw new Error('The call was not refused')
}

/** Runs a call that must be refused, and holds the base's file against what it was before. */
export async function changesNothing<T>(bench: Bench, call: () => Promise<T>): Promise<T> {
  const before = await dump(bench)
  const answer = await call()
  expect(await dump(bench)).toEqual(before)
  return answer
}

/** What the base's database is asked outside of transactions while `work` runs. */
export async function readsOf(
  { app, baseId }: Pick<Bench, 'app' | 'baseId'>,
  work: () => Promise<unknown>,
): Promise<string[]> {
  const engine = await app.kernel.sources.engine(baseId)
  const { all, values } = engine
  const asked: string[] = []
  engine.all = (statement, options) => {
    asked.push(statement.sql)
    return all(statement, options)
  }
  engine.values = (statement, options) => {
    asked.push(statement.sql)
    return values(statement, options)
  }
  try {
    await work()
  } finally {
    Object.assign(engine, { all, values })
  }
  // Where other processes write to the same tables, the number of all records costs a look into the log.
  return asked.filter((sql) => !/^select (?:count\(\*\)|counted\.count|c\.id as id)/.test(sql))
}
