import { readdirSync, readFileSync } from 'node:fs'
import type { TablePerformance } from '../../src/core/performance.ts'
import { createRestClient, createTrpcClient } from '../support/client.ts'
import { makeRows } from './bare-table.ts'
import { measurePeople } from './people.ts'
import { load, residentMb } from './processes.ts'
import { type Product, startProduct } from './product.ts'
import type { Line } from './report.ts'
import { lineFor, type Sample, sampleOf, time } from './samples.ts'

/*
 * What the product does at the sizes it is made for. Times are absolute, because there is nothing to compare with, and
 * generous: they tell milliseconds from seconds, on any machine. A first read and the same read again, which may come from
 * a cache, have lines and limits of their own.
 */

/** Each is measured on a server of its own; `--only` picks by name. */
const LIMITS: readonly { name: string; measure: (rows: number) => Promise<Line[]> }[] = [
  { name: 'limits: rows', measure: measureRows },
  { name: 'limits: fields', measure: () => withProduct(measureFields) },
  { name: 'limits: tables', measure: () => withProduct(measureTables) },
  { name: 'limits: links', measure: () => withProduct(measureLinks) },
  { name: 'limits: people', measure: measurePeople },
  { name: 'limits: bases', measure: () => withProduct(measureBases, { MAX_OPEN_BASES: String(OPEN_BASES) }) },
]

const FIELDS = 1_000
const TABLES = 1_000
const BASES = 5_000
/** Of them open at once: the default depends on the system’s limit of open files. */
const OPEN_BASES = 150
const LINKS = 100_000
/** Resident memory of a server that has opened all bases, one after the other. */
const BASES_MEMORY_MB = 1_000

/** @param rows of the large table */
export async function measureLimits(rows: number, isWanted: (name: string) => boolean): Promise<Line[]> {
  const lines: Line[] = []
  for (const { name, measure } of LIMITS) if (isWanted(name)) lines.push(...(await measure(rows)))
  return lines
}

async function withProduct(
  measure: (product: Product) => Promise<Line[]>,
  env: Record<string, string> = {},
): Promise<Line[]> {
  const product = await startProduct(0, env)
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

/** The result cache stores what the plan cache returns a second time: the third read is the first repeated one. */
const READS_UNTIL_CACHED = 2

interface ReadLimits {
  /** A read that has not been made before. */
  firstMs: number
  /** The same read again. */
  repeatedMs: number
}

/** The lines of a read: the first one by itself, and the same read again. */
async function readLines(
  work: string,
  { firstMs, repeatedMs }: ReadLimits,
  read: () => Promise<unknown>,
): Promise<Line[]> {
  const first = await time(1, read)
  for (let n = 1; n < READS_UNTIL_CACHED; n++) await read()
  return [
    lineFor(`${work}, first`, first, firstMs),
    lineFor(`${work}, repeated`, await time(20, read), repeatedMs),
  ]
}

/** How long other requests are watched, before and while something is measured. */
const WATCHED_MS = 3_000
/** Between two of them. */
const PAUSE_MS = 2
/** What reads of one record may take at the 99th percentile meanwhile: times the quiet percentile, and in milliseconds. */
const MAX_SLOWDOWN = 4
const OTHERS_MS = 10

/** One table with many records, while others read single ones. */
async function measureRows(rows: number): Promise<Line[]> {
  const startedAt = performance.now()
  const product = await startProduct(rows)
  const filled = (performance.now() - startedAt) / 1000
  const { trpc } = clientsOf(product)
  const { path, tableId, baseId } = product
  const count = rows.toLocaleString('en')
  const groupBy = `/api/v1/db/data/noco/${baseId}/${tableId}/groupby?column_name=State&sort=State`
  const groupsAbove = (least: number) => `${groupBy}&where=${encodeURIComponent(`(Count,gt,${least})`)}`
  const filter = (least: number) => encodeURIComponent(`(State,eq,done)~and(Count,gt,${least})`)
  const insert = (n: number) => written(clientsOf(product).rest.post(path, makeRows(1, rows + n)))
  const pageAt = (offset: number) => get(product, `${path}?limit=100&offset=${offset}`)
  const list = (text: string) =>
    trpc.records.list.query({ query: { tableId, limit: 100, offset: 0, search: { text, fieldId: null } } })
  const countOf = (text: string) =>
    trpc.records.count.query({ selection: { tableId, search: { text, fieldId: null } } })
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
  const lines: Line[] = []
  const add = (...added: Line[]) => {
    lines.push(...added)
    // It takes long until the table is printed.
    for (const { work, result, detail } of added) console.error(work, result, detail)
  }
  /** Measures calls and what other requests take meanwhile. No call may find the result of an earlier one in the cache. */
  async function measure(
    work: string,
    limitMs: number,
    call: (index: number) => Promise<unknown>,
    before?: (index: number) => Promise<unknown>,
  ): Promise<void> {
    const quiet = await pointReads(product)
    const reading = pointReads(product)
    const sample = await watched(call, reading, before)
    const busy = await reading
    const slowdown = busy / quiet
    add(lineFor(`${count} rows: ${work}`, sample, limitMs), {
      work: `${count} rows: others during ${work}`,
      result: `p99 ${slowdown.toFixed(1)} × quiet`,
      promise: `≤ ${MAX_SLOWDOWN} ×, ${OTHERS_MS} ms`,
      holds: slowdown <= MAX_SLOWDOWN && busy <= OTHERS_MS,
      detail: `quiet p99 ${quiet.toFixed(1)} ms, meanwhile ${busy.toFixed(1)} ms`,
    })
  }
  const repeated = async (work: string, limitMs: number, read: () => Promise<unknown>) => {
    for (let n = 0; n < READS_UNTIL_CACHED; n++) await read()
    add(lineFor(`${count} rows: ${work}, repeated`, await time(50, read), limitMs))
  }
  try {
    // Counts the table.
    add(lineFor(`${count} rows: first page after the start`, await time(1, () => pageAt(0)), 1000))
    await measure('first page', 50, (n) => pageAt(1 + n))
    await repeated('first page', 25, () => pageAt(0))
    await measure('jump to the end', 50, (n) => pageAt(rows - 101 - n))
    await repeated('jump to the end', 25, () => pageAt(rows - 100))
    await measure('jump to the middle', 250, (n) => pageAt(rows / 2 + ((n * 977) % (rows / 4))))
    await repeated('jump to the middle', 25, () => pageAt(rows / 2 + 13))
    const sorted = (n: number) =>
      `${path}?where=${filter(900 + (n % 99))}&sort=-Price,Title&limit=100&offset=${Math.floor(n / 99)}`
    // A result that is kept up to date asks for no index: each read is another one.
    let page = 0
    await settle(() => get(product, sorted(++page)), hasIndexes(1), 10)
    await measure('filter and sort', 500, () => get(product, sorted(++page)))
    await repeated('filter and sort', 50, () => get(product, sorted(0)))
    let least = 0
    await settle(() => get(product, groupsAbove(++least)), hasIndexes(2), 10)
    await measure('filter and group by', 2000, () => get(product, groupsAbove(++least)))
    await get(product, groupBy)
    await measure('group by after an insert', 50, () => get(product, groupBy), insert)
    await repeated('group by', 50, () => get(product, groupBy))
    await settle(
      () => list('Order 98'),
      ({ search }) => search?.state === 'ready',
      30,
    )
    const letters = 'Order 1234567'
    await measure('search while typing', 500, (n) => list(letters.slice(0, 1 + (n % 13))), insert)
    // No record shows these.
    const rare = ['qz', 'zq', 'q', '北京', '語']
    await measure('search for a short text that is rare', 500, (n) => list(rare[n % 5]!), insert)
    await measure('count of a short text that is rare', 500, (n) => countOf(rare[n % 5]!), insert)
    const inBase = (text: string) => trpc.records.search.query({ baseId, tableId, text })
    await measure(
      'search of the base while typing',
      500,
      (n) => inBase(letters.slice(0, 2 + (n % 12))),
      insert,
    )
    await repeated('search', 500, () => list('Order 1234'))
    await measure('insert one record', 50, (n) => insert(rows + n))
    await measure('first page after an insert', 50, () => pageAt(0), insert)
    add(await measureBuild(product, rows))
    add({
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

/** Updates of single records while an index of the table is built. */
async function measureBuild(product: Product, rows: number): Promise<Line> {
  const { tableId, path } = product
  const { rest, trpc } = clientsOf(product)
  const { fields } = await trpc.schema.table.query({ tableId })
  const terms = ['Count', 'Price'].map((title) => {
    const { id: fieldId } = fields.find((field) => field.title === title)!
    return { fieldId, as: 'value' as const, direction: 'desc' as const }
  })
  const { id } = await trpc.indexes.create.mutate({ tableId, terms })
  const startedAt = performance.now()
  let isOver = false
  const built = (async () => {
    for (;;) {
      const index = (await trpc.indexes.list.query({ tableId })).find((one) => one.id === id)
      if (index?.state === 'failed') throw new Error(String(index.error))
      if (index?.state === 'ready') return (performance.now() - startedAt) / 1000
      await Bun.sleep(250)
    }
  })().finally(() => {
    isOver = true
  })
  const took: number[] = []
  for (let n = 1; !isOver; n++) {
    const before = performance.now()
    await written(rest.patch(path, { Id: 1 + ((n * 7919) % rows), Count: n }))
    took.push(performance.now() - before)
    await Bun.sleep(PAUSE_MS)
  }
  const seconds = await built
  return lineFor(
    `${rows.toLocaleString('en')} rows: update a record while an index is built`,
    sampleOf(took),
    100,
    `; ${took.length} updates, built in ${seconds.toFixed(0)} s`,
  )
}

/** Times calls until others have been watched, and at least ten times. */
async function watched(
  call: (index: number) => Promise<unknown>,
  watching: Promise<unknown>,
  before?: (index: number) => Promise<unknown>,
): Promise<Sample> {
  const took: number[] = []
  let isOver = false
  void watching.finally(() => {
    isOver = true
  })
  for (let index = 0; index < 10 || !isOver; index++) {
    await before?.(index)
    const startedAt = performance.now()
    await call(index)
    took.push(performance.now() - startedAt)
  }
  return sampleOf(took)
}

/**
 * The 99th percentile of reads of one record, in milliseconds. A process of its own sends them: in this one they would wait
 * for the answers that are being measured.
 */
async function pointReads({ port, path, apiToken }: Product): Promise<number> {
  const { p99Ms } = await load({
    port,
    connections: 1,
    seconds: WATCHED_MS / 1000,
    pauseMs: PAUSE_MS,
    method: 'GET',
    path: `${path}/#r`,
    cycle: 1000,
    headers: { 'xc-token': apiToken },
    from: 0,
  })
  return p99Ms
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
    ...(await readLines(`${FIELDS} fields: open the table`, { firstMs: 250, repeatedMs: 100 }, () =>
      trpc.schema.table.query({ tableId: table.id }),
    )),
    // Too large for the result cache.
    ...(await readLines(`${FIELDS} fields: a page of 100`, { firstMs: 500, repeatedMs: 500 }, () =>
      get(product, `${path}?limit=100`),
    )),
    lineFor(
      `${FIELDS} fields: edit a cell`,
      await time(50, (n) => written(rest.patch(path, { Id: 1 + n, 'Field 0': `x${n}` }))),
      50,
    ),
    ...(await readLines(`${FIELDS} fields: sort and filter`, { firstMs: 500, repeatedMs: 250 }, () =>
      get(product, `${path}?limit=100&sort=-Field%206&where=(Field%200,eq,text)`),
    )),
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
    ...(await readLines(`${TABLES} tables: list them`, { firstMs: 250, repeatedMs: 100 }, () =>
      get(product, `/api/v2/meta/bases/${baseId}/tables`),
    )),
    ...(await readLines(`${TABLES} tables: open the base`, { firstMs: 250, repeatedMs: 100 }, () =>
      trpc.schema.tables.query({ baseId }),
    )),
    lineFor(
      `${TABLES} tables: insert a record`,
      await time(50, () => written(rest.post(path, { Title: 'a' }))),
      50,
    ),
    // The first page that the server reads starts the thread that counts the table.
    ...(await readLines(`${TABLES} tables: read a page`, { firstMs: 250, repeatedMs: 25 }, () =>
      get(product, `${path}?limit=25`),
    )),
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
    ...(await readLines(`${name}: the record`, { firstMs: 250, repeatedMs: 250 }, () =>
      get(product, `${ownersPath}/1`),
    )),
    ...(await readLines(`${name}: the grid`, { firstMs: 250, repeatedMs: 100 }, () =>
      trpc.records.list.query({ query: { tableId: owners.id, limit: 100, offset: 0 } }),
    )),
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
  const tenth = Math.floor(BASES / 10)
  const cold = await time(BASES, (n) => get(product, `${tables[n]}?limit=25`))
  // Those that were asked for last are still open.
  const warm = await time(50, (n) => get(product, `${tables[BASES - 1 - n]}?limit=25`))
  const listed = await readLines(`${name}: list them`, { firstMs: 500, repeatedMs: 500 }, () =>
    trpc.bases.list.query(),
  )
  const files = readdirSync(`/proc/${product.pid}/fd`).length
  const memoryMb = residentMb(product.pid)
  const used = memoryOf(product)
  const restarted = await product.restart()
  const afterStart = await time(tenth, (n) => get(restarted, `${tables[n * 10]}?limit=25`))
  return [
    lineFor(
      `${name}: create one more, with a table`,
      last,
      250,
      `; the first 50: p50 ${first.p50.toFixed(1)} ms`,
    ),
    lineFor(`${name}: the first page of each, first`, cold, 50),
    lineFor(`${name}: the first page of open ones, repeated`, warm, 25),
    ...listed,
    {
      work: `${name}: open files`,
      result: `${files}`,
      promise: '≤ 1000',
      holds: files <= 1000,
      detail: '',
    },
    {
      work: `${name}: memory`,
      result: `${memoryMb.toFixed(0)} MB`,
      promise: `≤ ${BASES_MEMORY_MB} MB`,
      holds: memoryMb <= BASES_MEMORY_MB,
      detail: used,
    },
    {
      work: `${name}: start of the server`,
      result: `${restarted.startMs.toFixed(0)} ms`,
      promise: '≤ 5000 ms',
      holds: restarted.startMs <= 5000,
      detail: '',
    },
    lineFor(`${name}: a first page after the start`, afterStart, 50),
  ]
}

/** The memory of the server's process, from Linux. */
function memoryOf({ pid }: Product): string {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const part = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024
  return `memory ${part('VmRSS').toFixed(0)} MB, of it ${part('RssFile').toFixed(0)} MB mapped files`
}
