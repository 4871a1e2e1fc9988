import { cpuSeconds, load, type Server } from './processes.ts'
import type { Product } from './product.ts'

/** One kind of request, on the product and on the bare server. */
export interface Contest {
  name: string
  /** The least share of the bare server's requests; null where none is promised. */
  promise: number | null
  method: string
  /** Path on the product. */
  path: string
  /** Path on the bare server; by default the same. */
  barePath?: string
  body?: string
  connections?: number
}

export interface Measured {
  requestsPerSecond: number
  /** Processor time of the server for each request. */
  cpuMicros: number
  p99Ms: number
}

export interface Outcome {
  contest: Contest
  ours: Measured
  bare: Measured
}

let numbered = 0

/** Measures both in turn, block by block, so that what else the machine does meets both alike. */
export async function compete(
  contest: Contest,
  product: Product,
  bare: Server,
  rounds: number,
  seconds: number,
): Promise<Outcome> {
  const ours: Measured[] = []
  const theirs: Measured[] = []
  const headers = { 'xc-token': product.apiToken }
  await block(contest, product, headers, 0.5)
  const plain = { ...contest, path: contest.barePath ?? contest.path }
  await block(plain, bare, {}, 0.5)
  for (let round = 0; round < rounds; round++) {
    ours.push(await block(contest, product, headers, seconds))
    theirs.push(await block(plain, bare, {}, seconds))
  }
  return { contest, ours: median(ours), bare: median(theirs) }
}

async function block(
  { method, path, body, connections = 8 }: Contest,
  server: Server,
  headers: Record<string, string>,
  seconds: number,
): Promise<Measured> {
  const before = cpuSeconds(server.pid)
  numbered += 1_000_000
  const result = await load({
    port: server.port,
    connections,
    seconds,
    method,
    path,
    headers,
    body,
    from: numbered,
  })
  const cpu = cpuSeconds(server.pid) - before
  return {
    requestsPerSecond: result.requests / result.seconds,
    cpuMicros: (cpu / result.requests) * 1e6,
    p99Ms: result.p99Ms,
  }
}

function median(blocks: Measured[]): Measured {
  const of = (pick: (block: Measured) => number): number => {
    const sorted = blocks.map(pick).sort((a, b) => a - b)
    return sorted[Math.floor(sorted.length / 2)] ?? 0
  }
  return {
    requestsPerSecond: of((b) => b.requestsPerSecond),
    cpuMicros: of((b) => b.cpuMicros),
    p99Ms: of((b) => b.p99Ms),
  }
}
