import { createRestClient } from '../support/client.ts'
import { addRows, type Product, startProduct } from './product.ts'
import type { Line } from './report.ts'

/** How many times as many records the second measurement has. */
const TIMES = 5
/** The longest that reads may take then, as a multiple: no more than the table has grown, with some noise. */
const MOST = TIMES * 1.2
const READS = 5

/** Reads of the whole table without an index. Each has a number of its own, so that none is answered from memory. */
const KINDS: Record<string, (rows: number, n: number) => string> = {
  search: (_rows, n) => `where=${encodeURIComponent(`(Mail,like,%nobody${n}%)`)}`,
  sort: (_rows, n) => `sort=-Price,Title&offset=${n}`,
  'page in the middle of a sort': (rows, n) => `sort=Price,Title&offset=${(rows >> 1) + n}`,
  'page in the middle': (rows, n) => `offset=${(rows >> 1) + n}`,
}

/** Shows that reads of a table without indexes take no longer than its number of records explains. */
export async function measureGrowth(rows: number): Promise<Line[]> {
  const fewer = Math.round(rows / TIMES)
  const product = await startProduct(fewer, { INDEX_SLOW_MS: '0' })
  try {
    const before = await medianTimes(product, fewer)
    await addRows(product, fewer, rows)
    const after = await medianTimes(product, rows)
    return Object.keys(KINDS).map((kind, at) => {
      const [first = 0, then = 0] = [before[at], after[at]]
      return {
        work: `growth: ${kind}, ${rows.toLocaleString('en')} records instead of ${fewer.toLocaleString('en')}`,
        result: `${(then / first).toFixed(1)} × the time`,
        promise: `≤ ${MOST.toFixed(1)} ×`,
        holds: then <= first * MOST,
        detail: `${first.toFixed(1)} ms, then ${then.toFixed(1)} ms, medians of ${READS}`,
      }
    })
  } finally {
    await product.stop()
  }
}

/** The median time of each kind of read, in milliseconds. */
async function medianTimes({ port, path, session }: Product, rows: number): Promise<number[]> {
  const rest = createRestClient(`http://127.0.0.1:${port}`, session)
  const medians: number[] = []
  for (const queryOf of Object.values(KINDS)) {
    const times: number[] = []
    for (let n = 0; n <= READS; n++) {
      const startedAt = performance.now()
      const { status, body } = await rest.get(`${path}?${queryOf(rows, n)}`)
      if (status !== 200) throw new Error(JSON.stringify(body))
      // The first one counts the table and fills the system's file cache.
      if (n > 0) times.push(performance.now() - startedAt)
    }
    medians.push(times.toSorted((a, b) => a - b)[READS >> 1] ?? 0)
  }
  return medians
}
