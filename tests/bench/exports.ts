import { residentMb } from './processes.ts'
import type { Product } from './product.ts'
import type { Line } from './report.ts'

/** How often memory is measured during an export. */
const SAMPLE_MS = 50

/** Whatever the number of records: their ids and a few pages. */
const MAX_GROWTH_MB = 200
const MIN_MB_PER_SECOND = 50

/** CSV exports of the whole table, uncompressed, and how much the server's memory grows meanwhile. */
export async function measureExport(product: Product, rows: number): Promise<Line[]> {
  await exportOnce(product)
  const runs = [await exportOnce(product), await exportOnce(product), await exportOnce(product)]
  const rates = runs.map(({ megabytes, seconds }) => megabytes / seconds).sort((a, b) => a - b)
  const rate = rates[1] ?? 0
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
      work: 'memory that an export takes',
      result: `${grown.toFixed(0)} MB`,
      promise: `< ${MAX_GROWTH_MB} MB`,
      holds: grown < MAX_GROWTH_MB,
      detail: '',
    },
  ]
}

async function exportOnce({ port, pid, session, baseId, tableId }: Product) {
  const before = residentMb(pid)
  let peakMb = before
  const sampler = setInterval(() => {
    peakMb = Math.max(peakMb, residentMb(pid))
  }, SAMPLE_MS)
  const startedAt = performance.now()
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1/db/data/noco/${baseId}/${tableId}/export/csv`, {
    headers: { 'xc-auth': session, 'accept-encoding': 'identity' },
  })
  if (!answer.ok || !answer.body) throw new Error(`${answer.status} ${await answer.text()}`)
  let bytes = 0
  for await (const chunk of answer.body) bytes += chunk.length
  const seconds = (performance.now() - startedAt) / 1000
  clearInterval(sampler)
  return { megabytes: bytes / 1e6, seconds, grownMb: peakMb - before }
}
