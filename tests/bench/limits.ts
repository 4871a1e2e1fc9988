import { readdirSync, readFileSync } from 'node:fs'
import type { TablePerformance } from '../../src/core/performance.ts'
import { createRestClient, createTrpcClient } from '../support/client.ts'
import { makeRows } from './bare-table.ts'
import { type Product, startProduct } from './product.ts'
import type { Line } from './report.ts'

/*
 * What the product does at the sizes it is made for. Times are absolute, because there is nothing to compare with, and
 * generous: they tell milliseconds from seconds, on any machine.
 */

/** Each is measured on a server of its own; `--only` picks by name. */
const LIMITS: readonly { name: string; measure: (rows: number) => Promise<Line[]> }[] = [
  { name: 'limits: rows', measure: measureRows },
  { name: 'limits: fields', measure: () => withProduct(measureFields) },
  { name: 'limits: tables', measure: () => withProduct(measureTables) },
  { name: 'limits: links', measure: () => withProduct(measureLinks) },
  { name: 'limits: bases', measure: () => withProduct(measureBases) },
]

const FIELDS = 1_000
const TABLES = 1_000
const BASES = 5_000
const LINKS = 100_000

/** What reads of one record may take at the 99th percentile while a large table is read, in milliseconds. */
const OTHERS_MS = 10

/** @param rows of the large table */
export async function measureLimits(rows: number, isWanted: (name: string) => boolean): Promise<Line[]> {
  const lines: Line[] = []
  for (const { name, measure } of LIMITS) if (isWanted(name)) lines.push(...(await measure(rows)))
  return lines
}

async function withProduct(measure: (product: Product) => Promise<Line[]>): Promise<Line[]> {
  const product = await startProduct(0)
  try {
    return await measure(product)
  } finally {
    await product.stop()
  }
}

const clientsOf = ({ port, session }: Product) => {
  const url = `http://127.0.0.1:${port}`
  return { rest: createRestClient(url, session), trpc: createTrpcClient(url, session) }
}

/** A GET that must succeed. */
async function get<T = unknown>(product: Product, path: string): Promise<T> {
  const { status, body } = await clientsOf(product).rest.get(path)
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`)
  return body
}

/** The answer to a write, which must succeed. */
async function written(answer: Promise<{ status: number; body: unknown }>): Promise<void> {
  const { status, body } = await answer
  if (status >= 300) throw new Error(`${status} ${JSON.stringify(body)}`)
}

interface Sample {
  p50: number
  p95: number
  /** The first call, which prepares and caches. */
  first: number
}

/** Times calls, one after the other. */
async function time(times: number, call: (index: number) => Promise<unknown>): Promise<Sample> {
  const took: number[] = []
  for (let index = 0; index < times; index++) {
    const startedAt = performance.now()
    await call(index)
    took.push(performance.now() - startedAt)
  }
  const [first = 0] = took
  const sorted = took.toSorted((a, b) => a - b)
  const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
  return { first, p50: at(0.5), p95: at(0.95) }
}

const lineFor = (work: string, { first, p50, p95 }: Sample, limitMs: number, more = ''): Line => ({
  work,
  result: `p50 ${p50.toFixed(1)}, p95 ${p95.toFixed(1)} ms`,
  promise: `p95 ≤ ${limitMs} ms`,
  holds: p95 <= limitMs,
  detail: `first ${first.toFixed(1)} ms${more}`,
})

/** One table with many records, while others read single ones. */
async function measureRows(rows: number): Promise<Line[]> {
  const startedAt = performance.now()
  const product = await startProduct(rows)
  const filled = (performance.now() - startedAt) / 1000
  const { trpc } = clientsOf(product)
  const { path, tableId, baseId } = product
  const count = rows.toLocaleString('en')
  const groupBy = `/api/v1/db/data/noco/${baseId}/${tableId}/groupby?column_name=State&sort=State`
  const filter = (least: number) => encodeURIComponent(`(State,eq,done)~and(Count,gt,${least})`)
  const letters = 'Order 1234567'
  const list = (text: string) =>
    trpc.records.list.query({ query: { tableId, limit: 100, offset: 0, search: { text, fieldId: null } } })
  /** Reads until the index that helps is built, which is while nobody writes. */
  async function settle(
    read: () => Promise<unknown>,
    isReady: (state: TablePerformance) => boolean,
    minutes: number,
  ): Promise<void> {
    for (const until = performance.now() + minutes * 60_000; performance.now() < until; ) {
      const state = await trpc.indexes.performance.query({ tableId })
      if (isReady(state)) return
      // A read without the index takes long, and the build would wait for it.
      if (state.search?.state !== 'building' && state.indexes.every((index) => index.state !== 'building'))
        await read()
      await Bun.sleep(1000)
    }
  }
  const hasIndexes = (atLeast: number) => (state: TablePerformance) =>
    state.indexes.filter((index) => index.state === 'ready').length >= atLeast
  try {
    const quiet = await pointReads(product, Bun.sleep(3000))
    const lines: Line[] = []
    const measured = async (
      work: string,
      limitMs: number,
      times: number,
      call: (index: number) => Promise<unknown>,
    ) => {
      const sampling = time(times, call)
      const meanwhile = await pointReads(product, sampling)
      const more = `; reads of one record meanwhile p99 ${meanwhile.toFixed(1)} ms (quiet ${quiet.toFixed(1)})`
      const line = lineFor(`${count} rows: ${work}`, await sampling, limitMs, more)
      line.promise += `, others ≤ ${OTHERS_MS} ms`
      line.holds &&= meanwhile <= OTHERS_MS
      lines.push(line)
      // It takes long until the table is printed.
      console.error(line.work, line.result, line.detail)
    }
    await measured('first page', 50, 50, () => get(product, `${path}?limit=100`))
    // Another offset, filter or text each time, so that no result comes from the cache.
    await measured('jump to the end', 50, 20, (n) =>
      get(product, `${path}?limit=100&offset=${rows - 100 - n}`),
    )
    await measured('jump to the middle', 250, 20, (n) =>
      get(product, `${path}?limit=100&offset=${rows / 2 + n * 977}`),
    )
    const sorted = (least: number) => `${path}?where=${filter(least)}&sort=-Price,Title&limit=100`
    await settle(() => get(product, sorted(899)), hasIndexes(1), 10)
    await measured('filter and sort', 500, 20, (n) => get(product, sorted(900 + n)))
    await measured('filter and sort, again', 50, 20, () => get(product, sorted(900)))
    await settle(() => get(product, groupBy), hasIndexes(2), 10)
    await measured('group by, again', 50, 20, () => get(product, groupBy))
    await measured('group by after an insert', 2000, 10, async (n) => {
      await written(clientsOf(product).rest.post(path, makeRows(1, 3 * rows + n)))
      await get(product, groupBy)
    })
    await settle(
      () => list('Order 98'),
      ({ search }) => search?.state === 'ready',
      30,
    )
    await measured('search while typing', 500, letters.length - 2, (n) => list(letters.slice(0, n + 3)))
    await measured('insert one record', 50, 50, (n) =>
      written(clientsOf(product).rest.post(path, makeRows(1, rows + n))),
    )
    await measured('first page after an insert', 50, 20, async (n) => {
      await written(clientsOf(product).rest.post(path, makeRows(1, 2 * rows + n)))
      await get(product, `${path}?limit=100`)
    })
    lines.push({
      work: `${count} rows: filled`,
      result: `${filled.toFixed(0)} s`,
      promise: '',
      holds: null,
      detail: memoryOf(product),
    })
    return lines
  } finally {
    await product.stop()
  }
}

/** The 99th percentile of reads of one record until something is over, in milliseconds. */
async function pointReads(product: Product, until: Promise<unknown>): Promise<number> {
  let isOver = false
  void until.finally(() => {
    isOver = true
  })
  const took: number[] = []
  for (let n = 1; !isOver; n++) {
    const startedAt = performance.now()
    await get(product, `${product.path}/${1 + ((n * 7919) % 1000)}`)
    took.push(performance.now() - startedAt)
    await Bun.sleep(2)
  }
  await until
  took.sort((a, b) => a - b)
  return took[Math.floor(took.length * 0.99)] ?? 0
}

async function measureFields(product: Product): Promise<Line[]> {
  const { rest, trpc } = clientsOf(product)
  const types = ['SingleLineText', 'Number', 'Date', 'Checkbox', 'LongText'] as const
  const fields = Array.from({ length: FIELDS - 5 }, (_, n) => ({
    title: `Field ${n}`,
    type: types[n % types.length]!,
  }))
  const { table } = await trpc.schema.createTable.mutate({ baseId: product.baseId, title: 'Wide', fields })
  const path = `/api/v2/tables/${table.id}/records`
  const value = (n: number) => ['text', n, '2026-01-02', n % 2, 'longer text'][n % types.length]!
  const row = (from: number) =>
    Object.fromEntries(fields.map(({ title }, n) => [title, n % types.length === 1 ? from + n : value(n)]))
  for (let n = 0; n < 10; n++) {
    const { status, body } = await rest.post(
      path,
      Array.from({ length: 100 }, (_, at) => row(n * 100 + at)),
    )
    if (status !== 200) throw new Error(JSON.stringify(body))
  }
  return [
    lineFor(
      `${FIELDS} fields: open the table`,
      await time(20, () => trpc.schema.table.query({ tableId: table.id })),
      250,
    ),
    lineFor(`${FIELDS} fields: a page of 100`, await time(20, () => get(product, `${path}?limit=100`)), 500),
    lineFor(
      `${FIELDS} fields: edit a cell`,
      await time(50, (n) => written(rest.patch(path, { Id: 1 + n, 'Field 0': `x${n}` }))),
      50,
    ),
    lineFor(
      `${FIELDS} fields: sort and filter`,
      await time(20, () => get(product, `${path}?limit=100&sort=-Field%206&where=(Field%200,eq,text)`)),
      500,
    ),
    lineFor(
      `${FIELDS} fields: add a field`,
      await time(5, (n) =>
        trpc.schema.createField.mutate({
          tableId: table.id,
          field: { title: `More ${n}`, type: 'SingleLineText' },
        }),
      ),
      1000,
    ),
  ]
}

async function measureTables(product: Product): Promise<Line[]> {
  const { rest, trpc } = clientsOf(product)
  const { baseId } = product
  let tableId = ''
  const create = async (n: number) => {
    const fields = [
      { title: 'Title', type: 'SingleLineText' as const },
      { title: 'Size', type: 'Number' as const },
    ]
    const { table } = await trpc.schema.createTable.mutate({ baseId, title: `Table ${n}`, fields })
    tableId = table.id
  }
  const first = await time(50, create)
  // One table is there already.
  for (let n = 51; n < TABLES - 50; n++) await create(n)
  const last = await time(50, (n) => create(TABLES - 50 + n))
  const path = `/api/v2/tables/${tableId}/records`
  return [
    lineFor(`${TABLES} tables: create one more`, last, 100, `; the first 50: p50 ${first.p50.toFixed(1)} ms`),
    lineFor(
      `${TABLES} tables: list them`,
      await time(20, () => get(product, `/api/v2/meta/bases/${baseId}/tables`)),
      250,
    ),
    lineFor(
      `${TABLES} tables: open the base`,
      await time(20, () => trpc.schema.tables.query({ baseId })),
      250,
    ),
    lineFor(
      `${TABLES} tables: insert a record`,
      await time(50, () => written(rest.post(path, { Title: 'a' }))),
      50,
    ),
    lineFor(`${TABLES} tables: read a page`, await time(50, () => get(product, `${path}?limit=25`)), 50),
  ]
}

async function measureLinks(product: Product): Promise<Line[]> {
  const { rest, trpc } = clientsOf(product)
  const { baseId } = product
  const fields = [{ title: 'Title', type: 'SingleLineText' as const }]
  const { table: owners } = await trpc.schema.createTable.mutate({ baseId, title: 'Owners', fields })
  const { table: parts } = await trpc.schema.createTable.mutate({ baseId, title: 'Parts', fields })
  const created = await rest.post(`/api/v2/meta/tables/${owners.id}/columns`, {
    title: 'Parts',
    uidt: 'Links',
    parentId: owners.id,
    childId: parts.id,
    type: 'mm',
  })
  if (created.status !== 200) throw new Error(JSON.stringify(created.body))
  const meta = await get<{ columns: { id: string; title: string }[] }>(
    product,
    `/api/v2/meta/tables/${owners.id}`,
  )
  const column = meta.columns.find(({ title }) => title === 'Parts')
  if (!column) throw new Error('The links have no column')
  const [ownersPath, partsPath] = [owners, parts].map(({ id }) => `/api/v2/tables/${id}/records`) as [
    string,
    string,
  ]
  await rest.post(ownersPath, { Title: 'one' })
  for (let from = 0; from < LINKS + 1000; from += 10_000) {
    const rows = Array.from({ length: Math.min(10_000, LINKS + 1000 - from) }, (_, n) => ({
      Title: `Part ${from + n}`,
    }))
    await rest.post(partsPath, rows)
  }
  const links = `/api/v2/tables/${owners.id}/links/${column.id}/records/1`
  const some = (from: number, count: number) => Array.from({ length: count }, (_, n) => ({ Id: from + n }))
  for (let from = 1; from <= LINKS; from += 1000) {
    const { status, body } = await rest.post(links, some(from, 1000))
    if (status !== 201 && status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
  }
  const name = `${LINKS.toLocaleString('en')} links on a record`
  return [
    lineFor(
      `${name}: add 10`,
      await time(30, (n) => written(rest.post(links, some(LINKS + 1 + n * 10, 10)))),
      100,
    ),
    lineFor(
      `${name}: remove 10`,
      await time(30, (n) => written(rest.delete(links, some(1 + n * 10, 10)))),
      100,
    ),
    lineFor(
      `${name}: a page of them`,
      await time(20, (n) => get(product, `${links}?limit=25&offset=${n * 3000}`)),
      250,
    ),
    lineFor(`${name}: the record`, await time(20, () => get(product, `${ownersPath}/1`)), 250),
    lineFor(
      `${name}: the grid`,
      await time(20, () => trpc.records.list.query({ query: { tableId: owners.id, limit: 100, offset: 0 } })),
      250,
    ),
    lineFor(
      `${name}: edit the record`,
      await time(30, (n) => written(rest.patch(ownersPath, { Id: 1, Title: `t${n}` }))),
      50,
    ),
  ]
}

async function measureBases(product: Product): Promise<Line[]> {
  const { trpc } = clientsOf(product)
  const tables: string[] = []
  const create = async (n: number) => {
    const base = await trpc.bases.create.mutate({ title: `Base ${n}` })
    const fields = [{ title: 'Title', type: 'SingleLineText' as const }]
    const { table } = await trpc.schema.createTable.mutate({ baseId: base.id, title: 'Things', fields })
    tables.push(`/api/v2/tables/${table.id}/records`)
  }
  const first = await time(50, create)
  for (let n = 50; n < BASES - 50; n++) await create(n)
  const last = await time(50, (n) => create(BASES - 50 + n))
  const name = `${BASES.toLocaleString('en')} bases`
  const cold = await time(BASES, (n) => get(product, `${tables[n]}?limit=25`))
  const files = readdirSync(`/proc/${product.pid}/fd`).length
  return [
    lineFor(
      `${name}: create one more, with a table`,
      last,
      250,
      `; the first 50: p50 ${first.p50.toFixed(1)} ms`,
    ),
    lineFor(`${name}: the first page of each`, cold, 50, `; ${memoryOf(product)}`),
    lineFor(`${name}: list them`, await time(20, () => trpc.bases.list.query()), 500),
    {
      work: `${name}: open files`,
      result: `${files}`,
      promise: '≤ 1000',
      holds: files <= 1000,
      detail: memoryOf(product),
    },
  ]
}

/** The memory of the server's process, from Linux. */
function memoryOf({ pid }: Product): string {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const part = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024
  return `memory ${part('VmRSS').toFixed(0)} MB, of it ${part('RssFile').toFixed(0)} MB mapped files`
}
