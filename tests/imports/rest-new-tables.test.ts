import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import * as XLSX from 'xlsx'
import type { ProposedTable } from '../../modules/imports/new-tables.ts'
import { defineImportsTables } from '../../modules/imports/tables.ts'
import type { ImportResult } from '../../src/core/csv/import-result.ts'
import type { Base } from '../../src/core/model.ts'
import type { Job } from '../../src/jobs.ts'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import { createBase, createMember } from '../support/factories.ts'
import { holdTurn } from '../support/hold-turn.ts'
import { longestTurn } from '../support/longest-turn.ts'
import { type OutboundRecorder, startOutboundRecorder } from '../support/outbound-recorder.ts'
import { createConnected } from './connected-support.ts'
import { type Door, doorOf, ended, resultOf, rowsOf } from './support.ts'

let app: TestApp
let owner: TestUser
let base: Base
let door: Door
/** API token of the owner. */
let token: string
let remote: OutboundRecorder

beforeAll(async () => {
  app = await createTestApp({ config: { allowLocalHttp: true, importMaxBytes: 2_000_000 } })
  owner = await app.signUp()
  base = await createBase(app, owner)
  door = doorOf(app, owner)
  token = await tokenOf(owner)
  remote = startOutboundRecorder()
})
afterAll(async () => {
  await remote.stop()
  await app.stop()
})

const tokenOf = async (user: TestUser): Promise<string> =>
  (await app.rest(user.token).post('/api/v1/tokens')).body.token

interface Started {
  tables: { position: number; name: string; title: string; jobId: string }[]
  jobs: { id: string; job: string; status: Job['status'] }[]
}

interface Answer<T> {
  status: number
  body: T & { msg?: string; message?: string; error?: string }
}

/** Sends a file as a form, as programs do. */
async function sendForm<T = Started>(
  path: string,
  file: BlobPart,
  options?: unknown,
  credential = token,
  name = 'data.csv',
): Promise<Answer<T>> {
  const form = new FormData()
  form.append('file', new Blob([file]), name)
  if (options !== undefined)
    form.append('options', typeof options === 'string' ? options : JSON.stringify(options))
  const answer = await fetch(`${app.url}/api/v2/meta/${path}`, {
    method: 'POST',
    headers: { 'xc-token': credential },
    body: form,
  })
  return { status: answer.status, body: (await answer.json()) as Answer<T>['body'] }
}

async function sendJson<T = Started>(path: string, body: unknown, credential = token): Promise<Answer<T>> {
  const answer = await fetch(`${app.url}/api/v2/meta/${path}`, {
    method: 'POST',
    headers: { 'xc-token': credential, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: answer.status, body: (await answer.json()) as Answer<T>['body'] }
}

interface Analysed {
  uploadId: string
  fileName: string
  tables: ProposedTable[]
}

const importPath = () => `bases/${base.id}/import`
const messageOf = ({ status, body }: Answer<unknown>) => `${status} ${body.msg ?? body.message}`

/** Waits for all jobs of a call, and gives the new tables by title. */
async function loaded({ status, body }: Answer<Started>) {
  expect([status, body.message ?? body.msg]).toEqual([200, undefined])
  const tables: Record<string, { tableId: string; rows: Awaited<ReturnType<typeof rowsOf>> }> = {}
  for (const { id } of body.jobs) resultOf(await ended(door, id))
  for (const { jobId, title } of body.tables) {
    const { tableId } = (await ended(door, jobId)).result as ImportResult
    tables[title] = { tableId, rows: await rowsOf(door, tableId) }
  }
  return tables
}

async function typesOfTable(tableId: string): Promise<Record<string, string>> {
  const { fields } = await app.trpc(owner.token).schema.table.query({ tableId })
  return Object.fromEntries(
    fields.filter((one) => !one.isSystem && !one.isPrimaryKey).map(({ title, type }) => [title, type]),
  )
}

const titles = async () =>
  (await app.trpc(owner.token).schema.tables.query({ baseId: base.id })).map(({ title }) => title)

const keptUploads = async () => {
  const { uploads } = app.kernel.meta.tables(defineImportsTables)
  return (await app.kernel.meta.db.select().from(uploads)).map(({ fileName }) => fileName)
}

function workbook(sheets: Record<string, unknown[][]>): Uint8Array<ArrayBuffer> {
  const book = XLSX.utils.book_new()
  for (const [name, rows] of Object.entries(sheets))
    XLSX.utils.book_append_sheet(book, XLSX.utils.aoa_to_sheet(rows), name)
  return new Uint8Array(XLSX.write(book, { type: 'buffer', bookType: 'xlsx', compression: true }))
}

const SALES = 'Item;Price;Day;Note\nPen;1,500;03/04/2024;a\nBag;2,250;05/04/2024;b\n'

describe('POST /api/v2/meta/bases/{baseId}/import', () => {
  test('names what is wrong with a call, and creates and keeps nothing', async () => {
    const before = await titles()
    const send = async (options: unknown, file: BlobPart = SALES, name = 'refused.csv') =>
      messageOf(await sendForm(importPath(), file, options, token, name))
    expect(await send('{')).toBe('400 The options are not valid JSON')
    expect(await send({ tabels: [] })).toContain('400 Invalid request body')
    expect(await send({ tables: [{ columns: [{ name: 'Price', tpye: 'Decimal' }] }] })).toContain('400 ')
    expect(await send({ tables: ['Other'] })).toContain('400 The file has no table “Other”')
    expect(await send({ tables: [{ columns: [{ name: 'Nope' }] }] })).toBe(
      '400 “refused” has no column “Nope”',
    )
    expect(await send({ tables: [{ columns: [{ name: 'Note', dateOrder: 'day' }] }] })).toBe(
      '400 “Note” has no dates, so it has no date order',
    )
    expect(await send({ tables: [{ columns: [{ name: 'Note', type: 'Formula' }] }] })).toContain('400 ')
    const price = { name: 'Price', title: 'Cost', type: 'Currency', options: { code: 'DOLLAR' } }
    expect(await send({ tables: [{ columns: [price] }] })).toStartWith(
      '400 The option “code” of column “Cost” is not valid: ',
    )
    const note = { name: 'Note', type: 'SingleSelect', options: { choices: [{ title: 'a' }, { title: 7 }] } }
    expect(await send({ tables: [{ columns: [note] }] })).toStartWith(
      '400 The option “choices.1.title” of column “Note” is not valid: ',
    )
    expect(await send({ tables: [{ columns: [{ name: 'Note', link: { table: 3 } }] }] })).toBe(
      '400 A column links to a table that is not imported with it',
    )
    const twice = [
      { name: 'A', title: 'Same' },
      { name: 'B', title: 'same' },
    ]
    const both = workbook({ A: [['x'], [1], [2]], B: [['y'], [1], [2]] })
    expect(await send({ tables: twice }, both)).toBe('400 The table “same” is named twice')
    expect(await send({ tables: ['A', 'a'] }, both)).toBe('400 The table “a” is named twice')
    expect(await send({ tables: [{ import: false }] })).toBe('400 Choose at least one table of the file')
    expect(await send({ timeZone: 'Mars' })).toContain('400 ')
    expect(await send({ sourceId: 'nope' })).toMatch(/^40[04] /)
    expect(await send({}, '')).toBe('400 The file is empty')
    expect(await send({}, '%PDF-1.4 x')).toContain('400 ')
    expect(await send({}, 'x'.repeat(2_000_001))).toContain('413 ')
    expect(messageOf(await sendJson(importPath(), {}))).toBe(
      '400 Send one file, an address or the id of an upload',
    )
    expect(messageOf(await sendJson(importPath(), { uploadId: 'a'.repeat(20) }))).toContain('404 ')
    expect(messageOf(await sendJson('bases/pnope/import', { uploadId: 'x' }))).toContain('404 ')
    expect(await titles()).toEqual(before)
    expect(await keptUploads()).not.toContain('refused.csv')
  })

  test('is refused to tokens of editors and viewers, and without a token', async () => {
    for (const role of ['editor', 'viewer'] as const) {
      const credential = await tokenOf(await createMember(app, base.id, role))
      for (const path of [importPath(), `${importPath()}/analysis`, `imports/files?baseId=${base.id}`]) {
        const { status, body } = await sendForm(path, SALES, {}, credential, 'theirs.csv')
        expect([role, path, status, body.error]).toEqual([role, path, 403, 'PERMISSION_DENIED'])
      }
    }
    expect((await sendForm(importPath(), SALES, {}, '', 'theirs.csv')).status).toBe(401)
    expect(await keptUploads()).not.toContain('theirs.csv')
  })

  test('creates a table with the detected types, or those that the caller names', async () => {
    const plain = await loaded(await sendForm(importPath(), SALES, undefined, token, 'Sales.csv'))
    expect(await typesOfTable(plain.Sales!.tableId)).toEqual({
      Item: 'SingleLineText',
      Price: 'Decimal',
      Day: 'Date',
      Note: 'SingleLineText',
    })
    expect(plain.Sales!.rows[0]).toEqual({ Item: 'Pen', Price: 1.5, Day: '2024-04-03', Note: 'a' })
    const columns = [
      { name: 'price', title: 'Amount', type: 'Currency', options: { code: 'USD' }, decimal: '.' },
      { name: 'Day', dateOrder: 'month' },
      { index: 3, import: false },
    ]
    const chosen = await loaded(
      await sendForm(importPath(), SALES, { tables: [{ title: 'Chosen', columns }] }, token, 'Sales.csv'),
    )
    expect(await typesOfTable(chosen.Chosen!.tableId)).toEqual({
      Item: 'SingleLineText',
      Amount: 'Currency',
      Day: 'Date',
    })
    expect(chosen.Chosen!.rows[0]).toEqual({ Item: 'Pen', Amount: 1500, Day: '2024-03-04' })
  })

  test('takes the file as the body of the call as well', async () => {
    const options = encodeURIComponent(JSON.stringify({ tables: [{ title: 'Raw' }] }))
    const answer = await fetch(`${app.url}/api/v2/meta/${importPath()}?name=raw.csv&options=${options}`, {
      method: 'POST',
      headers: { 'xc-token': token, 'content-type': 'application/octet-stream' },
      body: 'A,B\n1,2\n',
    })
    const { Raw } = await loaded({
      status: answer.status,
      body: (await answer.json()) as Answer<Started>['body'],
    })
    expect(Raw!.rows).toEqual([{ A: 1, B: 2 }])
  })

  test('takes a file that was stored before, of the caller alone', async () => {
    const stored = await sendForm<{ uploadId: string; size: number }>(
      `imports/files?baseId=${base.id}`,
      'A\n1\n',
    )
    expect(stored).toMatchObject({ status: 200, body: { fileName: 'data.csv', size: 4 } })
    const { uploadId } = stored.body
    // Nothing about where the server keeps it.
    const told = await sendJson(`imports/files?baseId=${base.id}`, { uploadId })
    expect(told.body as unknown).toEqual({ uploadId, fileName: 'data.csv', size: 4 })
    const other = await createMember(app, base.id, 'creator')
    const refused = await sendJson(importPath(), { uploadId }, await tokenOf(other))
    expect(messageOf(refused)).toContain('404 The uploaded file is no longer available')
    const wrong = await sendJson(importPath(), { uploadId, tables: ['Nope'] })
    expect(wrong.status).toBe(400)
    const { Stored } = await loaded(await sendJson(importPath(), { uploadId, tables: [{ title: 'Stored' }] }))
    expect(Stored!.rows).toEqual([{ A: 1 }])
  })

  test('fetches the file from an address', async () => {
    remote.answer('/stock.csv', { body: 'Part,Count\nBolt,3\nNut,4\n' })
    const { stock } = await loaded(await sendJson(importPath(), { url: `${remote.url}/stock.csv` }))
    expect(stock!.rows).toEqual([
      { Part: 'Bolt', Count: 3 },
      { Part: 'Nut', Count: 4 },
    ])
  })

  test('fetches no address of a private network', async () => {
    const guarded = await createTestApp()
    const user = await guarded.signUp()
    const own = await createBase(guarded, user)
    const asked = remote.requests.length
    const { status, body } = await guarded
      .rest(user.token)
      .post(`/api/v2/meta/bases/${own.id}/import`, { url: `${remote.url}/stock.csv` })
    expect([status, body.msg]).toEqual([400, expect.stringContaining('private network')])
    expect(remote.requests.length).toBe(asked)
    await guarded.stop()
  })

  test('asks for an encoding that is not clear', async () => {
    // “Łódź” in Windows-1250.
    const file = new Uint8Array([...Buffer.from('Name\r\n'), 0xa3, 0xf3, 0x64, 0x9f, ...Buffer.from('\r\n')])
    expect(messageOf(await sendForm(importPath(), file))).toContain('windows-1250 (Łódź)')
    const told = await sendForm<Analysed>(`${importPath()}/analysis`, file)
    expect(told.body.tables[0]!.encodings).toContain('windows-1250')
    const options = { encoding: 'windows-1250', tables: [{ title: 'Places' }] }
    const { Places } = await loaded(await sendForm(importPath(), file, options))
    expect(Places!.rows).toEqual([{ Name: 'Łódź' }])
  })

  test('creates tables in a connected database', async () => {
    const own = await createBase(app, owner)
    const database = await createConnected('sqlite', ['create table seen (id integer)'], app.config.dataDir)
    const trpc = app.trpc(owner.token)
    const connecting = await trpc.sources.create.mutate({ baseId: own.id, ...database.sent })
    const { id: sourceId } = (await ended(door, connecting.id)).result as { id: string }
    const path = `bases/${own.id}/import`
    const linked = { name: 'B', link: { tableId: 'm1' } }
    expect(messageOf(await sendForm(path, 'A,B\n1,x\n', { sourceId, tables: [{ columns: [linked] }] }))).toBe(
      '400 Columns can’t become links to or in tables of connected databases. Lists can be linked to the records that have them if both go into new tables of the same database.',
    )
    await loaded(await sendForm(path, 'A,B\n1,x\n2,y\n', { sourceId, tables: [{ title: 'Parts' }] }))
    expect(await database.ask('select A, B from Parts order by id')).toEqual([
      { A: 1, B: 'x' },
      { A: 2, B: 'y' },
    ])
    await database.stop()
  })

  const sheets = () =>
    workbook({
      Clients: [
        ['Name', 'City'],
        ['Ann', 'Oslo'],
        ['Bo', 'Rome'],
        ['Cy', 'Bonn'],
      ],
      Deals: [
        ['Deal', 'Client'],
        ['d1', 'Ann'],
        ['d2', 'Cy'],
        ['d3', 'Bo'],
        ['d4', 'Ann'],
      ],
    })

  test('imports the sheets of a workbook, or those that are named, linked by their names', async () => {
    const both = await loaded(await sendForm(importPath(), sheets(), undefined, token, 'crm.xlsx'))
    expect(Object.keys(both)).toEqual(['Clients', 'Deals'])
    expect((await typesOfTable(both.Deals!.tableId)).Client).toBe('LinkToAnotherRecord')
    const one = await loaded(await sendForm(importPath(), sheets(), { tables: ['deals'], links: false }))
    expect(Object.keys(one)).toEqual(['Deals_1'])
    expect(await typesOfTable(one.Deals_1!.tableId)).toEqual({
      Deal: 'SingleLineText',
      Client: 'SingleLineText',
    })
  })

  test('finds several tables on a sheet, unless the caller wants it as a whole', async () => {
    const file = () =>
      workbook({
        Both: [
          ['Name', 'Age'],
          ['Ann', 1],
          ['Bo', 2],
          [],
          ['Item', 'Cost', 'Left'],
          ['Pen', 3, 4],
          ['Bag', 5, 6],
        ],
      })
    const rowsOfTables = async (options: object) =>
      (await sendForm<Analysed>(`${importPath()}/analysis`, file(), options)).body.tables.map(
        ({ rows }) => rows,
      )
    expect(await rowsOfTables({})).toEqual([2, 2])
    expect(await rowsOfTables({ wholeSheets: true })).toEqual([5])
  })

  const ORDERS = JSON.stringify([
    {
      Order: 'o1',
      lines: [
        { sku: 'a', qty: 1 },
        { sku: 'b', qty: 2 },
      ],
    },
    { Order: 'o2', lines: [{ sku: 'c', qty: 3 }] },
  ])

  test('imports nested lists as linked tables', async () => {
    const answer = await sendForm(importPath(), ORDERS, { nested: true }, token, 'orders.json')
    const tables = await loaded(answer)
    expect(Object.keys(tables)).toEqual(['orders', 'lines'])
    expect(await typesOfTable(tables.lines!.tableId)).toMatchObject({ sku: 'SingleLineText', qty: 'Number' })
    expect(Object.values(await typesOfTable(tables.lines!.tableId))).toContain('LinkToAnotherRecord')
    expect(Object.keys(tables.orders!.rows[0]!)).not.toContain('lines.sku')
    const linking = await ended(door, answer.body.jobs.at(-1)!.id)
    expect(linking).toMatchObject({ kind: 'import-links', status: 'completed', result: { problems: 0 } })
  })
})

describe('POST /api/v2/meta/bases/{baseId}/import/analysis', () => {
  test('compares the tables of a workbook with each other without keeping other requests waiting', async () => {
    const [sheets, columns, rows] = [16, 20, 200]
    const range = (count: number) => Array.from({ length: count }, (_, at) => at)
    const book = workbook(
      Object.fromEntries(
        range(sheets).map((sheet) => [
          `Sheet ${sheet}`,
          [
            range(columns).map((column) => `Column ${column}`),
            ...range(rows).map((row) => range(columns).map((column) => `${sheet} a${column}, ${row} b`)),
          ],
        ]),
      ),
    )
    const { result, longestMs } = await longestTurn(() =>
      sendForm<Analysed>(`${importPath()}/analysis`, book, undefined, token, 'book.xlsx'),
    )
    expect(result.body.tables.map(({ columns: found }) => found.length)).toEqual(
      range(sheets).map(() => columns),
    )
    expect(longestMs).toBeLessThan(1000)
  })

  test('tells the tables, types, samples and problems, which can be changed and sent back', async () => {
    const { status, body } = await sendForm<Analysed>(
      `${importPath()}/analysis`,
      SALES,
      {},
      token,
      'told.csv',
    )
    expect(status).toBe(200)
    const [table] = body.tables
    expect(table).toMatchObject({ position: 0, title: 'told', import: true, rows: 2, problem: null })
    expect(table!.columns).toMatchObject([
      { name: 'Item', type: 'SingleLineText', isDisplay: true, samples: ['Pen', 'Bag'], decimal: null },
      { name: 'Price', type: 'Decimal', decimal: ',', isAmbiguous: true },
      { name: 'Day', type: 'Date', dateOrder: 'day', isAmbiguous: true, misfits: 0 },
      { name: 'Note' },
    ])
    const changed = {
      ...table!,
      title: 'Back',
      columns: table!.columns.map((column) =>
        column.name === 'Note' ? { ...column, type: 'Number' } : column,
      ),
    }
    const again = { uploadId: body.uploadId, tables: [changed] }
    const checked = await sendJson<Analysed>(`${importPath()}/analysis`, again)
    expect(checked.body.tables[0]!.columns.map(({ type, misfits }) => [type, misfits])).toEqual([
      ['SingleLineText', 0],
      ['Decimal', 0],
      ['Date', 0],
      ['Number', 2],
    ])
    const { Back } = await loaded(await sendJson(importPath(), again))
    expect(Back!.rows[0]).toEqual({ Item: 'Pen', Price: 1.5, Day: '2024-04-03', Note: null })
  })
})

describe('/api/v2/meta/jobs/{jobId}', () => {
  const call = async (method: string, path: string, credential = token) => {
    const answer = await fetch(`${app.url}/api/v2/meta/jobs/${path}`, {
      method,
      headers: { 'xc-token': credential },
    })
    return { status: answer.status, text: await answer.text() }
  }
  const jsonOf = async (...[method, path]: Parameters<typeof call>) =>
    JSON.parse((await call(method, path)).text)

  test('gives the state of an import, and its report as JSON and CSV', async () => {
    const file = `N,Text\n${Array.from({ length: 20 }, (_, at) => `${at},t`).join('\n')}\nx,=1+1\ny,b\n`
    const columns = [{ name: 'N', type: 'Number' }]
    const { body } = await sendForm(importPath(), file, { tables: [{ title: 'Reported', columns }] })
    const { id } = body.jobs[0]!
    await ended(door, id)
    expect(await jsonOf('GET', id)).toMatchObject({
      id,
      job: 'import',
      status: 'completed',
      error: null,
      result: { title: 'Reported', rows: 22, cellsRefused: 2, problems: 2 },
    })
    const lines = [
      { row: 22, column: 'N', value: 'x', reason: expect.any(String) },
      { row: 23, column: 'N', value: 'y', reason: expect.any(String) },
    ]
    expect(await jsonOf('GET', `${id}/report`)).toEqual({ lines, isLast: true })
    expect(await jsonOf('GET', `${id}/report?limit=1`)).toEqual({ lines: lines.slice(0, 1), isLast: false })
    expect(await jsonOf('GET', `${id}/report?limit=1&offset=1`)).toEqual({
      lines: lines.slice(1),
      isLast: true,
    })
    expect((await call('GET', `${id}/report?format=csv`)).text).toContain(
      'Row,Column,Value,Reason\r\n22,N,x,',
    )
    expect((await call('GET', `${id}/report?limit=0`)).status).toBe(400)
    const stranger = await tokenOf(await app.signUp())
    for (const [method, path] of [
      ['GET', id],
      ['GET', `${id}/report`],
      ['POST', `${id}/cancel`],
    ] as const)
      expect([path, (await call(method, path, stranger)).status]).toEqual([path, 404])
    expect((await call('GET', id, '')).status).toBe(401)
  })

  test('has no lines where everything was imported', async () => {
    const { body } = await sendForm(importPath(), 'A\n1\n', { tables: [{ title: 'Clean' }] })
    const { id } = body.jobs[0]!
    await ended(door, id)
    expect(await jsonOf('GET', `${id}/report`)).toEqual({ lines: [], isLast: true })
  })

  test('cancels an import, which leaves no table', async () => {
    const file = `A,B\n${'1,text\n'.repeat(180_000)}`
    const before = await titles()
    const { body } = await sendForm(importPath(), file, { tables: [{ title: 'Cancelled' }] })
    const { id } = body.jobs[0]!
    expect((await call('POST', `${id}/cancel`)).status).toBe(200)
    expect((await ended(door, id)).status).toBe('cancelled')
    expect(await jsonOf('GET', id)).toMatchObject({ status: 'cancelled', result: null })
    expect(await titles()).toEqual(before)
  })

  test('cancels all jobs of a start at once, and no other', async () => {
    const release = await holdTurn(app.kernel, base.id)
    const before = await titles()
    const file = JSON.stringify([{ No: 'o1', Lines: [{ Sku: 'a' }], Notes: [{ Text: 'b' }] }])
    const options = { nested: true }
    const { body } = await sendForm(importPath(), file, options, token, 'group.json')
    const other = await sendForm(importPath(), 'A\n1\n', { tables: [{ title: 'Kept' }] })
    const ids = body.jobs.map(({ id }) => id)
    expect(ids.length).toBe(4)
    const groups = await Promise.all(ids.map(async (id) => (await jsonOf('GET', id)).group))
    expect(groups).toEqual(ids.map(() => groups[0]!))
    expect(groups[0]).toBeString()
    expect((await call('POST', `${ids[0]}/cancel?group=perhaps`)).status).toBe(400)
    const stranger = await tokenOf(await app.signUp())
    expect((await call('POST', `${ids[0]}/cancel?group=true`, stranger)).status).toBe(404)
    expect((await call('POST', `${ids[1]}/cancel?group=true`)).status).toBe(200)
    await release()
    for (const id of ids) expect((await ended(door, id)).status).toBe('cancelled')
    expect(await ended(door, other.body.jobs[0]!.id)).toMatchObject({ status: 'completed', group: null })
    expect((await titles()).filter((title) => !before.includes(title))).toEqual(['Kept'])
  })
})
