import { Database } from 'bun:sqlite'
import { BARE_COLUMNS, bareInsert, PRAGMAS } from './bare-table.ts'

/*
 * What the promises are measured against: the least that could give the same answers. A bare `Bun.serve`, statements
 * prepared once, `JSON.stringify`; no accounts, no log, no checks. It is just as durable, by the same settings of SQLite.
 *
 *   bun tests/bench/bare-server.ts <file>
 */

const file = new Database(process.argv[2] ?? ':memory:', { create: true, strict: true })
for (const pragma of PRAGMAS) file.run(pragma)
const columns = ['id', 'created_at', 'updated_at', ...BARE_COLUMNS].map((name) => `"${name}"`)
const list = file.prepare(`select ${columns.join(', ')} from bare order by nc_order, id limit ? offset ?`)
const get = file.prepare(`select ${columns.join(', ')} from bare where id = ?`)
/** What a developer would write for the reads of the whole table, without an index of their own. */
const sorted = {
  page: file.prepare(
    `select ${columns.join(', ')} from bare where "State" = 'doing' and "Count" > ? order by "Price" desc limit 25`,
  ),
  count: file.prepare(`select count(*) as n from bare where "State" = 'doing' and "Count" > ?`),
}
const groups = file.prepare(
  'select "State", count(*) as count from bare where "Count" > ? group by "State" order by "State"',
)
const search = {
  page: file.prepare(
    `select ${columns.join(', ')} from bare where "Mail" like ? order by nc_order, id limit 25`,
  ),
  count: file.prepare('select count(*) as n from bare where "Mail" like ?'),
}
const all = file.prepare(
  `select ${BARE_COLUMNS.map((name) => `"${name}"`).join(', ')} from bare order by nc_order, id`,
)
const insert = file.prepare(bareInsert())
const update = file.prepare('update bare set "Count" = ?, updated_at = ? where id = ?')
const totalRows = file.query<{ n: number }, []>('select count(*) as n from bare').get()?.n ?? 0
let order = totalRows

type Row = Record<string, string | number | null>

const insertRow = (row: Row) => {
  order++
  return Number(
    insert.run(new Date().toISOString(), order, ...BARE_COLUMNS.map((name) => row[name] ?? null))
      .lastInsertRowid,
  )
}
const insertAll = file.transaction((rows: Row[]) => rows.map((row) => ({ Id: insertRow(row) })))

/** Quoted where CSV needs it (RFC 4180 §2). */
const cell = (value: unknown): string => {
  const text = value === null ? '' : String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** All rows as CSV, in parts of some hundred kilobytes. */
function* csv(): Generator<string> {
  let part = `${BARE_COLUMNS.join(',')}\r\n`
  for (const row of all.iterate() as Iterable<Row>) {
    part += `${BARE_COLUMNS.map((name) => cell(row[name])).join(',')}\r\n`
    if (part.length < 256 * 1024) continue
    yield part
    part = ''
  }
  yield part
}

function streamOf(parts: Iterator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream({
    pull(controller) {
      const { value, done } = parts.next()
      if (done) controller.close()
      else controller.enqueue(encoder.encode(value))
    },
  })
}

/** Answers a read of the whole table, by the end of its path; null for any other path. */
function wholeTable(url: URL): object | null {
  const value = url.searchParams.get('value') ?? ''
  switch (url.pathname) {
    case '/sorted':
      return { list: sorted.page.all(Number(value)), count: sorted.count.get(Number(value)) }
    case '/groups':
      return { list: groups.all(Number(value)) }
    case '/search':
      return { list: search.page.all(`%${value}%`), count: search.count.get(`%${value}%`) }
    default:
      return null
  }
}

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  maxRequestBodySize: 1024 ** 3,
  async fetch(request) {
    const json = (value: unknown) =>
      new Response(JSON.stringify(value), { headers: { 'content-type': 'application/json; charset=utf-8' } })
    if (request.method === 'POST') {
      const body = await request.json()
      return json(Array.isArray(body) ? insertAll.immediate(body) : { Id: insertRow(body) })
    }
    if (request.method === 'PATCH') {
      const body = (await request.json()) as { Id: number; Count: number }
      update.run(body.Count, new Date().toISOString(), body.Id)
      return json({ Id: body.Id })
    }
    const url = new URL(request.url)
    if (url.pathname === '/csv') return new Response(streamOf(csv()))
    const read = wholeTable(url)
    if (read) return json(read)
    const id = /\/records\/(\d+)$/.exec(request.url)?.[1]
    if (id !== undefined) return json(get.get(Number(id)))
    return json({
      list: list.all(25, 0),
      pageInfo: { totalRows, page: 1, pageSize: 25, isFirstPage: true, isLastPage: false },
    })
  },
})
console.log(`http://127.0.0.1:${server.port}`)
process.on('SIGTERM', () => {
  file.close()
  process.exit(0)
})
