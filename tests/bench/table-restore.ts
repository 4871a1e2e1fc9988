import { createRestClient, createTrpcClient } from '../support/client.ts'
import { csvOf, timeImport } from './imports.ts'
import { cpuSeconds, ownMb, withChildren } from './processes.ts'
import { startProduct } from './product.ts'
import type { Line } from './report.ts'

const ROWS = 100_000
/** Processor time per 100,000 records: a million take less than two minutes on a machine that does nothing else. */
const MAX_SECONDS = 12
/** At most for any number of records: what a statement collects goes to a file. */
const MAX_GROWTH_MB = 200
const LOOK_EVERY_MS = 100

/** How long it takes to restore a table in which every record has changed and some were deleted, and the memory it takes. */
export async function measureTableRestore(rows = ROWS): Promise<Line> {
  const product = await startProduct(0)
  try {
    const url = `http://127.0.0.1:${product.port}`
    const trpc = createTrpcClient(url, product.session)
    const rest = createRestClient(url, product.session)
    await timeImport(product, csvOf(rows), rows, 'Restored')
    const { baseId } = product
    const tables = await trpc.schema.tables.query({ baseId })
    const tableId = tables.find(({ title }) => title === 'Restored')?.id ?? ''
    const { fields } = await trpc.schema.table.query({ tableId })
    const field = fields.find(({ isSystem, type }) => !isSystem && type === 'SingleLineText')
    if (!field) throw new Error('The table has no text field')
    const at = new Date().toISOString()
    await Bun.sleep(1_100)
    const all = `/api/v1/db/data/bulk/noco/${baseId}/${tableId}/all`
    await rest.patch(`${all}?where=(Id,gt,0)`, { [field.title]: 'changed' })
    await rest.delete(`${all}?where=(Id,gt,${rows - rows / 10})`)
    // The statements run in a process of their own (`large write` in src/pool.ts).
    const cpuOf = new Map<number, number>()
    const look = (): number => {
      const pids = withChildren(product.pid)
      for (const pid of pids) cpuOf.set(pid, cpuSeconds(pid))
      return pids.reduce((sum, pid) => sum + ownMb(pid), 0)
    }
    const usedCpu = () => [...cpuOf.values()].reduce((sum, seconds) => sum + seconds, 0)
    const before = look()
    let most = before
    const looking = setInterval(() => {
      most = Math.max(most, look())
    }, LOOK_EVERY_MS)
    const startedAt = performance.now()
    const cpuBefore = usedCpu()
    await trpc.records.restoreTable.mutate({ tableId, at })
    const seconds = (performance.now() - startedAt) / 1000
    look()
    const cpu = usedCpu() - cpuBefore
    clearInterval(looking)
    const found = await rest.get(`/api/v2/tables/${tableId}/records/count?where=(${field.title},neq,changed)`)
    if (found.body.count !== rows) throw new Error(`${found.body.count} of ${rows} records were restored`)
    const allowed = (MAX_SECONDS * rows) / ROWS
    const growth = most - before
    return {
      work: `restore a table of ${rows.toLocaleString('en')} records`,
      result: `${cpu.toFixed(1)} s of processor time`,
      promise: `≤ ${allowed.toFixed(0)} s, ≤ ${MAX_GROWTH_MB} MB`,
      holds: cpu <= allowed && growth <= MAX_GROWTH_MB,
      detail: `${seconds.toFixed(1)} s; memory ${before.toFixed(0)} MB, at most ${most.toFixed(0)} MB`,
    }
  } finally {
    await product.stop()
  }
}
