import { io, type Socket } from 'socket.io-client'
import type { AppliedChange } from '../../src/core/changes.ts'
import { seeded } from '../core/random.ts'
import { createTrpcClient } from '../support/client.ts'
import { cpuSeconds } from './processes.ts'
import { type Product, startProduct } from './product.ts'
import type { Line } from './report.ts'
import { lineFor, sampleOf } from './samples.ts'

/** Large enough for indexes, small enough for a team to share. */
const MOST_ROWS = 1_000_000
const PEOPLE = [10, 50, 200]
const SECONDS = 20
/** A person does something about once in this time. */
const PACE_MS = 2_000
/** Records of the part of the table that people read and change. */
const PAGE = 100
/** Limit of the 95th percentile of each of their actions. */
const LIMIT_MS = 250

/** What people do, with the share of each. */
const ACTIONS = ['a page', 'an edit', 'filter and sort', 'a search'] as const
type Action = (typeof ACTIONS)[number]
const SHARES: Record<Action, number> = {
  'a page': 0.5,
  'an edit': 0.3,
  'filter and sort': 0.1,
  'a search': 0.1,
}

type Client = ReturnType<typeof createTrpcClient>

/**
 * People who work in one table at the same time: they scroll, edit cells, filter, sort and search, with pauses. Each has a
 * socket, by which all hear of every edit.
 *
 * @param rows of the table, at most `MOST_ROWS`
 */
export async function measurePeople(rows: number): Promise<Line[]> {
  const product = await startProduct(Math.min(rows, MOST_ROWS))
  const lines: Line[] = []
  try {
    await warmUp(product)
    for (const people of PEOPLE) lines.push(...(await measure(product, people, Math.min(rows, MOST_ROWS))))
    return lines
  } finally {
    await product.stop()
  }
}

const clientOf = ({ port, session }: Product): Client => createTrpcClient(`http://127.0.0.1:${port}`, session)

/** Lets the server build the indexes that the actions ask for. */
async function warmUp(product: Product): Promise<void> {
  const trpc = clientOf(product)
  const random = seeded(1)
  for (const until = performance.now() + 10 * 60_000; performance.now() < until; ) {
    for (const action of ['filter and sort', 'a search'] as const)
      await act(trpc, product, action, random, 1, 1)
    const { indexes, search } = await trpc.indexes.performance.query({ tableId: product.tableId })
    const isBuilt = indexes.length > 0 && indexes.every(({ state }) => state !== 'building')
    if (isBuilt && search?.state === 'ready') return
    await Bun.sleep(500)
  }
}

async function measure(product: Product, people: number, rows: number): Promise<Line[]> {
  const took = new Map<Action | 'news', number[]>([...ACTIONS, 'news' as const].map((name) => [name, []]))
  const sockets = await Promise.all(Array.from({ length: people }, () => join(product)))
  const trpc = clientOf(product)
  const endsAt = performance.now() + SECONDS * 1000
  const cpuBefore = cpuSeconds(product.pid)
  const work = async (person: number) => {
    const random = seeded(1_000 * people + person)
    await Bun.sleep(random() * PACE_MS)
    while (performance.now() < endsAt) {
      const action = pick(random())
      const recordId = 1 + Math.floor(random() * rows)
      const startedAt = performance.now()
      const news = action === 'an edit' ? heard(sockets[(person + 1) % people]!, recordId, startedAt) : null
      await act(trpc, product, action, random, rows, recordId)
      took.get(action)!.push(performance.now() - startedAt)
      if (news) took.get('news')!.push(await news)
      await Bun.sleep(PACE_MS * (0.5 + random()))
    }
  }
  await Promise.all(Array.from({ length: people }, (_, person) => work(person)))
  const share = (cpuSeconds(product.pid) - cpuBefore) / SECONDS
  for (const socket of sockets) socket.close()
  const calls = ACTIONS.reduce((sum, action) => sum + took.get(action)!.length, 0)
  return [
    ...ACTIONS.map((action) =>
      lineFor(
        `${people} people: ${action}`,
        sampleOf(took.get(action)!),
        LIMIT_MS,
        `, ${took.get(action)!.length} times`,
      ),
    ),
    lineFor(`${people} people: an edit reaches another person`, sampleOf(took.get('news')!), LIMIT_MS),
    {
      work: `${people} people: processor time`,
      result: `${(share * 100).toFixed(0)} % of a core`,
      promise: '',
      holds: null,
      detail: `${(calls / SECONDS).toFixed(0)} actions/s`,
    },
  ]
}

/** @param random from 0 to 1 */
function pick(random: number): Action {
  let left = random
  for (const action of ACTIONS) {
    left -= SHARES[action]
    if (left < 0) return action
  }
  return ACTIONS[0]
}

/** Each edit writes another value: the same one again would be no change, of which nobody hears. */
let edits = 0

async function act(
  trpc: Client,
  { baseId, tableId }: Product,
  action: Action,
  random: () => number,
  rows: number,
  recordId: number,
): Promise<void> {
  const { fields } = await tableOf(trpc, tableId)
  const idOf = (title: string) => fields.find((field) => field.title === title)?.id ?? ''
  const number = (below: number) => Math.floor(random() * below)
  const list = (query: object) =>
    trpc.records.list.query({ query: { tableId, limit: PAGE, offset: 0, ...query } as never })
  if (action === 'a page') await list({ offset: number(Math.max(1, Math.min(rows, 10_000) - PAGE)) })
  else if (action === 'a search') {
    await list({ search: { text: `Order ${1000 + number(9000)}`, fieldId: null } })
  } else if (action === 'filter and sort') {
    const children = [
      { fieldId: idOf('State'), operator: 'eq', value: 'done' },
      { fieldId: idOf('Count'), operator: 'gt', value: 500 + number(400) },
    ]
    await list({ filter: { join: 'and', children }, sorts: [{ fieldId: idOf('Price'), direction: 'desc' }] })
  } else {
    const row = { id: recordId, values: { [idOf('Count')]: -++edits } }
    await trpc.records.write.mutate({
      change: { baseId, operations: [{ kind: 'update', tableId, rows: [row] }] },
    })
  }
}

const tables = new Map<string, ReturnType<Client['schema']['table']['query']>>()

/** The schema, which a browser reads once. */
function tableOf(trpc: Client, tableId: string): ReturnType<Client['schema']['table']['query']> {
  const known = tables.get(tableId) ?? trpc.schema.table.query({ tableId })
  tables.set(tableId, known)
  return known
}

async function join({ port, session, baseId }: Product): Promise<Socket> {
  const socket = io(`http://127.0.0.1:${port}`, {
    auth: { token: session },
    transports: ['websocket'],
    forceNew: true,
  })
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', () => resolve())
    socket.once('connect_error', reject)
  })
  await socket.emitWithAck('base:join', baseId, 0)
  return socket
}

/** Milliseconds until a change of a record arrives; at most five seconds. */
const heard = (socket: Socket, recordId: number, startedAt: number): Promise<number> =>
  new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      socket.off('change', listen)
      resolve(performance.now() - startedAt)
    }
    const listen = ({ records }: AppliedChange) => {
      if (records.some((each) => each.recordId === recordId)) end()
    }
    const timer = setTimeout(end, 5_000)
    socket.on('change', listen)
  })
