import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import * as XLSX from 'xlsx'
import { defineImportsTables } from '../../modules/imports/tables.ts'
import type { ImportResult } from '../../src/core/csv/import-result.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import type { Base, Field } from '../../src/core/model.ts'
import type { TestApp, TestUser } from '../support/app.ts'
import type { TrpcClient } from '../support/client.ts'
import { createMember } from '../support/factories.ts'
import {
  analyse,
  type Door,
  doorOf,
  ended,
  formatOf,
  openImports,
  reportOf,
  resultOf,
  rowsOf,
  upload,
} from './support.ts'
import { handmade, inline, rowOf } from './workbook-support.ts'

let app: TestApp
let owner: TestUser
let base: Base
let door: Door
let client: TrpcClient
let made = 0

beforeAll(async () => {
  ;({ app, owner, base, door } = await openImports())
  client = app.trpc(owner.token)
})
afterAll(() => app.stop())

type NewField = NonNullable<Parameters<TrpcClient['schema']['createTable']['mutate']>[0]['fields']>[number]
type StartInput = Parameters<TrpcClient['imports']['start']['mutate']>[0]
type Update = Omit<NonNullable<StartInput['update']>, 'keys'> & { keys?: string[] }

interface Table {
  tableId: string
  tableName: string
  own: Field[]
  all: Field[]
}

async function createTable(fields: NewField[], rows: CellValue[][] = []): Promise<Table> {
  const { table, fields: all } = await client.schema.createTable.mutate({
    baseId: base.id,
    title: `Table ${++made}`,
    fields,
  })
  const own = all.filter((field) => !field.isSystem && !field.isPrimaryKey)
  const tableId = table.id
  if (rows.length > 0) {
    const values = rows.map((row) => ({
      values: Object.fromEntries(own.map((field, at) => [field.id, row[at] ?? null])),
    }))
    await client.records.write.mutate({
      change: { baseId: base.id, operations: [{ kind: 'insert', tableId, rows: values }] },
    })
  }
  return { tableId, tableName: table.tableName, own, all }
}

const people = (
  rows: CellValue[][] = [
    ['a1', 'Ann', 30],
    ['b2', 'Ben', 40],
    ['c3', 'Cem', 50],
  ],
) =>
  createTable(
    [
      { title: 'Code', type: 'SingleLineText' },
      { title: 'Name', type: 'SingleLineText' },
      { title: 'Age', type: 'Number' },
    ],
    rows,
  )

/** Starts an import whose columns go to the fields; the key is the first field unless `keys` names others. */
async function start(
  { tableId, all }: Table,
  fields: Field[],
  file: string,
  { keys, ...options }: Update = {},
  { preview = false, by = door }: { preview?: boolean; by?: Door } = {},
): Promise<string> {
  const idOf = (title: string) => all.find((field) => field.title === title)!.id
  const { jobId } = await app.trpc(by.token).imports.start.mutate({
    baseId: base.id,
    tableId,
    uploadId: await upload(by, file),
    format: formatOf(file),
    width: fields.length,
    columns: fields.map(({ id }, index) => ({ index, fieldId: id })),
    update: { keys: keys?.map(idOf) ?? [fields[0]!.id], ...options },
    preview,
  })
  return jobId
}

interface Loaded {
  result: ImportResult
  counts: Record<string, number>
  report: string[]
  rows: Record<string, CellValue>[]
}

async function load(table: Table, file: string, options?: Update, fields = table.own): Promise<Loaded> {
  const jobId = await start(table, fields, file, options)
  return loadedBy(table, jobId)
}

async function loadedBy(table: Table, jobId: string): Promise<Loaded> {
  const result = resultOf(await ended(door, jobId))
  const { added, changed, unchanged, skipped, withoutKey, repeated, ambiguous, unknown } = result.update!
  const counts = { added, changed, unchanged, skipped, withoutKey, repeated, ambiguous, unknown }
  return {
    result,
    counts: Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0)),
    report: await reportOf(door, jobId),
    rows: await rowsOf(door, table.tableId),
  }
}

const undo = () => client.records.undo.mutate({ baseId: base.id })
const redo = () => client.records.redo.mutate({ baseId: base.id })
const sqlOf = async <T>(sql: string) => (await app.kernel.sources.engine(base.id)).all<T>({ sql, params: [] })

describe('an import that updates records', () => {
  test('is refused to viewers, for a key without a column, and for a field that finds no record', async () => {
    const table = await people()
    const viewer = doorOf(app, await createMember(app, base.id, 'viewer'))
    await expect(start(table, table.own, 'c,n,a\n', {}, { by: viewer })).rejects.toThrow(
      'You do not have permission',
    )
    await expect(start(table, table.own.slice(1), 'n,a\n', { keys: ['Code'] })).rejects.toThrow(
      'Choose a column of the file for each key field',
    )
    const odd = await createTable([
      { title: 'Code', type: 'SingleLineText' },
      { title: 'Data', type: 'JSON' },
      { title: 'Tags', type: 'MultiSelect', options: { choices: [{ title: 'x' }] } },
    ])
    for (const key of ['Data', 'Tags'])
      await expect(start(odd, odd.own, 'c,d,t\n', { keys: [key] })).rejects.toThrow('can’t find records')
  })

  test('changes the mapped fields of known records, and adds the others', async () => {
    const table = await people()
    const { counts, rows, report } = await load(table, 'c,n,a\nb2,Bob,41\nd4,Dee,60\na1,Ann,30\n')
    expect(counts).toEqual({ added: 1, changed: 1, unchanged: 1 })
    expect(report).toEqual([])
    expect(rows).toEqual([
      { Code: 'a1', Name: 'Ann', Age: 30 },
      { Code: 'b2', Name: 'Bob', Age: 41 },
      { Code: 'c3', Name: 'Cem', Age: 50 },
      { Code: 'd4', Name: 'Dee', Age: 60 },
    ])
  })

  test('is previewed with counts and changed cells, and writes nothing', async () => {
    const table = await people()
    const file = 'c,n,a\nb2,Bob,40\nd4,Dee,60\na1,Ann,30\n,No,1\nd4,Again,1\n'
    const jobId = await start(table, table.own, file, {}, { preview: true })
    const { result, counts, rows } = await loadedBy(table, jobId)
    expect(counts).toEqual({ added: 1, changed: 1, unchanged: 1, withoutKey: 1, repeated: 1 })
    expect(result.update).toMatchObject({
      isPreview: true,
      changes: [{ row: 2, key: 'b2', cells: [{ field: 'Name', before: 'Ben', after: 'Bob' }] }],
    })
    expect(result.changeId).toBeNull()
    expect(rows).toHaveLength(3)
    expect(rows[1]).toEqual({ Code: 'b2', Name: 'Ben', Age: 40 })
    const engine = await app.kernel.sources.engine(base.id)
    const isPostgres = engine.location.client === 'pg'
    const tables = await sqlOf(
      isPostgres
        ? `select 1 from pg_tables where tablename like 'sheaf_import%' and schemaname = current_schema()`
        : `select 1 from sqlite_master where name like 'sheaf_import%'`,
    )
    expect(tables).toEqual([])
  })

  test('keeps the file of a preview for the import', async () => {
    const table = await people()
    const file = 'c,n\nb2,Bob\n'
    const input = {
      baseId: base.id,
      tableId: table.tableId,
      uploadId: await upload(door, file),
      format: formatOf(file),
      width: 2,
      columns: table.own.slice(0, 2).map(({ id }, index) => ({ index, fieldId: id })),
      update: { keys: [table.own[0]!.id] },
    }
    const preview = await client.imports.start.mutate({ ...input, preview: true })
    expect(resultOf(await ended(door, preview.jobId)).update?.changed).toBe(1)
    const { jobId } = await client.imports.start.mutate(input)
    expect(resultOf(await ended(door, jobId)).update?.changed).toBe(1)
  })

  test('refuses and reports rows without a key, with the key of an earlier row, and with that of several records', async () => {
    const table = await people([
      ['a1', 'Ann', 30],
      ['x9', 'One', 1],
      ['x9', 'Two', 2],
    ])
    const { counts, report, rows, result } = await load(
      table,
      'c,n,a\n,Nobody,1\na1,First,31\na1,Second,32\nx9,Both,3\nn1,New,4\nn1,Twice,5\n',
    )
    expect(counts).toEqual({ added: 1, changed: 1, withoutKey: 1, repeated: 2, ambiguous: 1 })
    expect(result.rowsRefused).toBe(4)
    expect(report).toEqual([
      '2,Code,,The row has no value for the key. The row was skipped.',
      '4,Code,a1,An earlier row has the same key. The row was skipped.',
      '7,Code,n1,An earlier row has the same key. The row was skipped.',
      '5,Code,x9,Several records have this key. The row was skipped.',
    ])
    expect(rows.map(({ Name }) => Name)).toEqual(['First', 'One', 'Two', 'New'])
  })

  test('compares keys as the filter does: numbers and dates by value, text with its case', async () => {
    const table = await createTable(
      [
        { title: 'No', type: 'Decimal' },
        { title: 'Day', type: 'Date' },
        { title: 'Name', type: 'SingleLineText' },
        { title: 'Note', type: 'SingleLineText' },
      ],
      [
        [1, '2026-01-31', 'Ann', ''],
        [2.5, '2026-02-28', 'Ben', ''],
      ],
    )
    const first = await load(table, 'no,note\n1.0,x\n2.50,y\n3,z\n', {}, [table.own[0]!, table.own[3]!])
    expect(first.counts).toEqual({ added: 1, changed: 2 })
    const second = await load(table, 'd,note\n2026-01-31,by day\n', {}, [table.own[1]!, table.own[3]!])
    expect(second.counts).toEqual({ changed: 1 })
    const third = await load(table, 'n,note\nann,other case\n', {}, [table.own[2]!, table.own[3]!])
    expect(third.counts).toEqual({ added: 1 })
  })

  test('finds records by several fields together, and by their ID', async () => {
    const table = await people([
      ['a', 'x', 1],
      ['a', 'y', 2],
    ])
    const both = await load(table, 'c,n,a\na,y,20\na,z,30\n', { keys: ['Code', 'Name'] })
    expect(both.counts).toEqual({ added: 1, changed: 1 })
    const id = table.all.find((field) => field.isPrimaryKey)!
    const byId = await load(table, 'id,age\n1,11\n99,1\nx,1\n', { keys: [id.title] }, [id, table.own[2]!])
    expect(byId.counts).toEqual({ changed: 1, withoutKey: 1, unknown: 1 })
    expect(byId.report).toContain('3,Id,99,No record has this ID. The row was skipped.')
    expect(byId.rows.map(({ Age }) => Age)).toEqual([11, 20, 30])
  })

  test('only updates, or only adds, if asked to', async () => {
    const table = await people()
    const file = 'c,n,a\na1,Ada,1\nd4,Dee,4\n'
    expect((await load(table, file, { mode: 'update' })).counts).toEqual({ changed: 1, skipped: 1 })
    expect(await rowsOf(door, table.tableId)).toHaveLength(3)
    expect((await load(table, file, { mode: 'add' })).counts).toEqual({ added: 1, skipped: 1 })
    expect(await rowsOf(door, table.tableId)).toHaveLength(4)
  })

  test('leaves values where the cell is empty, or clears them if asked to', async () => {
    const table = await people()
    const kept = await load(table, 'c,n,a\na1,,31\n')
    expect(kept.rows[0]).toEqual({ Code: 'a1', Name: 'Ann', Age: 31 })
    const cleared = await load(table, 'c,n,a\na1,,\n', { emptyCells: 'clear' })
    expect(cleared.rows[0]).toEqual({ Code: 'a1', Name: null, Age: null })
  })

  test('leaves the value where a cell does not fit its field, even if empty cells clear', async () => {
    const table = await people()
    const { rows, report, counts } = await load(table, 'c,n,a\na1,Ada,many\nn1,New,many\n', {
      emptyCells: 'clear',
    })
    expect(counts).toEqual({ added: 1, changed: 1 })
    expect(rows[0]).toEqual({ Code: 'a1', Name: 'Ada', Age: 30 })
    expect(rows[3]).toEqual({ Code: 'n1', Name: 'New', Age: null })
    expect(report).toEqual(['2,Age,many,Not a valid Number value', '3,Age,many,Not a valid Number value'])
  })

  test.each(['#DIV/0!', '#N/A', ' #REF! '])(
    'leaves the value where a text file has the error %p, and reports it',
    async (error) => {
      const table = await people()
      const { rows, report, result } = await load(table, `c,n,a\na1,Ada,${error}\nn1,New,${error}\n`, {
        emptyCells: 'clear',
      })
      expect(rows[0]).toEqual({ Code: 'a1', Name: 'Ada', Age: 30 })
      expect(rows[3]).toEqual({ Code: 'n1', Name: 'New', Age: null })
      expect([report.length, result.cellsRefused]).toEqual([2, 2])
    },
  )

  test('clears the value for words that mean an empty cell', async () => {
    const { rows, report } = await load(await people(), 'c,n,a\na1,Ada,n/a\n', { emptyCells: 'clear' })
    expect([rows[0]?.Age, report]).toEqual([null, []])
  })

  test('leaves the value where a formula of a workbook has an error or no result', async () => {
    const { tableId, own, ...others } = await people()
    const rows = [
      rowOf(inline('Code'), inline('Age'), inline('More')),
      rowOf(inline('a1'), '<c t="e"><f>1/0</f><v>#DIV/0!</v></c>', '<c t="e"><v>#REF!</v></c>'),
      rowOf(inline('b2'), '<c><f>1+2</f></c>'),
      rowOf(inline('c3'), '<c/>', inline('x')),
    ]
    const uploadId = await upload(door, handmade(`<sheetData>${rows.join('')}</sheetData>`), 'book.xlsx')
    const [found] = await analyse(door, uploadId)
    const { jobId } = await client.imports.start.mutate({
      baseId: base.id,
      tableId,
      uploadId,
      format: found!.analysis!.format,
      width: 3,
      columns: [
        { index: 0, fieldId: own[0]!.id },
        { index: 1, fieldId: own[2]!.id },
      ],
      update: { keys: [own[0]!.id], emptyCells: 'clear' },
    })
    const loaded = await loadedBy({ tableId, own, ...others }, jobId)
    expect(loaded.rows.map(({ Age }) => Age)).toEqual([30, 40, null])
    expect(loaded.report.map((line) => line.split(',').slice(0, 3))).toEqual([
      ['2', 'Age', '#DIV/0!'],
      ['3', 'Age', ''],
    ])
    expect(loaded.result.cellsRefused).toBe(2)
  })

  test('never clears a required value, and gives new records their defaults', async () => {
    const table = await createTable(
      [
        { title: 'Code', type: 'SingleLineText' },
        { title: 'Kind', type: 'SingleLineText', required: true, defaultValue: 'guest' },
        { title: 'Must', type: 'SingleLineText', required: true },
        { title: 'Done', type: 'Checkbox', defaultValue: true },
      ],
      [['a', 'host', 'm', false]],
    )
    const fields = table.own.slice(0, 3)
    const { rows, report, counts } = await load(table, 'c,k,m\na,,n\nb,,x\nc,y,\n', {}, fields)
    expect(counts).toEqual({ added: 1, changed: 1 })
    expect(rows).toEqual([
      { Code: 'a', Kind: 'host', Must: 'n', Done: false },
      { Code: 'b', Kind: 'guest', Must: 'x', Done: true },
    ])
    expect(report).toEqual(['4,Must,,A value is required. The row was skipped.'])
    const clearing = await load(table, 'c,k,m\na,,z\n', { emptyCells: 'clear' }, fields)
    expect(clearing.counts).toEqual({})
    expect(clearing.report).toEqual(['2,Kind,,A value is required. The row was skipped.'])
    await expect(start(table, fields.slice(0, 2), 'c,k\nn,x\n')).rejects.toThrow('is required')
    const updating = await load(table, 'c,k\na,boss\nn,x\n', { mode: 'update' }, fields.slice(0, 2))
    expect(updating.counts).toEqual({ changed: 1, skipped: 1 })
  })

  test('refuses rows whose unique value another record or an earlier row has', async () => {
    const table = await createTable(
      [
        { title: 'Code', type: 'SingleLineText' },
        { title: 'Mail', type: 'SingleLineText', unique: true },
        { title: 'Age', type: 'Number' },
      ],
      [
        ['a', 'a@x', 1],
        ['b', 'b@x', 2],
      ],
    )
    const { counts, rows, report } = await load(table, 'c,m,a\na,b@x,9\nb,b@x,3\nc,n@x,4\nd,n@x,5\n')
    expect(counts).toEqual({ added: 1, changed: 1 })
    expect(rows.map(({ Age }) => Age)).toEqual([1, 3, 4])
    expect(report.map((line) => line.split(',').slice(0, 3))).toEqual([
      ['2', 'Mail', 'b@x'],
      ['5', 'Mail', 'n@x'],
    ])
  })

  test('stamps and logs the records that really change, and no others', async () => {
    const table = await people()
    const editor = await createMember(app, base.id, 'editor')
    const by = doorOf(app, editor)
    const stamps = () =>
      sqlOf<{ id: number; at: string | null; by: string | null }>(
        `select id, updated_at as at, updated_by as by from "${table.tableName}" order by id`,
      )
    const before = await stamps()
    const jobId = await start(table, table.own, 'c,n,a\na1,Ann,30\nb2,Bob,40\nd4,Dee,1\n', {}, { by })
    const { changeId } = resultOf(await ended(by, jobId))
    const after = await stamps()
    expect(after[0]).toEqual(before[0]!)
    expect(after[1]).not.toEqual(before[1]!)
    expect(after[1]?.by).toBe(editor.id)
    expect(after[2]).toEqual(before[2]!)
    const logged = await sqlOf<{ record_id: unknown; before: string | null; after: string }>(
      `select record_id, before, after from sheaf_change_records where change_id = ${changeId} order by record_id`,
    )
    expect(logged.map(({ record_id }) => Number(record_id))).toEqual([2, 4])
    const [, name] = table.own
    expect(JSON.parse(logged[0]!.before!)[name!.id]).toBe('Ben')
    expect(JSON.parse(logged[0]!.after)[name!.id]).toBe('Bob')
    expect(logged[1]?.before).toBeNull()
  })

  test('writes nothing where nothing differs', async () => {
    const table = await people()
    const seen: unknown[] = []
    const stop = app.kernel.events.on('records.changed', (change) => seen.push(change))
    const { counts, result } = await load(table, 'c,n,a\na1,Ann,30.0\nb2,Ben,40\n')
    stop()
    expect(counts).toEqual({ unchanged: 2 })
    expect(result.changeId).toBeNull()
    expect(seen).toEqual([])
  })

  for (const count of [3, 1200]) {
    test(`is one step of undo and redo with ${count} records`, async () => {
      const existing = Array.from({ length: count }, (_, at) => [`k${at}`, 'old', at] as CellValue[])
      const table = await people(existing)
      const before = await rowsOf(door, table.tableId)
      const lines = Array.from({ length: count }, (_, at) => `k${at * 2},new,${at}`)
      const { rows: after, counts } = await load(table, `c,n,a\n${lines.join('\n')}\n`)
      expect(counts.added! + counts.changed!).toBe(count)
      await undo()
      expect(await rowsOf(door, table.tableId)).toEqual(before)
      await redo()
      const again = await rowsOf(door, table.tableId)
      const byCode = (rows: Record<string, CellValue>[]) =>
        rows.toSorted((a, b) => (String(a.Code) < String(b.Code) ? -1 : 1))
      expect(byCode(again)).toEqual(byCode(after))
    })
  }

  test('leaves what someone has changed since when it is undone', async () => {
    const table = await people()
    await load(table, 'c,n,a\na1,Ada,31\nb2,Bob,41\n')
    await client.records.write.mutate({
      change: {
        baseId: base.id,
        operations: [
          {
            kind: 'update',
            tableId: table.tableId,
            rows: [{ id: 1, values: { [table.own[1]!.id]: 'Mine' } }],
          },
        ],
      },
    })
    await undo()
    await undo()
    const rows = await rowsOf(door, table.tableId)
    expect(rows.slice(0, 2)).toEqual([
      { Code: 'a1', Name: 'Ann', Age: 30 },
      { Code: 'b2', Name: 'Ben', Age: 40 },
    ])
  })

  test('tells others that records changed, and counts follow', async () => {
    const table = await people()
    const seen: unknown[] = []
    const stop = app.kernel.events.on('records.changed', (change) => seen.push(change))
    await load(table, 'c,n,a\na1,Ada,31\nz,Zoe,1\n')
    stop()
    expect(seen).toMatchObject([{ truncated: true, tableIds: [table.tableId], actorId: owner.id }])
    const { count } = await client.records.count.query({ selection: { tableId: table.tableId } })
    expect(count).toBe(4)
  })

  test('reads an export again without changes, for every type of field that has a value', async () => {
    const table = await createTable(
      [
        { title: 'Code', type: 'SingleLineText' },
        { title: 'Long', type: 'LongText' },
        { title: 'Price', type: 'Currency' },
        { title: 'Share', type: 'Percent' },
        { title: 'When', type: 'DateTime' },
        { title: 'Time', type: 'Time' },
        { title: 'Done', type: 'Checkbox' },
        { title: 'Stars', type: 'Rating' },
        { title: 'Tags', type: 'MultiSelect', options: { choices: [{ title: 'x' }, { title: 'y' }] } },
        { title: 'Data', type: 'JSON' },
      ],
      [['a', 'l\nm', 1.5, 30, '2026-01-01 10:00:00+00:00', '10:30:00', true, 3, 'x,y', '{"a":1}']],
    )
    const line = 'a,"l\nm",1.5,30,2026-01-01 10:00:00+00:00,10:30,true,3,"x,y","{""a"":1}"\n'
    expect((await load(table, `h,h,h,h,h,h,h,h,h,h\n${line}`, { emptyCells: 'clear' })).counts).toEqual({
      unchanged: 1,
    })
  })
})

/** A workbook with people in its second sheet. */
function workbook(): Uint8Array<ArrayBuffer> {
  const book = XLSX.utils.book_new()
  const sheets = {
    Notes: [['Remark'], ['x']],
    People: [
      ['Code', 'Name'],
      ['x1', 'Eve'],
      ['x2', 'Kim'],
    ],
  }
  for (const [name, rows] of Object.entries(sheets))
    XLSX.utils.book_append_sheet(book, XLSX.utils.aoa_to_sheet(rows), name)
  return new Uint8Array(XLSX.write(book, { type: 'buffer', bookType: 'xlsx' }))
}

describe('POST /api/v2/tables/{tableId}/import', () => {
  const post = (
    tableId: string,
    query: string,
    file: BodyInit,
    credentials: Record<string, string> = { 'xc-auth': owner.token },
  ) =>
    fetch(`${app.url}/api/v2/tables/${tableId}/import?${query}`, {
      method: 'POST',
      headers: { ...credentials, 'content-type': 'application/octet-stream' },
      body: file,
    })

  test('names what is wrong with a request, and keeps no file', async () => {
    const { tableId } = await people()
    const messageOf = async (query: string, file: BodyInit = 'Code,Name\na1,Ada\n') => {
      const answer = await post(tableId, `name=refused.csv&${query}`, file)
      const { msg, message } = (await answer.json()) as { msg?: string; message?: string }
      return `${answer.status} ${msg ?? message}`
    }
    expect(await messageOf('keys=Nope')).toBe("404 Field 'Nope' not found")
    expect(await messageOf('keys=Age')).toBe('400 Choose a column of the file for each key field')
    expect(await messageOf('mode=merge&keys=Code')).toContain('400 ')
    expect(await messageOf('preview=true')).toBe(
      '400 Only an import that updates records or creates linked ones has a preview',
    )
    expect(await messageOf('keys=Code', 'x,y\n1,2\n')).toBe(
      '400 No column of the file has the title of a field',
    )
    expect(await messageOf('keys=Code&timeZone=Mars', 'Code\n1\n')).toBe('400 Unknown time zone')
    expect(await messageOf('keys=Code', '')).toContain('400 ')
    expect(await messageOf('', '[{"Code": 1}, {"Code": ')).toContain('400 The JSON file ends at line 1')
    expect(await messageOf('', '%PDF-1.4 x')).toContain('400 ')
    expect(await messageOf('table=Other', workbook())).toBe(
      '400 The file has no table “Other”. Its tables are “Notes”, “People”.',
    )
    expect(await messageOf('table=Other')).toBe(
      '400 The file has no table “Other”. Its only table has no name: leave out the parameter.',
    )
    expect(await messageOf('table=Notes', workbook())).toBe(
      '400 No column of the file has the title of a field',
    )
    const { uploads } = app.kernel.meta.tables(defineImportsTables)
    const kept = await app.kernel.meta.db.select().from(uploads)
    expect(kept.filter(({ fileName }) => fileName === 'refused.csv')).toEqual([])
  })

  test('reads workbooks, JSON and lines of JSON', async () => {
    const codes = async (query: string, file: BodyInit) => {
      const { tableId } = await people()
      const { id } = (await (await post(tableId, query, file)).json()) as { id: string }
      expect(resultOf(await ended(door, id))).toMatchObject({ rows: 2, problems: 0 })
      return (await rowsOf(door, tableId)).slice(-2).map(({ Code, Name }) => [Code, Name])
    }
    const both = [
      ['x1', 'Eve'],
      ['x2', 'Kim'],
    ]
    expect(await codes('table=people', workbook())).toEqual(both)
    expect(await codes('', '[{"code": "x1", "name": "Eve"}, {"code": "x2", "name": "Kim"}]')).toEqual(both)
    expect(await codes('', '{"code": "x1", "name": "Eve"}\n{"code": "x2", "name": "Kim"}\n')).toEqual(both)
    const file =
      '{"pets": [{"code": "p"}], "people": [{"code": "x1", "name": "Eve"}, {"code": "x2", "name": "Kim"}]}'
    expect(await codes('table=people', file)).toEqual(both)
  })

  test('reads the titles beside lists of JSON', async () => {
    const { tableId } = await people()
    const file = '{"columns": ["Code", "Name"], "data": [["x1", "Eve"], ["x2", "Kim"]]}'
    const { id } = (await (await post(tableId, 'table=data', file)).json()) as { id: string }
    expect(resultOf(await ended(door, id))).toMatchObject({ rows: 2, problems: 0 })
    expect((await rowsOf(door, tableId)).slice(-2)).toMatchObject([
      { Code: 'x1', Name: 'Eve' },
      { Code: 'x2', Name: 'Kim' },
    ])
  })

  test('reads amounts in dollars with the decimal mark that the caller names', async () => {
    const { table } = await app.trpc(owner.token).schema.createTable.mutate({
      baseId: base.id,
      title: `Amounts ${crypto.randomUUID()}`,
      fields: [
        { title: 'A', type: 'Currency', options: { code: 'USD' } },
        { title: 'B', type: 'Decimal' },
      ],
    })
    const file = 'A;B\n$1,500;0,5\n$2,250;1,25\n'
    for (const [query, amounts] of [
      ['', [1500, 2250]],
      ['decimal=,', [1.5, 2.25]],
      ['decimal=.', [1500, 2250]],
    ] as const) {
      const { id } = (await (await post(table.id, query, file)).json()) as { id: string }
      resultOf(await ended(door, id))
      const rows = await rowsOf(door, table.id)
      expect([query, rows.slice(-2).map(({ A }) => A)]).toEqual([query, [...amounts]])
    }
  })

  test('reads each column of dates in the notation that its values show', async () => {
    const { table } = await app.trpc(owner.token).schema.createTable.mutate({
      baseId: base.id,
      title: `Days ${crypto.randomUUID()}`,
      fields: [
        { title: 'A', type: 'Date' },
        { title: 'B', type: 'Date' },
        { title: 'C', type: 'Date' },
      ],
    })
    const file = 'A,B,C\n01/02/2024,01/02/2024,01/02/2024\n31/12/2024,12/31/2024,03/04/2024\n'
    for (const [query, third] of [
      ['', ['2024-01-02', '2024-03-04']],
      ['monthFirst=false', ['2024-02-01', '2024-04-03']],
    ] as const) {
      const { id } = (await (await post(table.id, query, file)).json()) as { id: string }
      resultOf(await ended(door, id))
      expect((await rowsOf(door, table.id)).slice(-2)).toMatchObject([
        { A: '2024-02-01', B: '2024-01-02', C: third[0] },
        { A: '2024-12-31', B: '2024-12-31', C: third[1] },
      ])
    }
  })

  test('reads short years first where the column, the field or the caller says so', async () => {
    const { table } = await app.trpc(owner.token).schema.createTable.mutate({
      baseId: base.id,
      title: `Short years ${crypto.randomUUID()}`,
      fields: [
        { title: 'A', type: 'Date' },
        { title: 'B', type: 'Date' },
        { title: 'C', type: 'Date', options: { format: 'DD/MM/YYYY' } },
        { title: 'D', type: 'Date' },
      ],
    })
    const file = 'A,B,C,D\n24/3/13,२४/०३/१३,२४/०३/१३,24/03/13\n24/11/7,२४/११/१७,२४/११/१७,24/11/17\n'
    for (const [query, changed] of [
      [
        '',
        [
          { B: '2024-03-13', C: '2013-03-24', D: '2013-03-24' },
          { B: '2024-11-17', C: '2017-11-24', D: '2017-11-24' },
        ],
      ],
      [
        'yearFirst=true',
        [
          { B: '2024-03-13', C: '2024-03-13', D: '2024-03-13' },
          { B: '2024-11-17', C: '2024-11-17', D: '2024-11-17' },
        ],
      ],
      [
        'yearFirst=false',
        [
          { B: '2013-03-24', C: '2013-03-24', D: '2013-03-24' },
          { B: '2017-11-24', C: '2017-11-24', D: '2017-11-24' },
        ],
      ],
    ] as const) {
      const { id } = (await (await post(table.id, query, file)).json()) as { id: string }
      expect(resultOf(await ended(door, id))).toMatchObject({ problems: 0 })
      expect((await rowsOf(door, table.id)).slice(-2)).toEqual([
        // A year is never written with one digit.
        { A: '2024-03-13', ...changed[0] },
        { A: '2024-11-07', ...changed[1] },
      ])
    }
  })

  test('reads short days that tell no order as the other days of the file', async () => {
    const { table } = await app.trpc(owner.token).schema.createTable.mutate({
      baseId: base.id,
      title: `Months first ${crypto.randomUUID()}`,
      fields: [
        { title: 'A', type: 'Date' },
        { title: 'B', type: 'Date' },
      ],
    })
    const file = 'A,B\n05/01/23,12/31/24\n05/01/24,11/30/24\n05/02/25,10/15/24\n'
    const { id } = (await (await post(table.id, '', file)).json()) as { id: string }
    expect(resultOf(await ended(door, id))).toMatchObject({ problems: 0 })
    expect(await rowsOf(door, table.id)).toEqual([
      { A: '2023-05-01', B: '2024-12-31' },
      { A: '2024-05-01', B: '2024-11-30' },
      { A: '2025-05-02', B: '2024-10-15' },
    ])
  })

  test('reads the years of other eras, Buddhist ones where the whole column has them', async () => {
    const { table } = await app.trpc(owner.token).schema.createTable.mutate({
      baseId: base.id,
      title: `Eras ${crypto.randomUUID()}`,
      fields: (['A', 'B', 'C', 'D'] as const).map((title) => ({ title, type: 'Date' })),
    })
    const file = [
      'A,B,C,D',
      '31/12/2567,31/12/2567,31 ธันวาคม พ.ศ. 2567,令和6年12月31日',
      '29/02/2567,01/01/2024,๑ ก.พ. ๒๕๖๘,H31.4.30',
    ].join('\n')
    const asWritten = [
      { B: '2567-12-31', C: '2024-12-31', D: '2024-12-31' },
      { B: '2024-01-01', C: '2025-02-01', D: '2019-04-30' },
    ]
    for (const [query, days] of [
      ['', ['2024-12-31', '2024-02-29']],
      ['buddhistYears=false', ['2567-12-31', null]],
    ] as const) {
      const { id } = (await (await post(table.id, query, file)).json()) as { id: string }
      resultOf(await ended(door, id))
      expect((await rowsOf(door, table.id)).slice(-2)).toMatchObject(
        asWritten.map((row, at) => ({ ...row, A: days[at] })),
      )
    }
  })

  test('previews, updates and adds records by titles, with an API token as well', async () => {
    const table = await people()
    const { body } = await app.rest(owner.token).post('/api/v1/tokens')
    const file = 'name;CODE;ignored\nAda;a1;x\nDee;d4;y\n'
    const started = await post(table.tableId, 'keys=Code&preview=true', file, {
      'xc-token': body.token,
    })
    expect(started.status).toBe(200)
    const { id, job } = (await started.json()) as { id: string; job: string }
    expect(job).toBe('import')
    expect((await loadedBy(table, id)).counts).toEqual({ added: 1, changed: 1 })
    const second = (await (await post(table.tableId, 'keys=Code&mode=update', file)).json()) as { id: string }
    const { rows, counts } = await loadedBy(table, second.id)
    expect(counts).toEqual({ changed: 1, skipped: 1 })
    expect(rows[0]?.Name).toBe('Ada')
    const third = (await (await post(table.tableId, '', file)).json()) as { id: string }
    expect(resultOf(await ended(door, third.id)).rows).toBe(2)
    expect(await rowsOf(door, table.tableId)).toHaveLength(5)
  })
})
