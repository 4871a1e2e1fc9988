import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ended, formatOf, resultOf, startImport, upload } from '../imports/support.ts'
import { createTrpcClient } from '../support/client.ts'
import { FIELDS, makeBareFile, makeRows } from './bare-table.ts'
import type { Product } from './product.ts'
import type { Line } from './report.ts'

const HEADER = `${FIELDS.map(({ title }) => title).join(',')}\n`

/** The bench table's rows as a CSV file. */
export function csvOf(count: number): Uint8Array<ArrayBuffer> {
  const parts = [HEADER]
  for (const row of makeRows(count))
    parts.push(
      `${Object.values(row)
        .map((cell) => `"${cell}"`)
        .join(',')}\n`,
    )
  return new TextEncoder().encode(parts.join(''))
}

/** Imports a CSV file into a new table, and gives how long the job took. */
export async function timeImport(
  product: Product,
  csv: Uint8Array<ArrayBuffer>,
  rows: number,
  title: string,
): Promise<number> {
  const door = { url: `http://127.0.0.1:${product.port}`, token: product.session }
  const startedAt = performance.now()
  const jobId = await startImport(door, product.baseId, csv, { title, columns: FIELDS })
  const result = resultOf(await ended(door, jobId, 600_000))
  if (result.rows !== rows) throw new Error(`The import added ${result.rows} of ${rows} rows`)
  return performance.now() - startedAt
}

/** Imports a CSV file with the fields of the bench table into that table. */
export async function importAgain(product: Product, csv: Uint8Array<ArrayBuffer>): Promise<void> {
  const door = { url: `http://127.0.0.1:${product.port}`, token: product.session }
  const trpc = createTrpcClient(door.url, door.token)
  const { tableId, baseId } = product
  const { fields } = await trpc.schema.table.query({ tableId })
  const idOf = (title: string) => fields.find((field) => field.title === title)?.id ?? ''
  const { jobId } = await trpc.imports.start.mutate({
    baseId,
    uploadId: await upload(door, csv),
    format: formatOf(csv),
    width: FIELDS.length,
    columns: FIELDS.map(({ title }, index) => ({ index, fieldId: idOf(title) })),
    tableId,
  })
  resultOf(await ended(door, jobId, 600_000))
}

/** A CSV import, upload and all, against bun:sqlite inserting the same rows, parsed already, in one transaction. */
export async function measureImport(product: Product, rows: number): Promise<Line> {
  const csv = csvOf(rows)
  const ratios: number[] = []
  const times = { ours: 0, bare: 0 }
  for (let round = 0; round < 3; round++) {
    const folder = mkdtempSync(join(tmpdir(), 'sheaf-bare-import-'))
    const bareStart = performance.now()
    makeBareFile(join(folder, 'bare.db'), rows)
    times.bare = performance.now() - bareStart
    rmSync(folder, { recursive: true, force: true })
    times.ours = await timeImport(product, csv, rows, `Import ${round}`)
    ratios.push(times.bare / times.ours)
  }
  const ratio = ratios.sort((a, b) => a - b)[1] ?? 0
  return {
    work: `import ${rows.toLocaleString('en')} rows of CSV`,
    result: `${ratio.toFixed(2)} of bare`,
    promise: '≥ 0.33',
    holds: ratio >= 1 / 3,
    detail: `ours ${times.ours.toFixed(0)} ms, bare ${times.bare.toFixed(0)} ms`,
  }
}
