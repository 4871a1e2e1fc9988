import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRestClient, type RestAnswer } from '../support/client.ts'
import { FIELDS, makeRows } from './bare-table.ts'
import { load, startProgram } from './processes.ts'
import { environmentOf } from './product.ts'

/*
 * The comparison with another server: the same tables, made and filled through the same REST calls on both, and the
 * same requests to both in turn. Any server that speaks NocoDB's API v2 can take part.
 *
 * Each read is measured twice. `first`: a record is changed before each read, in all fields that a read of the list
 * filters, sorts or groups by, so that no server answers from memory; the change is not timed. `again`: the same request
 * over and over, while nothing changes.
 */

interface AgainstOptions {
  /** The other server, e.g. `http://127.0.0.1:8081`. */
  url: string
  /** `EMAIL:PASSWORD` of a user who may create bases there; signed up if the server does not know them. */
  account: string
  rows: number
  rounds: number
  seconds: number
  /** The pause after reads that warm up, in which servers may do what they do when idle, such as build indexes. */
  idleSeconds: number
  isWanted(name: string): boolean
}

/** A server with the tables that are measured. */
interface Side {
  name: string
  url: URL
  headers: Record<string, string>
  /** The path of a kind of request. */
  paths: Paths
  /** Numbers of requests so far, so that none is sent twice. */
  sent: number
}

interface Paths {
  records: string
  links: string
  groups: string
}

interface Workload {
  name: string
  /** True for a read before each of which a record changes. */
  isFirst?: boolean
  method: string
  path(paths: Paths): string
  /** `#n` is a number of its own, `#r` the id of a record. */
  body?: string
  connections?: number
  /** The number of records, groups or the value that both have to answer with; absent where it is a write. */
  answer?(body: RestAnswer['body']): unknown
}

/** Of each request before it is measured, unless it is measured for a shorter time. */
const WARM_UP_SECONDS = 0.3
const CHUNK = 1_000
/** Records that each request links. */
const LINKED = 10
const LINKED_RECORDS = Array.from({ length: LINKED }, (_, at) => ({ Id: at + 1 }))

const total = (body: RestAnswer['body']): unknown => body.pageInfo.totalRows
const row = JSON.stringify({ ...makeRows(1)[0], Count: '#n' }).replace('"#n"', '#n')
const where = (text: string): string => `where=${encodeURIComponent(text)}`
const FILTER = where('(State,eq,doing)~and(Count,gt,500)')

const workloads = (rows: number): Workload[] => [
  { name: 'list 25 records', method: 'GET', path: ({ records }) => records, answer: total },
  { name: 'list 100 records', method: 'GET', path: ({ records }) => `${records}?limit=100`, answer: total },
  { name: 'read one record', method: 'GET', path: ({ records }) => `${records}/#r` },
  {
    name: 'list 25 records at the end',
    method: 'GET',
    path: ({ records }) => `${records}?offset=${rows - 25}`,
    answer: total,
  },
  { name: 'filter', method: 'GET', path: ({ records }) => `${records}?${FILTER}`, answer: total },
  { name: 'sort', method: 'GET', path: ({ records }) => `${records}?sort=-Price`, answer: total },
  {
    name: 'filter and sort',
    method: 'GET',
    path: ({ records }) => `${records}?${FILTER}&sort=-Price`,
    answer: total,
  },
  {
    name: 'search in a text',
    method: 'GET',
    path: ({ records }) => `${records}?${where('(Mail,like,%person77%)')}`,
    answer: total,
  },
  {
    name: 'count with a filter',
    method: 'GET',
    path: ({ records }) => `${records}/count?${FILTER}`,
    answer: ({ count }) => count,
  },
  {
    name: 'sort, in the middle',
    method: 'GET',
    path: ({ records }) => `${records}?sort=-Price&offset=${rows >> 1}`,
    answer: total,
  },
  {
    name: 'group by',
    method: 'GET',
    path: ({ groups }) => `${groups}?column_name=State&sort=State`,
    answer: ({ list }) => list.map(({ count }: { count: number }) => Number(count)).sort(),
  },
  { name: 'insert one record', method: 'POST', path: ({ records }) => records, body: row },
  {
    name: 'update one record',
    method: 'PATCH',
    path: ({ records }) => records,
    body: '{"Id":#r,"Count":#n}',
  },
  {
    name: `insert ${CHUNK} records`,
    method: 'POST',
    path: ({ records }) => records,
    body: JSON.stringify(makeRows(CHUNK)),
    connections: 1,
  },
  {
    name: `link ${LINKED} records`,
    method: 'POST',
    path: ({ links }) => `${links}/#r`,
    body: JSON.stringify(LINKED_RECORDS),
  },
]

/** Links of a record; measured when there are some. */
const LINKS: Workload = {
  name: `list ${LINKED} linked records`,
  method: 'GET',
  path: ({ links }) => `${links}/1`,
  answer: total,
}

const ORIGINAL = makeRows(1)[0]!

/** What the first record has in turn: the second version meets the filter, the first does not. */
const CHANGES = [
  { Id: 1, ...ORIGINAL },
  {
    Id: 1,
    ...ORIGINAL,
    Title: 'Changed',
    Count: 1001,
    Price: 2000,
    State: 'doing',
    Mail: 'person77@example.com',
  },
].map((change) => JSON.stringify(change))

/** A read as `first` and `again`, and a write as it is. */
const measuredAs = (workload: Workload): Workload[] =>
  workload.method !== 'GET'
    ? [workload]
    : [
        { ...workload, name: `${workload.name}, first`, isFirst: true, connections: 1 },
        { ...workload, name: `${workload.name}, again` },
      ]

/** Measures this server and another one by the same requests, and prints how they compare. */
export async function measureAgainst(options: AgainstOptions): Promise<void> {
  const { url, rows, rounds, seconds, idleSeconds, isWanted } = options
  const wanted = [...workloads(rows), LINKS].flatMap(measuredAs).filter(({ name }) => isWanted(name))
  const dataDir = mkdtempSync(join(tmpdir(), 'sheaf-against-'))
  const server = await startProgram('src/main.ts', environmentOf(dataDir))
  const sides: Side[] = []
  let removeBase = async () => {}
  try {
    console.log(`Filling a table of ${rows.toLocaleString('en')} records and 12 fields on both servers …`)
    // First the one that may not answer, or refuse the account.
    const there = await prepare('there', url, options.account, rows, (remove) => {
      removeBase = remove
    })
    sides.push(there)
    const own = `http://127.0.0.1:${server.port}`
    const here = await prepare('here', own, 'bench@example.com:correct horse', rows)
    sides.push(here)
    console.log(`Warming up, then waiting ${idleSeconds} s …`)
    for (const workload of wanted.filter(({ isFirst }) => isFirst)) {
      for (const side of sides) {
        await block(workload, side, rows, seconds)
        await restore(side)
      }
    }
    await Bun.sleep(idleSeconds * 1000)
    console.log(`${rounds} rounds of ${seconds} s on each, in turn; medians, 8 connections unless noted.`)
    console.log(
      '“first”: a record changes before each read, on 1 connection. “again”: the same read, from memory if kept.',
    )
    print(['work', 'ratio', 'here/s', 'there/s', 'here p50', 'there p50'])
    for (const workload of wanted) {
      await requireSameAnswer(workload, here, there)
      const measured: { here: Block; there: Block }[] = []
      for (const side of [here, there]) await block(workload, side, rows, Math.min(seconds, WARM_UP_SECONDS))
      for (let round = 0; round < rounds; round++) {
        measured.push({
          here: await block(workload, here, rows, seconds),
          there: await block(workload, there, rows, seconds),
        })
      }
      if (workload.isFirst) for (const side of sides) await restore(side)
      const ours = median(measured.map((one) => one.here))
      const theirs = median(measured.map((one) => one.there))
      print([
        workload.connections === 1 && !workload.isFirst ? `${workload.name} (1 connection)` : workload.name,
        `${(ours.perSecond / theirs.perSecond).toFixed(1)} ×`,
        ours.perSecond.toFixed(1),
        theirs.perSecond.toFixed(1),
        `${ours.p50Ms.toFixed(1)} ms`,
        `${theirs.p50Ms.toFixed(1)} ms`,
      ])
    }
  } finally {
    // The base of this server goes with its folder. The other server may be away by now.
    await server.stop()
    rmSync(dataDir, { recursive: true, force: true })
    await removeBase()
  }
}

/**
 * Signs in, creates a base with two linked tables, and fills them.
 *
 * @param onBase called once there is a base, with what deletes it
 */
async function prepare(
  name: string,
  url: string,
  account: string,
  rows: number,
  onBase?: (remove: () => Promise<void>) => void,
): Promise<Side> {
  const [email = '', password = ''] = account.split(/:(.*)/s)
  const credentials = { email, password }
  let answer = await createRestClient(url).post('/api/v1/auth/user/signin', credentials)
  if (answer.status !== 200)
    answer = await createRestClient(url).post('/api/v1/auth/user/signup', credentials)
  const session = createRestClient(url, { 'xc-auth': String(need(answer, 'sign in').token) })
  const base = need(
    await session.post('/api/v2/meta/bases', { title: `Bench ${Date.now()}` }),
    'create a base',
  )
  onBase?.(async () => void need(await session.delete(`/api/v2/meta/bases/${base.id}`), 'delete the base'))
  const rest = session
  const table = async (title: string) => {
    const columns = [
      { title: 'Id', column_name: 'id', uidt: 'ID' },
      ...FIELDS.map(({ title: field, type, options }) => ({
        title: field,
        column_name: field.toLowerCase(),
        uidt: type,
        ...(options?.choices !== undefined && {
          dtxp: (options.choices as { title: string }[]).map((choice) => `'${choice.title}'`).join(','),
        }),
      })),
    ]
    const path = `/api/v2/meta/bases/${base.id}/tables`
    return need(await rest.post(path, { title, table_name: title.toLowerCase(), columns }), 'create a table')
  }
  const orders = await table('Orders')
  const labels = await table('Labels')
  const linked = need(
    await rest.post(`/api/v2/meta/tables/${orders.id}/columns`, {
      title: 'Labels',
      column_name: 'labels',
      uidt: 'Links',
      type: 'mm',
      parentId: orders.id,
      childId: labels.id,
    }),
    'create a link',
  )
  const link = linked.columns.find((column: { title: string }) => column.title === 'Labels')
  const records = `/api/v2/tables/${orders.id}/records`
  await rest.post(`/api/v2/tables/${labels.id}/records`, makeRows(LINKED))
  for (let from = 0; from < rows; from += CHUNK) {
    need(await rest.post(records, makeRows(Math.min(CHUNK, rows - from), from)), 'fill the table')
  }
  const links = `/api/v2/tables/${orders.id}/links/${link.id}/records`
  // The record whose links are listed, which the timed requests may not reach.
  need(await rest.post(`${links}/1`, LINKED_RECORDS), 'link records')
  return {
    name,
    url: new URL(url),
    headers: { 'xc-auth': String(answer.body.token) },
    paths: {
      records,
      links,
      groups: `/api/v1/db/data/noco/${base.id}/${orders.id}/groupby`,
    },
    sent: 0,
  }
}

function need({ status, body }: RestAnswer, what: string): RestAnswer['body'] {
  if (status !== 200 && status !== 201)
    throw new Error(`Could not ${what}: ${status} ${JSON.stringify(body)}`)
  return body
}

/** A comparison is worth nothing where the servers answer something else. */
async function requireSameAnswer(workload: Workload, ...sides: Side[]): Promise<void> {
  const { answer } = workload
  if (!answer) return
  const answers = await Promise.all(
    sides.map(async ({ url, headers, paths }) => {
      const path = workload.path(paths).replaceAll('#r', '1')
      const { body } = await createRestClient(url.origin, headers).send(workload.method, path)
      return JSON.stringify(answer(body))
    }),
  )
  if (new Set(answers).size > 1)
    throw new Error(`“${workload.name}” is answered differently: ${answers.join(' and ')}`)
}

/** Gives the first record its values again. */
async function restore({ url, headers, paths }: Side): Promise<void> {
  const rest = createRestClient(url.origin, headers)
  need(await rest.patch(paths.records, JSON.parse(CHANGES[0]!)), 'restore a record')
}

interface Block {
  /** Requests of which the timed part would fit into a second, on all connections. */
  perSecond: number
  p50Ms: number
}

async function block(workload: Workload, side: Side, rows: number, seconds: number): Promise<Block> {
  const { url } = side
  const isTls = url.protocol === 'https:'
  const result = await load({
    hostname: url.hostname,
    port: Number(url.port || (isTls ? 443 : 80)),
    isTls,
    connections: workload.connections ?? 8,
    seconds,
    method: workload.method,
    path: workload.path(side.paths),
    headers: side.headers,
    body: workload.body,
    cycle: rows,
    before: workload.isFirst ? { method: 'PATCH', path: side.paths.records, bodies: CHANGES } : undefined,
    from: side.sent,
  })
  side.sent += result.requests
  const perSecond = workload.isFirst ? 1000 / result.p50Ms : result.requests / result.seconds
  return { perSecond, p50Ms: result.p50Ms }
}

function median(blocks: Block[]): Block {
  return blocks.toSorted((a, b) => a.perSecond - b.perSecond)[blocks.length >> 1]!
}

function print(cells: string[]): void {
  console.log(cells.map((cell, at) => (at === 0 ? cell.padEnd(34) : cell.padStart(11))).join(' '))
}
