import { createRestClient } from '../support/client.ts'
import { csvOf, timeImport } from './imports.ts'
import { load } from './processes.ts'
import type { Product } from './product.ts'
import type { Line } from './report.ts'

const QUIET_SECONDS = 3

/** How long one record takes to read, while nothing else runs and while all that is slow runs at once. */
export async function measureUnderLoad(product: Product, importRows: number): Promise<Line> {
  const point = {
    port: product.port,
    connections: 1,
    method: 'GET',
    path: `${product.path}/77`,
    from: 0,
    headers: { 'xc-token': product.apiToken },
  }
  await load({ ...point, seconds: 1 })
  const quiet = await load({ ...point, seconds: QUIET_SECONDS })
  const csv = csvOf(importRows)
  let isOver = false
  const rest = createRestClient(`http://127.0.0.1:${product.port}`, product.session)
  const table = `/api/v1/db/data/noco/${product.baseId}/${product.tableId}`
  const scans = [
    `${table}/groupby?column_name=State,Stars`,
    `${product.path}?where=(Notes,like,zzz)&limit=10`,
    `${product.path}?sort=-Price,Title&limit=25`,
    `${product.path}?limit=1000&offset=50000`,
  ]
  const scanning = (async () => {
    for (let step = 0; !isOver; step++) {
      const { status, body } = await rest.get(scans[step % scans.length]!)
      if (status !== 200) throw new Error(`${scans[step % scans.length]}: ${JSON.stringify(body)}`)
    }
  })()
  const importing = timeImport(product, csv, importRows, 'Under load').finally(() => {
    isOver = true
  })
  const seconds = 8
  const busy = await load({ ...point, seconds })
  isOver = true
  await Promise.all([importing, scanning])
  const ratio = busy.p99Ms / quiet.p99Ms
  return {
    work: 'read one record while an import and scans run',
    result: `p99 ${ratio.toFixed(1)} × its quiet p99`,
    promise: '≤ 5.0 ×',
    holds: ratio <= 5,
    detail: `quiet p50 ${quiet.p50Ms.toFixed(2)} p99 ${quiet.p99Ms.toFixed(2)} ms; busy p50 ${busy.p50Ms.toFixed(2)} p99 ${busy.p99Ms.toFixed(2)} ms`,
  }
}
