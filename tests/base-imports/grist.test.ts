import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readLinks } from '../../src/core/fields/list-value.ts'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import { importFrom, recordsOf, settled, uploadFile } from './support.ts'

let app: TestApp
let owner: TestUser
const folder = mkdtempSync(join(tmpdir(), 'sheaf-grist-'))

beforeAll(async () => {
  app = await createTestApp()
  owner = await app.signUp()
})
afterAll(async () => {
  await app.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** A document as Grist stores it. */
function writeDocument(): Uint8Array<ArrayBuffer> {
  const path = join(folder, 'shop.grist')
  const file = new Database(path)
  file.run('create table _grist_Tables (id integer primary key, tableId text, summarySourceTable integer)')
  file.run(
    'create table _grist_Tables_column (id integer primary key, parentId integer, parentPos real, colId text, type text, widgetOptions text, isFormula integer, formula text, label text, description text, reverseCol integer)',
  )
  file.run(
    'create table _grist_Attachments (id integer primary key, fileIdent text, fileName text, fileSize integer)',
  )
  file.run('create table _gristsys_Files (id integer primary key, ident text, data blob)')
  file.run("insert into _grist_Tables values (1, 'Customers', 0), (2, 'Orders', 0), (3, 'Orders_summary', 2)")
  const column = file.query('insert into _grist_Tables_column values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
  const add = (
    id: number,
    table: number,
    colId: string,
    type: string,
    more: { widget?: object; formula?: string; label?: string } = {},
  ) =>
    column.run(
      id,
      table,
      id,
      colId,
      type,
      JSON.stringify(more.widget ?? {}),
      more.formula ? 1 : 0,
      more.formula ?? '',
      more.label ?? colId,
      '',
      0,
    )
  add(1, 1, 'manualSort', 'ManualSortPos')
  add(2, 1, 'Name', 'Text')
  add(3, 2, 'Ref', 'Text', { label: 'Reference' })
  add(4, 2, 'Price', 'Numeric', { widget: { numMode: 'currency', currency: 'EUR', decimals: 2 } })
  add(5, 2, 'Done', 'Bool')
  add(6, 2, 'Due', 'Date', { widget: { dateFormat: 'DD/MM/YYYY' } })
  add(7, 2, 'At', 'DateTime:Europe/Berlin')
  add(8, 2, 'State', 'Choice', {
    widget: { choices: ['open', 'paid'], choiceOptions: { paid: { fillColor: '#00ff00' } } },
  })
  add(9, 2, 'Tags', 'ChoiceList', { widget: { choices: ['a', 'b', 'c, d'] } })
  add(10, 2, 'Customer', 'Ref:Customers')
  add(11, 2, 'Others', 'RefList:Customers')
  add(12, 2, 'Files', 'Attachments')
  add(13, 2, 'Twice', 'Numeric', { formula: '$Price * 2' })
  add(14, 2, 'gristHelper_Display', 'Any', { formula: '$Customer.Name' })
  file.run('create table Customers (id integer primary key, manualSort real, Name text)')
  file.run("insert into Customers values (1, 1, 'Ann'), (2, 2, 'Bo')")
  file.run(
    'create table Orders (id integer primary key, Ref text, Price real, Done boolean, Due date, At datetime, State text, Tags text, Customer integer, Others text, Files text, Twice real, gristHelper_Display text)',
  )
  file.run('create table Orders_summary (id integer primary key)')
  const day = Date.UTC(2024, 1, 29) / 1000
  file
    .query('insert into Orders values (1, ?, 2.5, 1, ?, ?, ?, ?, 2, ?, ?, 5, ?)')
    .run('R1', day, day + 3600, 'paid', '["a","b"]', '[1,2]', '[1]', 'Bo')
  file.run("insert into Orders (id, Ref, Customer) values (2, 'R2', 0)")
  file.run("insert into _grist_Attachments values (1, 'abc.txt', 'note.txt', 5)")
  file.query('insert into _gristsys_Files values (1, ?, ?)').run('abc.txt', new TextEncoder().encode('hello'))
  file.close()
  return new Uint8Array(readFileSync(path))
}

const upload = (name: string, body: Uint8Array<ArrayBuffer>) => uploadFile(app, owner, name, body)

describe('an import of a Grist document', () => {
  test('rejects a file that is none', async () => {
    const { baseImports } = app.trpc(owner.token)
    const text = await upload('x.grist', new TextEncoder().encode('a,b\n1,2\n'.repeat(200)))
    const from = { source: 'grist' as const, credentials: { uploadId: text } }
    await expect(baseImports.inspect.mutate({ from })).rejects.toThrow('not a Grist document')
    const gone = { source: 'grist' as const, credentials: { uploadId: 'a'.repeat(20) } }
    await expect(baseImports.inspect.mutate({ from: gone })).rejects.toThrow()
  })

  test('brings tables, options, references and files, and reports formulas', async () => {
    const { baseImports } = app.trpc(owner.token)
    const from = {
      source: 'grist' as const,
      credentials: { uploadId: await upload('shop.grist', writeDocument()) },
    }
    const [base] = await baseImports.inspect.mutate({ from })
    expect(base).toEqual({ id: 'document', title: 'shop' })
    const started = await baseImports.begin.mutate(importFrom(from, 'document'))
    const done = await settled(app, owner, started.id)
    expect(done).toMatchObject({ status: 'completed', error: null })
    expect(done.tables.map(({ title }) => title)).toEqual(['Customers', 'Orders'])
    const { rows, schema } = await recordsOf(app, owner, done.baseId!, 'Orders')
    expect(rows[0]).toMatchObject({
      Reference: 'R1',
      Price: 2.5,
      Done: true,
      Due: '2024-02-29',
      At: '2024-02-29 01:00:00+00:00',
      State: 'paid',
      Tags: 'a,b',
      Twice: 5,
    })
    const titles = (cell: unknown) => readLinks(cell as string).records.map(({ title }) => title)
    expect(titles(rows[0]!.Customer)).toEqual(['Bo'])
    expect(titles(rows[0]!.Others)).toEqual(['Ann', 'Bo'])
    expect(titles(rows[1]!.Customer)).toEqual([])
    expect(JSON.parse(String(rows[0]!.Files))).toMatchObject([{ title: 'note.txt', size: 5 }])
    const field = (title: string) => schema.fields.find((one) => one.title === title)!
    expect(field('Price').options).toMatchObject({ code: 'EUR' })
    expect(field('State').options).toMatchObject({
      choices: [{ title: 'open' }, { title: 'paid', color: '#00ff00' }],
    })
    const report = await baseImports.report.query({ importId: done.id })
    expect(report.find(({ fieldTitle }) => fieldTitle === 'Twice')?.reason).toContain('Python')
    expect(report.find(({ fieldTitle }) => fieldTitle === 'Tags')).toMatchObject({
      kind: 'changed',
      reason: expect.stringContaining('semicolons'),
    })
    expect(report[0]).toMatchObject({ kind: 'note', reason: expect.stringContaining('access rules') })
  })
})
