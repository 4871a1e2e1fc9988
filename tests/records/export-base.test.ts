import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { strFromU8, unzipSync } from 'fflate'
import * as xlsx from 'xlsx'
import { zipped } from '../../modules/records/export/formats/zip.ts'
import { compress } from '../../src/record-files/index.ts'
import { doorOf, ended } from '../imports/support.ts'
import { createMember } from '../support/factories.ts'
import { createLink } from './links-support.ts'
import { type Bench, createBench, refusalOf, type TestTable } from './support.ts'

let bench: Bench
let tasks: TestTable
let people: TestTable

/** A title that neither a sheet nor a file can have. */
const AWKWARD = 'People: who? [2026] and a long rest of the title'

beforeAll(async () => {
  bench = await createBench()
  people = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'Ann' }, { Title: 'Bob, Jr.' }])
  await bench.trpc.schema.updateTable.mutate({ tableId: people.id, title: AWKWARD })
  tasks = await bench.table(
    {
      Title: 'SingleLineText',
      Price: { type: 'Currency', options: { code: 'EUR' } },
      Share: 'Percent',
      Amount: { type: 'Decimal', options: { precision: 3, thousands: true } },
      Day: { type: 'Date', options: { format: 'DD/MM/YYYY' } },
      Done: 'Checkbox',
      Page: 'URL',
      Data: 'JSON',
      Secret: 'Password',
    },
    [
      {
        Title: '=1+1',
        Price: 12.5,
        Share: 33.333,
        Amount: 1234.5,
        Day: '2024-02-29',
        Done: true,
        Page: 'https://example.com/?a=1&b="2"',
        Data: '{"a":\n1}',
        Secret: 'swordfish',
      },
      { Title: 'plain', Page: 'https://example.com/plan' },
    ],
  )
  const link = await createLink(bench, tasks, people, 'mm', { title: 'Owners' })
  await link.set(1, [1, 2])
})
afterAll(() => bench.stop())

type Request = Omit<Parameters<Bench['trpc']['records']['exportBase']['mutate']>[0], 'baseId'>

async function exported(request: Request): Promise<{ bytes: Uint8Array; name: string }> {
  const { jobId } = await bench.trpc.records.exportBase.mutate({ baseId: bench.baseId, ...request })
  const job = await ended(doorOf(bench.app, bench.owner), jobId)
  expect(job.status).toBe('completed')
  const { url, name } = job.result as { url: string; name: string }
  const answer = await fetch(`${bench.app.url}/${url}`)
  return { bytes: new Uint8Array(await answer.arrayBuffer()), name }
}

const ofBoth = () => ({ tableIds: [people.id, tasks.id] })

describe('an export of a view as NDJSON', () => {
  test('has an object per line, also where JSON has line breaks', async () => {
    const path = `/api/v1/db/data/noco/${bench.baseId}/${tasks.id}/export/ndjson`
    const answer = await fetch(`${bench.app.url}${path}`, { headers: { 'xc-auth': bench.owner.token } })
    expect(answer.headers.get('content-type')).toBe('application/x-ndjson')
    const lines = (await answer.text()).trimEnd().split('\n')
    expect(lines).toHaveLength(2)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      Title: '=1+1',
      Price: 12.5,
      Done: true,
      Data: { a: 1 },
      Owners: 'Ann, "Bob, Jr."',
    })
    expect(lines.join()).not.toContain('Secret')
  })
})

describe('an export of a base', () => {
  test('is refused to strangers, over unknown tables and in unknown formats', async () => {
    const outsider = bench.app.trpc((await bench.app.signUp()).token)
    const refused = outsider.records.exportBase.mutate({ baseId: bench.baseId, format: 'csv' })
    expect(await refusalOf(refused)).toMatchObject({ status: 403 })
    const unknown = bench.trpc.records.exportBase.mutate({
      baseId: bench.baseId,
      format: 'csv',
      tableIds: ['mnone'],
    })
    expect(await refusalOf(unknown)).toMatchObject({ code: 'TABLE_NOT_FOUND' })
    const { status } = await bench.rest.post(`/api/v2/meta/bases/${bench.baseId}/export/docx`, {})
    expect(status).toBe(400)
  })

  test('as CSV is an archive with a file per table, guarded against formulas', async () => {
    const { bytes, name } = await exported({ format: 'csv', ...ofBoth() })
    expect(name).toEndWith('.zip')
    const files = unzipSync(bytes)
    expect(Object.keys(files)).toEqual([
      'People_ who_ [2026] and a long rest of the title.csv',
      `${tasks.schema.table.title}.csv`,
    ])
    const lines = strFromU8(files[`${tasks.schema.table.title}.csv`] ?? new Uint8Array()).split('\r\n')
    expect(lines[0]).toBe('Id,Title,Price,Share,Amount,Day,Done,Page,Data,Owners')
    expect(lines[1]).toStartWith("1,'=1+1,12.5,33.333,1234.5,")
  })

  test('as Excel is a workbook with a sheet per table, with types, formats and links', async () => {
    const { bytes } = await exported({ format: 'xlsx', ...ofBoth() })
    const book = xlsx.read(bytes, { cellNF: true, cellFormula: true })
    expect(book.SheetNames).toEqual(['People  who   2026  and a long', tasks.schema.table.title])
    const sheet = book.Sheets[tasks.schema.table.title] ?? {}
    const cell = (at: string) => sheet[at] as xlsx.CellObject
    expect(cell('B2')).toMatchObject({ t: 's', v: '=1+1' })
    expect(cell('C2')).toMatchObject({ t: 'n', v: 12.5, z: '[$€]#,##0.00' })
    expect(cell('D2')).toMatchObject({ t: 'n', v: 0.33333, z: '0.00%' })
    expect(cell('E2')).toMatchObject({ t: 'n', v: 1234.5, z: '#,##0.000' })
    expect(cell('F2')).toMatchObject({ t: 'n', v: 45351, z: 'dd\\/mm\\/yyyy' })
    expect(cell('G2')).toMatchObject({ t: 'b', v: true })
    // A quote could end the formula of a link.
    expect(cell('H2').f).toBeUndefined()
    expect(cell('H3')).toMatchObject({
      v: 'https://example.com/plan',
      f: 'HYPERLINK("https://example.com/plan")',
    })
    expect(cell('J2')).toMatchObject({ t: 's', v: 'Ann, "Bob, Jr."' })
  })

  test('as JSON is one document, and as NDJSON an archive', async () => {
    const { bytes } = await exported({ format: 'json', ...ofBoth() })
    const { tables } = JSON.parse(strFromU8(bytes)) as {
      tables: { title: string; fields: { title: string; type: string }[]; records: object[] }[]
    }
    expect(tables.map(({ title, records }) => [title, records.length])).toEqual([
      [AWKWARD, 2],
      [tasks.schema.table.title, 2],
    ])
    expect(tables[1]?.fields[2]).toEqual({ title: 'Price', type: 'Currency' })
    const archive = unzipSync((await exported({ format: 'ndjson', tableIds: [tasks.id] })).bytes)
    const text = strFromU8(Object.values(archive)[0] ?? new Uint8Array())
    expect(
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(tables[1]?.records ?? [])
  })

  test('over REST is a job, for viewers as well', async () => {
    const viewer = await createMember(bench.app, bench.baseId, 'viewer')
    const answer = await fetch(`${bench.app.url}/api/v2/meta/bases/${bench.baseId}/export/csv`, {
      method: 'POST',
      headers: { 'xc-auth': viewer.token, 'content-type': 'application/json' },
      body: JSON.stringify({ tables: [tasks.id], time_zone: 'Asia/Kolkata' }),
    })
    const { id, name } = (await answer.json()) as { id: string; name: string }
    expect(name).toBe('base-export')
    expect((await ended(doorOf(bench.app, viewer), id)).status).toBe('completed')
  })
})

describe('an archive above 4 GB', () => {
  test('has its sizes in 64 bits', async () => {
    const part = compress('\0'.repeat(2 ** 26))
    const parts: Uint8Array[] = []
    const archive = zipped(async function* (open) {
      const large = open('large.csv')
      for (let at = 0; at < 65; at++) yield* large.add(part)
      yield* large.end()
      yield* open('small.csv').end(compress('a,b', true))
    })
    for await (const bytes of archive) parts.push(bytes)
    const bytes = Buffer.concat(parts)
    // The central directory (APPNOTE.TXT, 4.3.12) refers to the extra field 1 for what does not fit into 32 bits.
    const header = bytes.indexOf(Buffer.from('PK\x01\x02'))
    const extra = header + 46 + 'large.csv'.length
    expect([bytes.readUInt32LE(header + 24), bytes.readUInt16LE(extra)]).toEqual([0xffff_ffff, 1])
    expect(bytes.readBigUInt64LE(extra + 4)).toBe(65n * 2n ** 26n)
    const files = unzipSync(bytes, { filter: ({ name }) => name === 'small.csv' })
    expect(strFromU8(files['small.csv'] ?? new Uint8Array())).toBe('a,b')
  })
})
