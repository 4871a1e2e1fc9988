import { startPostgres } from '../support/postgres.ts'
import { residentMb, type Server } from './processes.ts'
import { type Product, startProduct } from './product.ts'
import type { Line } from './report.ts'

/** How often memory is measured during an export. */
const SAMPLE_MS = 50

/** How often somebody else asks for something short meanwhile. */
const ASK_EVERY_MS = 5

/** Whatever the number of records: their ids and a few pages. */
const MAX_GROWTH_MB = 200
/** The least share of the bare server's rate. */
const MIN_OF_BARE = 1 / 4
/** What a request of somebody else may take meanwhile. */
const MAX_OTHERS_MS = 50

/**
 * Least rates by format. A workbook is compressed to about a twelfth of its sheets, so its rate is no measure of the
 * work: the number of its records per second is that of 4 MB of CSV.
 */
const MIN_MB_PER_SECOND = { csv: 50, json: 50, xlsx: 2 }
const ROUNDS = 3

type Format = keyof typeof MIN_MB_PER_SECOND

/**
 * Exports of the whole table in each format, uncompressed: their rate, how much the server's memory grows, and what
 * others wait meanwhile. CSV from a file also against the bare server.
 */
export async function measureExports(product: Product, bare: Server, rows: number): Promise<Line[]> {
  const lines = await measureFormats(product, rows, 'a file')
  const bareRuns: Run[] = []
  const runs: Run[] = []
  for (let round = 0; round < ROUNDS; round++) {
    bareRuns.push(await exportOnce(bare, '/csv', {}, '/'))
    runs.push(await exportOf(product, 'csv'))
  }
  const [rate, bareRate] = [medianRate(runs), medianRate(bareRuns)]
  return [
    ...lines,
    {
      work: 'export of CSV against the bare server',
      result: `${(rate / bareRate).toFixed(2)} of bare`,
      promise: `≥ ${MIN_OF_BARE.toFixed(2)}`,
      holds: rate >= bareRate * MIN_OF_BARE,
      detail: `bare ${bareRate.toFixed(1)} MB/s`,
    },
  ]
}

/** The same of a table in PostgreSQL, which it starts and stops. */
export async function measurePostgresExports(rows: number): Promise<Line[]> {
  const server = await startPostgres()
  try {
    const product = await startProduct(rows, { DATABASE_URL: server.url })
    try {
      return await measureFormats(product, rows, 'PostgreSQL')
    } finally {
      await product.stop()
    }
  } finally {
    await server.stop()
  }
}

async function measureFormats(product: Product, rows: number, home: string): Promise<Line[]> {
  const lines: Line[] = []
  for (const format of Object.keys(MIN_MB_PER_SECOND) as Format[]) {
    await exportOf(product, format)
    const runs: Run[] = []
    for (let round = 0; round < ROUNDS; round++) runs.push(await exportOf(product, format))
    const rate = medianRate(runs)
    const grown = Math.max(...runs.map(({ grownMb }) => grownMb))
    const others = median(runs.map(({ othersMs }) => othersMs))
    const name = `export ${rows.toLocaleString('en')} rows from ${home} as ${format}`
    lines.push(
      {
        work: name,
        result: `${rate.toFixed(1)} MB/s`,
        promise: `≥ ${MIN_MB_PER_SECOND[format]} MB/s`,
        holds: rate >= MIN_MB_PER_SECOND[format],
        detail: runs
          .map(({ megabytes, seconds }) => `${megabytes.toFixed(0)} MB in ${seconds.toFixed(2)} s`)
          .join('; '),
      },
      {
        work: `${name}: memory`,
        result: `+${grown.toFixed(0)} MB`,
        promise: `< ${MAX_GROWTH_MB} MB`,
        holds: grown < MAX_GROWTH_MB,
        detail: '',
      },
      {
        work: `${name}: the longest request of others`,
        result: `${others.toFixed(0)} ms`,
        promise: `< ${MAX_OTHERS_MS} ms`,
        holds: others < MAX_OTHERS_MS,
        detail: 'median of the rounds',
      },
    )
  }
  return lines
}

interface Run {
  megabytes: number
  seconds: number
  grownMb: number
  /** The longest short request meanwhile. */
  othersMs: number
}

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

const medianRate = (runs: Run[]): number => median(runs.map(({ megabytes, seconds }) => megabytes / seconds))

const exportOf = (product: Product, format: Format): Promise<Run> =>
  exportOnce(
    product,
    `/api/v1/db/data/noco/${product.baseId}/${product.tableId}/export/${format}`,
    { 'xc-auth': product.session },
    '/api/v1/version',
  )

async function exportOnce(
  { port, pid }: Server,
  path: string,
  headers: Record<string, string>,
  shortPath: string,
): Promise<Run> {
  const url = `http://127.0.0.1:${port}`
  const before = residentMb(pid)
  let peakMb = before
  const sampler = setInterval(() => {
    peakMb = Math.max(peakMb, residentMb(pid))
  }, SAMPLE_MS)
  const stop = new AbortController()
  const others = askUntil(`${url}${shortPath}`, stop.signal)
  const startedAt = performance.now()
  const answer = await fetch(`${url}${path}`, { headers: { ...headers, 'accept-encoding': 'identity' } })
  if (!answer.ok || !answer.body) throw new Error(`${answer.status} ${await answer.text()}`)
  let bytes = 0
  for await (const chunk of answer.body) bytes += chunk.length
  const seconds = (performance.now() - startedAt) / 1000
  stop.abort()
  clearInterval(sampler)
  return { megabytes: bytes / 1e6, seconds, grownMb: peakMb - before, othersMs: await others }
}

/** Asks for something short again and again. @returns the longest that took, in milliseconds */
async function askUntil(url: string, signal: AbortSignal): Promise<number> {
  let longestMs = 0
  while (!signal.aborted) {
    const startedAt = performance.now()
    await (await fetch(url)).arrayBuffer()
    longestMs = Math.max(longestMs, performance.now() - startedAt)
    await Bun.sleep(ASK_EVERY_MS)
  }
  return longestMs
}
