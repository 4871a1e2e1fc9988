import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Base } from '../../src/core/model.ts'
import type { TestApp, TestUser } from '../support/app.ts'
import { createMember } from '../support/factories.ts'
import { ownTableNames } from '../support/home.ts'
import {
  type Door,
  doorOf,
  ended,
  type importNew,
  type NewTableImport,
  openImports,
  reportOf,
  rowsOf,
  startImport,
} from './support.ts'

let app: TestApp
let owner: TestUser
let base: Base
let door: Door

beforeAll(async () => {
  ;({ app, owner, base, door } = await openImports())
})
afterAll(() => app.stop())

let made = 0
const freshTitle = () => `Import ${++made}`
const two: NewTableImport['columns'] = [{ title: 'Name' }, { title: 'Age', type: 'Number' }]

/** Imports a file of two columns, `Name` and `Age`, and gives the result, the rows and the report. */
async function load(file: string | Uint8Array<ArrayBuffer>, how: Partial<NewTableImport> = {}) {
  const jobId = await startImport(door, base.id, file, { title: freshTitle(), columns: two, ...how })
  const job = await ended(door, jobId)
  if (job.status !== 'completed') throw new Error(`${job.status}: ${job.error}`)
  const result = job.result as Awaited<ReturnType<typeof importNew>>
  return { jobId, result, rows: await rowsOf(door, result.tableId), report: await reportOf(door, jobId) }
}

describe('an import into a new table', () => {
  test('is refused to editors, to those outside the base and to the anonymous', async () => {
    const editor = await createMember(app, base.id, 'editor')
    const stranger = await app.signUp()
    const start = (user: TestUser) =>
      startImport(doorOf(app, user), base.id, 'a\n1\n', { columns: [{ title: 'a' }] })
    await expect(start(editor)).rejects.toThrow('You do not have permission')
    await expect(start(stranger)).rejects.toThrow('Forbidden')
  })

  test('is refused for a title that the base has, and for a file of someone else', async () => {
    const { result } = await load('Name,Age\nAnn,1\n')
    await expect(startImport(door, base.id, 'a\n', { title: result.title, columns: two })).rejects.toThrow(
      'Duplicate table alias',
    )
    const creator = await createMember(app, base.id, 'creator')
    const foreign = app.trpc(creator.token).imports.start.mutate({
      baseId: base.id,
      uploadId: 'abcdefghij',
      format: { delimiter: ',', quote: '"', encoding: 'utf-8', header: true },
      width: 1,
      columns: [{ index: 0 }],
      table: { title: 'Foreign', fields: [{ title: 'a', type: 'SingleLineText' }] },
    })
    await expect(foreign).rejects.toThrow('no longer available')
  })

  test('is refused for fields that the server fills', async () => {
    const start = startImport(door, base.id, 'a\n1\n', {
      title: freshTitle(),
      columns: [{ title: 'a', type: 'CreatedTime' }],
    })
    await expect(start).rejects.toThrow('filled in automatically')
    const bad = startImport(door, base.id, 'a\n1\n', {
      columns: [{ title: 'Stars', type: 'Rating', options: { max: 99 } }],
    })
    await expect(bad).rejects.toThrow('The option “max” of column “Stars” is not valid: ')
  })

  test('makes a table of the file, with the types that were chosen', async () => {
    const { result, rows } = await load('Name,Age\nAnn,31\nBen,\n"Cy ""the eye""",9\n')
    expect(result).toMatchObject({
      rows: 3,
      rowsRefused: 0,
      cellsRefused: 0,
      isNewTable: true,
      problems: 0,
    })
    expect(rows).toEqual([
      { Name: 'Ann', Age: 31 },
      { Name: 'Ben', Age: null },
      { Name: 'Cy "the eye"', Age: 9 },
    ])
  })

  test('keeps the order of the file, and says who made the records', async () => {
    const names = Array.from({ length: 500 }, (_, index) => `Person ${(index * 7919) % 500}`)
    const { result, rows } = await load(`Name,Age\n${names.map((name) => `${name},1`).join('\n')}`)
    expect(rows.map((row) => row.Name)).toEqual(names)
    const { fields } = await app.trpc(owner.token).schema.table.query({ tableId: result.tableId })
    const by = fields.find((field) => field.columnName === 'created_by')!
    const page = await app
      .trpc(owner.token)
      .records.list.query({ query: { tableId: result.tableId, fieldIds: [by.id], limit: 1, offset: 0 } })
    expect(page.rows).toEqual([[owner.id]])
  })

  test('imports the ticked columns only, in their places', async () => {
    const { rows, report } = await load('Id,Name,Note,Age\n7,Ann,x,3\n', {
      columns: [
        { title: 'Name', index: 1 },
        { title: 'Age', type: 'Number', index: 3 },
      ],
      width: 4,
    })
    expect(rows).toEqual([{ Name: 'Ann', Age: 3 }])
    expect(report).toEqual([])
  })

  test('reports what spreadsheets would take for a formula as text, but not numbers', async () => {
    const cells = ['=HYPERLINK("http://x")', '+cmd|x', '-2+3', '@SUM(1)', '\t=1', '-12', '+1.5e3', 'a=b']
    const file = `When\n${cells.map((text) => `"${text.replaceAll('"', '""')}"`).join('\n')}\n`
    const { report } = await load(file, { columns: [{ title: 'When', type: 'Date', index: 0 }] })
    expect(report.map((line) => line.split(',')[2])).toEqual([
      `"'=HYPERLINK(""http://x"")"`,
      "'+cmd|x",
      "'-2+3",
      "'@SUM(1)",
      "'\t=1",
      '-12',
      '+1.5e3',
      'a=b',
    ])
  })

  test('takes the first row as data where the file has no header', async () => {
    const { rows } = await load('Ann,31\nBen,32\n', { format: { header: false } })
    expect(rows).toHaveLength(2)
  })

  test('adds the options that the sample did not show', async () => {
    const { result, rows } = await load('Status,Tags\nopen,"a,b"\nclosed,"b,c"\nopen,\n', {
      columns: [
        { title: 'Status', type: 'SingleSelect', options: { choices: [{ title: 'open' }] } },
        { title: 'Tags', type: 'MultiSelect', options: { choices: [{ title: 'a' }] } },
      ],
    })
    expect(rows[1]).toEqual({ Status: 'closed', Tags: 'b,c' })
    const { fields } = await app.trpc(owner.token).schema.table.query({ tableId: result.tableId })
    const titles = (title: string) => {
      const { choices } = fields.find((field) => field.title === title)!.options as {
        choices: { title: string }[]
      }
      return choices.map((choice) => choice.title)
    }
    expect(titles('Status')).toEqual(['open', 'closed'])
    expect(titles('Tags')).toEqual(['a', 'b', 'c'])
  })

  test('makes a text field of a select field that would have too many options, and loses nothing', async () => {
    const values = Array.from({ length: 900 }, (_, at) => `Option ${at}`)
    const { result, rows, report } = await load(`Kind\n${values.join('\n')}`, {
      columns: [{ title: 'Kind', type: 'SingleSelect', options: { choices: [{ title: 'Option 0' }] } }],
    })
    expect(rows.map((row) => row.Kind)).toEqual(values)
    expect(report).toEqual([])
    const { fields } = await app.trpc(owner.token).schema.table.query({ tableId: result.tableId })
    expect(fields.find((field) => field.title === 'Kind')?.type).toBe('SingleLineText')
  })

  test('reads numbers by the mark before their decimals', async () => {
    const columns = ['Number', 'Decimal', 'Currency', 'Percent'].map(
      (type) =>
        ({
          title: type,
          type,
          ...(type === 'Currency' && { options: { code: 'EUR', locale: 'de-DE' } }),
        }) as never,
    )
    const file = '1.000;1.234,56;1.500 €;12,5 %\n2.500;0,5;-7,25 €;1.000 %\n'
    const format = { delimiter: ';', header: false }
    const { rows, report } = await load(file, { columns, format: { ...format, decimal: ',' } })
    expect(report).toEqual([])
    expect(rows.map(Object.values)).toEqual([
      [1000, 1234.56, 1500, 12.5],
      [2500, 0.5, -7.25, 1000],
    ])
    const english = await load(file, { columns, format })
    expect(english.rows.map(({ Currency }) => Currency)).toEqual([1.5, -7.25])
  })

  test('reports an amount in another currency than the field has, and leaves its cell empty', async () => {
    const columns = [{ title: 'Price', type: 'Currency' } as never]
    const { rows, report } = await load('Price\n$5.00\n€ 99\n', { columns })
    expect(rows).toEqual([{ Price: 5 }, { Price: null }])
    expect(report).toHaveLength(1)
  })

  test('reads times in the zone of the person', async () => {
    const { rows } = await load('When\n2024-01-02 03:04\n2024-01-02T03:04:05Z\n', {
      columns: [{ title: 'When', type: 'DateTime' }],
      timeZone: 'Asia/Tokyo',
    })
    expect(rows).toEqual([{ When: '2024-01-01 18:04:00+00:00' }, { When: '2024-01-02 03:04:05+00:00' }])
  })

  test('is one step of undo, which puts the table into the trash', async () => {
    const { result } = await load('Name,Age\nAnn,1\n')
    await app.trpc(owner.token).records.undo.mutate({ baseId: base.id })
    const trash = await app.trpc(owner.token).schema.tables.query({ baseId: base.id, trash: true })
    expect(trash.map((table) => table.id)).toContain(result.tableId)
    await app.trpc(owner.token).records.redo.mutate({ baseId: base.id })
    expect(await rowsOf(door, result.tableId)).toHaveLength(1)
  })

  test('tells the others of the table, and of its progress', async () => {
    const seen: string[] = []
    const stop = [
      app.kernel.events.on('schema.changed', ({ tableId }) => seen.push(`schema ${tableId}`)),
      app.kernel.events.on('job.changed', ({ status }) => seen.push(status)),
    ]
    const { result } = await load('Name,Age\nAnn,1\n')
    for (const unsubscribe of stop) unsubscribe()
    expect(seen[0]).toBe('waiting')
    expect(seen).toContain(`schema ${result.tableId}`)
    expect(seen.at(-1)).toBe('completed')
  })

  test('leaves no file and no staging table behind', async () => {
    await load('Name,Age\nAnn,1\n')
    const names = await ownTableNames(app, base.id)
    expect(names.filter((name) => name.startsWith('sheaf_import'))).toEqual([])
  })
})

describe('an import of a wide file', () => {
  test('takes 300 columns', async () => {
    const columns = Array.from({ length: 300 }, (_, index) => ({
      title: `Column ${index}`,
      type: 'Number' as const,
    }))
    const line = (row: number) => columns.map((_, index) => row * index).join(',')
    const header = columns.map(({ title }) => title).join(',')
    const { rows } = await load(
      `${header}\n${Array.from({ length: 700 }, (_, row) => line(row)).join('\n')}\n`,
      { columns },
    )
    expect(rows).toHaveLength(700)
    expect(rows[699]!['Column 299']).toBe(699 * 299)
  })

  test('gives fields of one title different ones', async () => {
    const { rows } = await load('a,A,a,\n1,2,3,4\n', {
      columns: [{ title: 'a' }, { title: 'A' }, { title: 'a' }, { title: 'Field 4' }],
    })
    expect(rows).toEqual([{ a: '1', A_1: '2', a_2: '3', 'Field 4': '4' }])
  })
})
