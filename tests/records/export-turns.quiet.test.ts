import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
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
  copyFirst(table.schema.table.tableName)
  const views = await bench.rest.get(`/api/v2/meta/tables/${table.id}/views`)
  shareId = (await bench.rest.post(`/api/v2/meta/views/${views.body.list[0].id}/share`)).body.uuid
}, 120_000)
afterAll(() => bench.stop())

function copyFirst(tableName: string): void {
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
    with recursive ids(n) as (select 2 union all select n + 1 from ids where n < ${ROWS})
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
}, 120_000)
