import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { unzipSync } from 'fflate'
import { createPageWriter } from '../../src/record-files/index.ts'
import { longestTurn } from '../support/longest-turn.ts'
import { type Bench, createBench, type TestTable } from './support.ts'

/** So many that what is done with all their ids in one go takes longer than `BOUND_MS`. */
const ROWS = 1_500_000
const BOUND_MS = 100
const DOWNLOADS = 3

let bench: Bench
let table: TestTable
let shareId = ''
beforeAll(async () => {
  bench = await createBench()
  table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'first' }])
  copyFirst(table, ROWS)
  const views = await bench.rest.get(`/api/v2/meta/tables/${table.id}/views`)
  shareId = (await bench.rest.post(`/api/v2/meta/views/${views.body.list[0].id}/share`)).body.uuid
})
afterAll(() => bench.stop())

/** Adds copies of the first record until there are so many. */
function copyFirst({ schema }: TestTable, rows: number): void {
  const { tableName } = schema.table
  const { dataDir } = bench.app.config
  const [path] = [...new Bun.Glob(`**/*${bench.baseId}*.db`).scanSync(dataDir)]
  const file = new Database(`${dataDir}/${path}`)
  file.run('pragma busy_timeout = 5000')
  const columns = file
    .query<{ name: string }, []>(`pragma table_info("${tableName}")`)
    .all()
    .flatMap(({ name }) => (name === 'id' ? [] : `"${name}"`))
    .join(', ')
  file.run(`insert into "${tableName}" (id, ${columns})
    with recursive ids(n) as (select 2 union all select n + 1 from ids where n < ${rows})
    select n, ${columns} from "${tableName}" join ids on id = 1`)
  file.close()
}

/** Reads the beginning of a file, and leaves. */
async function download(): Promise<string> {
  const path = `/api/v2/public/shared-view/${shareId}/rows/export/csv`
  const stop = new AbortController()
  const answer = await fetch(`${bench.app.url}${path}`, { signal: stop.signal })
  const reader = answer.body!.getReader()
  let text = ''
  for (let piece = await reader.read(); !piece.done && text.length < 10_000; piece = await reader.read())
    text += new TextDecoder().decode(piece.value)
  stop.abort()
  return text
}

test('downloads of a large shared view that begin at once let others in between', async () => {
  // Whatever is done once for the table is done.
  await download()
  const { result, longestMs } = await longestTurn(() =>
    Promise.all(Array.from({ length: DOWNLOADS }, download)),
  )
  console.log(`longest turn ${longestMs.toFixed(0)} ms`)
  for (const text of result) expect(text).toContain('first')
  expect(longestMs).toBeLessThan(BOUND_MS)
})

/** Processor time of this thread, in milliseconds. */
const threadMs = () => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

test('a workbook is written and compressed off the request thread', async () => {
  const [records, page, width] = [30_000, 500, 12]
  const at = '2026-01-02 03:04:05.000+00:00'
  const titles = Array.from({ length: width }, (_, number) => `At ${number}`)
  const table = await bench.table(Object.fromEntries(titles.map((title) => [title, 'DateTime' as const])), [
    Object.fromEntries(titles.map((title) => [title, at])),
  ])
  copyFirst(table, records)
  const fields = titles.map((title) => table.field(title))
  const write = createPageWriter({
    format: { name: 'xlsx', styles: [] },
    fields,
    people: [],
    timeZone: 'UTC',
  })
  const rows = Array.from({ length: page }, () => titles.map(() => at))
  const writing = () => {
    const startedAt = threadMs()
    for (let first = 0; first < records; first += page) write(rows, first)
    return threadMs() - startedAt
  }
  const exporting = async () => {
    const startedAt = threadMs()
    const path = `/api/v1/db/data/noco/${bench.baseId}/${table.id}/export/xlsx`
    const answer = await fetch(`${bench.app.url}${path}`, { headers: { 'xc-auth': bench.owner.token } })
    const book = new Uint8Array(await answer.arrayBuffer())
    return { ms: threadMs() - startedAt, book }
  }
  // The first ones are compiled while they run.
  writing()
  await exporting()
  const [writtenMs, exported] = [writing(), await exporting()]
  console.log(
    `writing takes ${writtenMs.toFixed(0)} ms, an export ${exported.ms.toFixed(0)} ms of the thread`,
  )
  expect(
    new TextDecoder().decode(unzipSync(exported.book)['xl/worksheets/sheet1.xml']).match(/<row /g),
  ).toHaveLength(records + 1)
  expect(exported.ms).toBeLessThan(writtenMs / 2)
})
