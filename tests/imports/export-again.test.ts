import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import type { FieldTypeName } from '../../src/core/fields/index.ts'
import { EVERY_TYPE, STORED_VALUES } from '../records/every-type.ts'
import { type Bench, createBench, type FieldSpec, type TestTable } from '../records/support.ts'
import { createMember } from '../support/factories.ts'
import { doorOf, ended, formatOf, reportOf, resultOf, rowsOf, upload } from './support.ts'

let bench: Bench
beforeAll(async () => {
  bench = await createBench()
})
afterAll(() => bench.stop())

async function fill(table: TestTable, rows: Record<string, CellValue>[]): Promise<void> {
  await bench.trpc.records.write.mutate({
    change: {
      baseId: bench.baseId,
      operations: [
        { kind: 'insert', tableId: table.id, rows: rows.map((row) => ({ values: table.values(row) })) },
      ],
    },
  })
}

/** Exports a table as CSV and imports the file into another one with the same fields. */
async function exportAndImport(from: TestTable, to: TestTable, timeZone: string): Promise<string[]> {
  const { jobId } = await bench.trpc.records.export.mutate({
    ...{ tableId: from.id, viewId: from.schema.views[0]?.id ?? '', format: 'csv', timeZone },
  })
  const door = doorOf(bench.app, bench.owner)
  const { result } = await ended(door, jobId)
  const file = await (await fetch(`${bench.app.url}/${(result as { url: string }).url}`)).text()
  const titles = file.slice(0, file.indexOf('\r\n')).split(',')
  const started = await bench.trpc.imports.start.mutate({
    ...{ baseId: bench.baseId, tableId: to.id, uploadId: await upload(door, file), width: titles.length },
    format: { ...formatOf(file), guarded: true },
    columns: titles.map((title, index) => ({ index, fieldId: to.field(title).id })),
    timeZone,
  })
  resultOf(await ended(door, started.jobId))
  return reportOf(door, started.jobId)
}

/** A CSV cell is empty or it is not: empty text and none are the same. */
const settled = (rows: Record<string, CellValue>[]) =>
  rows.map((row) =>
    Object.fromEntries(Object.entries(row).map(([title, value]) => [title, value === '' ? null : value])),
  )

test('what is exported comes back cell by cell, in any time zone', async () => {
  const titles = Object.keys(EVERY_TYPE) as (keyof typeof EVERY_TYPE)[]
  // A row of nothing but empty cells is no record, and an empty tick or rating is none at all: false, 0.
  const values = (title: keyof typeof EVERY_TYPE) =>
    STORED_VALUES[title].filter((value) => value !== null || (title !== 'Cb' && title !== 'Rat'))
  const count = Math.max(...titles.map((title) => values(title).length))
  const rows = Array.from({ length: count }, (_, at) =>
    Object.fromEntries(titles.map((title) => [title, values(title)[at % values(title).length] ?? null])),
  )
  const fields = { ...EVERY_TYPE, Dt: { type: 'DateTime', options: { timeZone: 'local' } } } as Record<
    string,
    FieldSpec
  >
  const [from, to] = [await bench.table(fields), await bench.table(fields)]
  await fill(from, rows)
  expect(await exportAndImport(from, to, 'America/St_Johns')).toEqual([])
  const door = doorOf(bench.app, bench.owner)
  expect(settled(await rowsOf(door, to.id))).toEqual(settled(await rowsOf(door, from.id)))
}, 60_000)

test('so do people, and files that lie elsewhere', async () => {
  const ann = await createMember(bench.app, bench.baseId, 'editor')
  const fields: Record<string, FieldTypeName> = { Title: 'SingleLineText', Who: 'User', Files: 'Attachment' }
  const [from, to] = [await bench.table(fields), await bench.table(fields)]
  const file = { url: 'https://files.example.com/a.png', title: 'a b.png', mimetype: 'image/png', size: 0 }
  await fill(from, [
    { Title: 'a', Who: ann.id, Files: JSON.stringify([file]) },
    { Title: 'b', Who: null, Files: null },
  ])
  expect(await exportAndImport(from, to, 'UTC')).toEqual([])
  const door = doorOf(bench.app, bench.owner)
  const [there, here] = [await rowsOf(door, to.id), await rowsOf(door, from.id)]
  const names = (rows: Record<string, CellValue>[]) =>
    rows.map(({ Files, ...row }) => ({
      ...row,
      files: JSON.parse(String(Files))?.map((one: typeof file) => [one.title, one.url]),
    }))
  expect(names(there)).toEqual(names(here))
})
