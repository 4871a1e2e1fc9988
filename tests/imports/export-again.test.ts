import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readAttachments } from '../../src/core/fields/attachment-item.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import type { FieldTypeName } from '../../src/core/fields/index.ts'
import { readLinks } from '../../src/core/fields/list-value.ts'
import { png, uploadOne } from '../records/attachments-support.ts'
import { EVERY_TYPE, STORED_VALUES } from '../records/every-type.ts'
import { createLink, linkedIds, type TestLink } from '../records/links-support.ts'
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
    tableId: from.id,
    viewId: from.schema.views[0]?.id ?? '',
    format: 'csv',
    timeZone,
  })
  const door = doorOf(bench.app, bench.owner)
  const { result } = await ended(door, jobId)
  const file = await (await fetch(`${bench.app.url}/${(result as { url: string }).url}`)).text()
  const titles = file.slice(0, file.indexOf('\r\n')).split(',')
  const started = await bench.trpc.imports.start.mutate({
    baseId: bench.baseId,
    tableId: to.id,
    uploadId: await upload(door, file),
    width: titles.length,
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
  const values = (title: keyof typeof EVERY_TYPE) => STORED_VALUES[title]
  const count = Math.max(...titles.map((title) => values(title).length))
  // Shifted, so that no row has nothing but empty cells: that is no record in a file.
  const rows = Array.from({ length: count }, (_, at) =>
    Object.fromEntries(
      titles.map((title, shift) => [title, values(title)[(at + shift) % values(title).length] ?? null]),
    ),
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
})

/** Notations of some countries, and time zones. */
const PLACES = [
  { locale: 'en-US', timeZone: 'America/St_Johns', format: 'MM/DD/YYYY', time12h: true },
  { locale: 'de-DE', timeZone: 'Europe/Berlin', format: 'DD.MM.YYYY', time12h: false },
  { locale: 'hi-IN', timeZone: 'Asia/Kolkata', format: 'DD-MM-YYYY', time12h: false },
  { locale: 'fa-IR', timeZone: 'Pacific/Apia', format: 'DD MMM YY', time12h: true },
] as const

/** Exports a table and sends the file to the import of another one. */
async function exportAndSend(
  from: TestTable,
  to: TestTable,
  { format, timeZone }: { format: 'csv' | 'xlsx' | 'json' | 'ndjson'; timeZone: string },
): Promise<string[]> {
  const door = doorOf(bench.app, bench.owner)
  const { jobId } = await bench.trpc.records.export.mutate({
    tableId: from.id,
    viewId: from.schema.views[0]?.id ?? '',
    format,
    timeZone,
  })
  const { result } = await ended(door, jobId)
  const file = await (await fetch(`${bench.app.url}/${(result as { url: string }).url}`)).bytes()
  const answer = await fetch(
    `${bench.app.url}/api/v2/tables/${to.id}/import?${new URLSearchParams({ timeZone })}`,
    {
      method: 'POST',
      headers: { 'xc-auth': door.token, 'content-type': 'application/octet-stream' },
      body: file,
    },
  )
  const { id, msg } = (await answer.json()) as { id: string; msg?: string }
  if (!answer.ok) throw new Error(`import: ${answer.status} ${msg}`)
  resultOf(await ended(door, id))
  return reportOf(door, id)
}

// How a value is written in a file does not depend on where it is stored.
const tried = process.env.TEST_HOME === 'postgres' ? PLACES.slice(0, 1) : PLACES
describe.each(tried)('in $locale', ({ locale, timeZone, format: dates, time12h }) => {
  test.each(['csv', 'xlsx', 'json', 'ndjson'] as const)(
    'every type comes back cell by cell from %s',
    async (format) => {
      const titles = Object.keys(EVERY_TYPE) as (keyof typeof EVERY_TYPE)[]
      const values = (title: keyof typeof EVERY_TYPE) => STORED_VALUES[title]
      const count = Math.max(...titles.map((title) => values(title).length))
      const rows = Array.from({ length: count }, (_, at) =>
        Object.fromEntries(
          titles.map((title, shift) => [title, values(title)[(at + shift) % values(title).length] ?? null]),
        ),
      )
      rows.push(
        { Title: 'a\rb', Took: 59, Dt: '0001-01-02 00:00:00+00:00' },
        { Title: '_x000D_', Took: -90, Dt: '2011-12-30 10:00:00+00:00' },
        { Title: '=1', Took: 12.345, Dt: '2024-11-03 05:30:00+00:00' },
      )
      const fields = {
        ...EVERY_TYPE,
        // Reads numbers without a unit as minutes.
        Took: { type: 'Duration', options: { format: 'h:mm' } },
        Cur: { type: 'Currency', options: { code: 'EUR', locale } },
        D: { type: 'Date', options: { format: dates } },
        Dt: { type: 'DateTime', options: { timeZone: 'local', format: dates, time12h } },
      } as Record<string, FieldSpec>
      const [from, to] = [await bench.table(fields), await bench.table(fields)]
      await fill(from, rows)
      expect(await exportAndSend(from, to, { format, timeZone })).toEqual([])
      const door = doorOf(bench.app, bench.owner)
      const [there, here] = [await rowsOf(door, to.id), await rowsOf(door, from.id)]
      // The literal null of a JSON field is the empty cell of a JSON file.
      const isJson = format === 'json' || format === 'ndjson'
      const same = (table: typeof here) =>
        settled(table).map((row) => ({ ...row, Js: isJson && row.Js === 'null' ? null : (row.Js ?? null) }))
      expect(same(there)).toEqual(same(here))
    },
  )
})

test('what is empty stays empty, whatever its field starts with', async () => {
  const fields: Record<string, FieldSpec> = {
    Title: 'SingleLineText',
    Stars: 'Rating',
    Done: 'Checkbox',
    Kind: { type: 'SingleLineText', defaultValue: 'guest' },
    Count: { type: 'Number', defaultValue: 7 },
    Day: { type: 'Date', defaultValue: '2024-01-01' },
    Who: { type: 'User', defaultValue: '@me' },
    Must: { type: 'SingleLineText', required: true, defaultValue: 'there' },
  }
  const [from, to] = [await bench.table(fields), await bench.table(fields)]
  const empty = { Stars: null, Done: null, Kind: null, Count: null, Day: null, Who: null }
  await fill(from, [
    { Title: 'a', ...empty, Must: 'x' },
    { Title: 'b', Stars: 0, Done: false, Kind: 'host', Count: 0, Day: '2024-02-03', Must: 'y' },
  ])
  const door = doorOf(bench.app, bench.owner)
  const before = await rowsOf(door, from.id)
  expect(before[0]).toMatchObject(empty)
  expect(await exportAndImport(from, to, 'UTC')).toEqual([])
  expect(settled(await rowsOf(door, to.id))).toEqual(settled(before))
})

const LINKS = {
  bt: { kind: 'bt' },
  mm: { kind: 'mm' },
  hm: { kind: 'hm' },
  oo: { kind: 'oo' },
  held: { kind: 'oo', holdsKey: true },
} as const

const NAMES = [
  'Doe, Jane',
  '"',
  'say "hi"',
  ' blank ',
  '  ',
  'two\nlines',
  'دنا, علي',
  '👩‍👩‍👧',
  '=1+1',
  "'x",
  '12',
  'a", "b',
  // Called by its id.
  null,
]

test('so do links of every kind, whatever the linked records are called', async () => {
  const people = await bench.table({ Title: 'LongText' })
  await fill(
    people,
    NAMES.map((Title) => ({ Title })),
  )
  const all = NAMES.map((_, at) => at + 1)
  async function twin(): Promise<{ table: TestTable; ends: TestLink[] }> {
    const table = await bench.table()
    const ends: TestLink[] = []
    for (const [title, options] of Object.entries(LINKS))
      ends.push(await createLink(bench, table, people, options.kind, { title, ...options }))
    ends.push(await createLink(bench, table, table, 'bt', { title: 'Parent' }))
    ends.push(await createLink(bench, table, table, 'mm', { title: 'Friends' }))
    const schema = await bench.trpc.schema.table.query({ tableId: table.id })
    const field = (title: string) => schema.fields.find((one) => one.title === title) ?? table.field(title)
    return { table: { ...table, schema, field }, ends }
  }
  const [from, to] = [await twin(), await twin()]
  await fill(
    from.table,
    all.map((at) => ({ Title: `Row ${at}` })),
  )
  const [bt, mm, hm, oo, held, parent, friends] = from.ends
  for (const at of all) {
    await bt?.set(at, [at])
    await mm?.set(at, at === 1 ? all : at === 2 ? [] : [at, 1])
    await hm?.set(at, at === 1 ? all.slice(0, 4) : at === 5 ? all.slice(4) : [])
    for (const one of [oo, held]) await one?.set(at, [NAMES.length + 1 - at])
    await parent?.set(at, at === 1 ? [] : [Math.ceil(at / 2)])
    await friends?.set(at, [all[at % all.length] ?? 1, 1])
  }
  expect(await exportAndImport(from.table, to.table, 'UTC')).toEqual([])
  const door = doorOf(bench.app, bench.owner)
  // The keys themselves are no fields that anyone sees, and are called after their tables.
  const shown = ['Title', ...Object.keys(LINKS), 'Parent', 'Friends']
  const read = async (tableId: string) =>
    (await rowsOf(door, tableId)).map((row) => Object.fromEntries(shown.map((title) => [title, row[title]])))
  const [there, here] = [await read(to.table.id), await read(from.table.id)]
  expect(there).toEqual(here)
  const counts = Object.keys(LINKS).map((title) => readLinks(here[0]?.[title] ?? null).count)
  expect(counts).toEqual([1, NAMES.length, 4, 1, 1])
  expect(await linkedIds(bench, to.ends[1]!.own, 1)).toEqual(all)
})

test('so do stored files, which stay the same ones', async () => {
  const fields: Record<string, FieldTypeName> = { Title: 'SingleLineText', Files: 'Attachment' }
  const [from, to] = [await bench.table(fields), await bench.table(fields)]
  const names = ['a.png', 'b, c (1).png', '"q".txt', 'دنا.txt']
  const files = await Promise.all(
    names.map((name) =>
      uploadOne(bench, bench.owner.token, name, name.endsWith('png') ? png(3, 2) : `text of ${name}`),
    ),
  )
  await bench.rest.post(from.path, [
    { Title: 'all', Files: files },
    { Title: 'one', Files: [{ ...files[0], title: 'renamed, twice (x).png' }] },
    { Title: 'none', Files: null },
  ])
  expect(await exportAndImport(from, to, 'UTC')).toEqual([])
  const door = doorOf(bench.app, bench.owner)
  const [there, here] = [await rowsOf(door, to.id), await rowsOf(door, from.id)]
  const told = (rows: Record<string, CellValue>[]) =>
    rows.map(({ Title, Files }) => [Title, readAttachments(Files ?? null)])
  expect(told(there)).toEqual(told(here))
  expect(readAttachments(there[0]?.Files ?? null)).toMatchObject([{ width: 3, height: 2 }, {}, {}, {}])
})

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

test('texts that a spreadsheet would execute come back from behind the beginning of a long file', async () => {
  const [from, to] = [await bench.table({ Title: 'LongText' }), await bench.table({ Title: 'LongText' })]
  // More than the reader looks at to find the dialect.
  const long = Array.from({ length: 300 }, (_, at) => ({ Title: `${at} ${'x'.repeat(1000)}` }))
  await fill(from, [...long, { Title: '=1+1' }, { Title: '- milk' }, { Title: "'=1" }])
  expect(await exportAndSend(from, to, { format: 'csv', timeZone: 'UTC' })).toEqual([])
  const door = doorOf(bench.app, bench.owner)
  expect(await rowsOf(door, to.id)).toEqual(await rowsOf(door, from.id))
})
