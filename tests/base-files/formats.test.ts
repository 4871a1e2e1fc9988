import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readAttachments } from '../../src/core/fields/attachment-item.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { analyse, doorOf, ended, reportOf, resultOf, rowsOf, upload } from '../imports/support.ts'
import { png, uploadOne } from '../records/attachments-support.ts'
import { EVERY_TYPE, STORED_VALUES } from '../records/every-type.ts'
import { type Bench, createBench, type FieldSpec, type TestTable } from '../records/support.ts'
import { exportFile, importFile } from './support.ts'

let bench: Bench
beforeAll(async () => {
  bench = await createBench()
})
afterAll(() => bench.stop())

interface Place {
  locale: string
  timeZone: string
  delimiter: ',' | ';' | '\t'
}

const PLACES: Place[] = [
  { locale: 'en-US', timeZone: 'America/St_Johns', delimiter: ',' },
  { locale: 'de-DE', timeZone: 'Europe/Berlin', delimiter: ';' },
  { locale: 'hi-IN', timeZone: 'Asia/Kolkata', delimiter: '\t' },
]

/** A way out of Sheaf and in again. */
interface RoundTrip {
  name: string
  /** Exports a table, imports the file, and returns the id of the new table; `twin` is an empty table of the same fields. */
  run(table: TestTable, twin: () => Promise<TestTable>, place: Place): Promise<string>
  /** Whether an empty text comes back as none. */
  dropsEmptyTexts: boolean
  /** Whether JSON comes back as the same text. */
  keepsJsonText: boolean
}

/** Exports a table in a format, and imports the file into another table by the titles that are found in it. */
const byFile = (name: string, format: 'csv' | 'xlsx' | 'json' | 'ndjson'): RoundTrip => ({
  name,
  // JSON within JSON comes back as the same value: a text loses its quotes, null is none, and white space is lost.
  keepsJsonText: format === 'csv' || format === 'xlsx',
  dropsEmptyTexts: true,
  async run(table, twin, { timeZone, delimiter }) {
    const { jobId } = await bench.trpc.records.export.mutate({
      tableId: table.id,
      viewId: table.schema.views[0]?.id ?? '',
      format,
      timeZone,
      delimiter,
    })
    const door = doorOf(bench.app, bench.owner)
    const { result } = await ended(door, jobId)
    const { url, name: fileName } = result as { url: string; name: string }
    const bytes = new Uint8Array(await (await fetch(`${bench.app.url}/${url}`)).arrayBuffer())
    const to = await twin()
    const uploadId = await upload(door, bytes, fileName)
    const chosen = format === 'csv' ? { delimiter, guarded: true } : { flatten: false }
    const [found] = await analyse(door, uploadId, { chosen })
    if (!found?.analysis) throw new Error(`Nothing was found in ${fileName}`)
    const { fields } = found.analysis
    const started = await bench.trpc.imports.start.mutate({
      baseId: bench.baseId,
      tableId: to.id,
      uploadId,
      width: fields.length,
      format: found.analysis.format,
      columns: fields.map(({ title }, index) => ({ index, fieldId: to.field(title).id })),
      timeZone,
    })
    resultOf(await ended(door, started.jobId))
    expect(await reportOf(door, started.jobId)).toEqual([])
    return to.id
  },
})

const ROUND_TRIPS: RoundTrip[] = [
  byFile('CSV', 'csv'),
  byFile('Excel', 'xlsx'),
  byFile('JSON', 'json'),
  byFile('NDJSON', 'ndjson'),
  {
    name: 'a Sheaf file',
    keepsJsonText: true,
    dropsEmptyTexts: false,
    async run(table) {
      const job = await importFile(bench, bench.owner, await exportFile(bench, bench.baseId))
      expect(job.error).toBeNull()
      const tables = await bench.trpc.schema.tables.query({ baseId: job.baseId })
      return tables.find(({ title }) => title === table.title)?.id ?? ''
    },
  },
]

/** Texts that other programs like to change. */
const AWKWARD = [
  '=1+1',
  '+49 30 901820',
  '-a',
  '@x',
  "'quoted'",
  '007',
  '1e5',
  '1.234,50',
  'a, b; c\td',
  '"x"',
  'line\nbreak\r\nand more',
  ' blank ',
  '2024-01-02',
  'TRUE',
  '👩‍👩‍👧 دنا',
]

describe.each(ROUND_TRIPS)('what is exported as $name', ({ run, dropsEmptyTexts, keepsJsonText }) => {
  test.each(PLACES)('comes back cell by cell, in $locale and $timeZone', async (place) => {
    const fields: Record<string, FieldSpec> = {
      ...EVERY_TYPE,
      Cur: { type: 'Currency', options: { code: 'EUR', locale: place.locale } },
      Local: { type: 'DateTime', options: { timeZone: 'local' } },
      Text: 'LongText',
      Options: {
        type: 'MultiSelect',
        options: { choices: ['a b', 'ü', '"q"'].map((title) => ({ title })) },
      },
      Files: 'Attachment',
    }
    const make = () => bench.table(fields)
    const table = await make()
    const values: Record<string, readonly CellValue[]> = {
      ...STORED_VALUES,
      Js: keepsJsonText ? STORED_VALUES.Js : [null, '{"b":1,"a":1.5}', '[1,2]', '12345678901234567890'],
      Local: [
        null,
        '2024-03-31 00:59:59+00:00',
        '2024-10-27 01:30:00+00:00',
        '1999-12-31 23:59:59.123+00:00',
      ],
      Text: AWKWARD,
      Options: [null, 'a b', 'ü,"q"'],
    }
    const titles = Object.keys(values)
    const count = Math.max(...titles.map((title) => values[title]?.length ?? 0))
    const rows = Array.from({ length: count }, (_, at) =>
      Object.fromEntries(
        titles.map((title, shift) => [title, values[title]?.[(at + shift) % values[title].length] ?? null]),
      ),
    )
    const insert = {
      kind: 'insert',
      tableId: table.id,
      rows: rows.map((row) => ({ values: table.values(row) })),
    }
    await bench.trpc.records.write.mutate({ change: { baseId: bench.baseId, operations: [insert as never] } })
    await bench.rest.patch(table.path, [
      { Id: 1, Files: [await uploadOne(bench, bench.owner.token, 'b, c (1).png', png(3, 2))] },
    ])
    const door = doorOf(bench.app, bench.owner)
    const cells = async (tableId: string) =>
      (await rowsOf(door, tableId)).map(({ Files, ...row }) => ({
        ...Object.fromEntries(
          Object.entries(row).map(([title, value]) => [
            title,
            dropsEmptyTexts && value === '' ? null : value,
          ]),
        ),
        Files: readAttachments(Files ?? null).map(({ title, size, mimetype, width }) => [
          title,
          size,
          mimetype,
          width,
        ]),
      }))
    const copy = await run(table, make, place)
    expect(await cells(copy)).toEqual(await cells(table.id))
  })
})
