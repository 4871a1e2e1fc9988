import { residentMb, type Server } from './processes.ts'
import type { Product } from './product.ts'
import type { Line } from './report.ts'

/** How often memory is measured during an export. */
const SAMPLE_MS = 50

/** Whatever the number of records: their ids and a few pages. */
const MAX_GROWTH_MB = 200
const MIN_MB_PER_SECOND = 50
/** The least share of the bare server's rate. */
const MIN_OF_BARE = 1 / 4

/** CSV exports of the whole table, uncompressed, and how much the server's memory grows meanwhile. */
export async function measureExport(product: Product, bare: Server, rows: number): Promise<Line[]> {
  const path = `/api/v1/db/data/noco/${product.baseId}/${product.tableId}/export/csv`
  const ours = () => exportOnce(product, path, { 'xc-auth': product.session })
  const plain = () => exportOnce(bare, '/csv', {})
  await ours()
  await plain()
  const runs: Run[] = []
  const bareRuns: Run[] = []
  for (let round = 0; round < 3; round++) {
    runs.push(await ours())
    bareRuns.push(await plain())
  }
  const [rate, bareRate] = [medianRate(runs), medianRate(bareRuns)]
  const grown = Math.max(...runs.map(({ grownMb }) => grownMb))
  const detail = runs
    .map(
      ({ megabytes, seconds, grownMb }) =>
        `${megabytes.toFixed(0)} MB in ${seconds.toFixed(2)} s, +${grownMb.toFixed(0)} MB`,
    )
    .join('; ')
  return [
    {
      work: `export ${rows.toLocaleString('en')} rows of CSV`,
      result: `${rate.toFixed(1)} MB/s`,
      promise: `≥ ${MIN_MB_PER_SECOND} MB/s`,
      holds: rate >= MIN_MB_PER_SECOND,
      detail,
    },
    {
      work: 'export against the bare server',
      result: `${(rate / bareRate).toFixed(2)} of bare`,
      promise: `≥ ${MIN_OF_BARE.toFixed(2)}`,
      holds: rate >= bareRate * MIN_OF_BARE,
      detail: `bare ${bareRate.toFixed(1)} MB/s`,
    },
    {
      work: 'memory that an export takes',
      result: `${grown.toFixed(0)} MB`,
      promise: `< ${MAX_GROWTH_MB} MB`,
      holds: grown < MAX_GROWTH_MB,
      detail: '',
    },
  ]
}

interface Run {
  megabytes: number
  seconds: number
  grownMb: number
}

const medianRate = (runs: Run[]): number =>
  runs.map(({ megabytes, seconds }) => megabytes / seconds).toSorted((a, b) => a - b)[runs.length >> 1] ?? 0

async function exportOnce(
  { port, pid }: Server,
  path: string,
  headers: Record<string, string>,
): Promise<Run> {
  const before = residentMb(pid)
  let peakMb = before
  const sampler = setInterval(() => {
    peakMb = Math.max(peakMb, residentMb(pid))
  }, SAMPLE_MS)
  const startedAt = performance.now()
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    headers: { ...headers, 'accept-encoding': 'identity' },
  })
  if (!answer.ok || !answer.body) throw new Error(`${answer.status} ${await answer.text()}`)
  let bytes = 0
  for await (const chunk of answer.body) bytes += chunk.length
  const seconds = (performance.now() - startedAt) / 1000
  clearInterval(sampler)
  return { megabytes: bytes / 1e6, seconds, grownMb: peakMb - before }
}
