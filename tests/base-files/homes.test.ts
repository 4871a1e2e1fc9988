import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { doorOf, rowsOf } from '../imports/support.ts'
import { EVERY_TYPE, STORED_VALUES } from '../records/every-type.ts'
import { createLink } from '../records/links-support.ts'
import { type Bench, createBench, type TestTable } from '../records/support.ts'
import { exportFile, importFile } from './support.ts'

let files: Bench
let postgres: Bench
let table: TestTable

beforeAll(async () => {
  ;[files, postgres] = await Promise.all([
    createBench({ database: 'sqlite' }),
    createBench({ database: 'postgres' }),
  ])
  table = await files.table(EVERY_TYPE)
  const titles = Object.keys(EVERY_TYPE) as (keyof typeof EVERY_TYPE)[]
  const rows = Array.from({ length: 20 }, (_, at) =>
    Object.fromEntries(
      titles.map((title) => [title, STORED_VALUES[title][at % STORED_VALUES[title].length] ?? null]),
    ),
  )
  const insert = {
    kind: 'insert',
    tableId: table.id,
    rows: rows.map((row) => ({ values: table.values(row) })),
  }
  await files.trpc.records.write.mutate({ change: { baseId: files.baseId, operations: [insert as never] } })
  const link = await createLink(files, table, table, 'mm', { title: 'Friends' })
  await link.set(1, [2, 3])
})
afterAll(() => Promise.all([files?.stop(), postgres?.stop()]))

/** Cells with JSON as its value: PostgreSQL prints it in its own way, but keeps long numbers. */
async function cellsIn(bench: Bench, baseId: string): Promise<Record<string, unknown>[]> {
  const tables = await bench.trpc.schema.tables.query({ baseId })
  const { id } = tables.find(({ title }) => title === table.title) ?? { id: '' }
  const rows = await rowsOf(doorOf(bench.app, bench.owner), id)
  const parsed = (value: CellValue | undefined) =>
    value == null || /^\d{16,}$/.test(String(value)) ? value : JSON.parse(String(value))
  return rows.map(({ Js, Friends, ...row }: Record<string, CellValue>) => ({
    ...row,
    Js: parsed(Js),
    Friends: parsed(Friends),
  }))
}

test('a base goes from files to PostgreSQL and back with the same cells', async () => {
  const original = await cellsIn(files, files.baseId)
  expect(original).toHaveLength(20)
  const there = await importFile(postgres, postgres.owner, await exportFile(files, files.baseId))
  expect(there.error).toBeNull()
  expect(await cellsIn(postgres, there.baseId)).toEqual(original)
  expect(there.result).toMatchObject({ unknownPeople: [], leftOut: [] })
  const back = await importFile(files, files.owner, await exportFile(postgres, there.baseId))
  expect(back.error).toBeNull()
  expect(await cellsIn(files, back.baseId)).toEqual(original)
})
