import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zipSync } from 'fflate'
import type { ImportFormat } from '../../src/core/imports/format.ts'
import { ended, formatOf, type NewTableImport, resultOf, startImport, upload } from '../imports/support.ts'
import { createTrpcClient } from '../support/client.ts'
import { FIELDS, makeBareFile, makeRows } from './bare-table.ts'
import { LARGE_COLUMNS, LARGE_WORKBOOK, makeLargeFiles } from './large-files.ts'
import { cpuSeconds, ownMb } from './processes.ts'
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

/** Imports a file into a new table, and gives how long the job took. */
export async function timeImport(
  product: Product,
  file: Uint8Array<ArrayBuffer>,
  rows: number,
  title: string,
  otherFormat?: ImportFormat,
): Promise<number> {
  const door = { url: `http://127.0.0.1:${product.port}`, token: product.session }
  const startedAt = performance.now()
  const jobId = await startImport(door, product.baseId, file, { title, columns: FIELDS, otherFormat })
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

const JSON_FORMAT: ImportFormat = {
  kind: 'json',
  table: [],
  flatten: true,
  columns: FIELDS.map(({ title }) => [title]),
  decimal: '.',
}
const SHEET_FORMAT: ImportFormat = {
  kind: 'excel',
  sheet: 0,
  titleRow: 1,
  firstRow: 2,
  firstColumn: 0,
  decimal: '.',
}

/** The bench table's rows as JSON: a list, or a record per line. */
function jsonOf(count: number, isList: boolean): Uint8Array<ArrayBuffer> {
  const records = Array.from(makeRows(count), (row) => JSON.stringify(row))
  return new TextEncoder().encode(isList ? `[${records.join(',\n')}]` : records.join('\n'))
}

/** The bench table's rows as a workbook with shared strings, as spreadsheet programs write it. */
function workbookOf(count: number): Uint8Array<ArrayBuffer> {
  const known = new Map<string, number>()
  function cell(value: string | number): string {
    if (typeof value === 'number') return `<c><v>${value}</v></c>`
    const at = known.get(value) ?? known.size
    known.set(value, at)
    return `<c t="s"><v>${at}</v></c>`
  }
  const rows = [`<row>${FIELDS.map(({ title }) => cell(title)).join('')}</row>`]
  for (const row of makeRows(count)) rows.push(`<row>${Object.values(row).map(cell).join('')}</row>`)
  const strings = Array.from(known.keys(), (text) => `<si><t>${text}</t></si>`)
  const parts = {
    '[Content_Types].xml': '<Types/>',
    'xl/workbook.xml': '<workbook><sheets><sheet name="A" sheetId="1" r:id="r1"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels':
      '<Relationships><Relationship Id="r1" Target="worksheets/sheet1.xml"/></Relationships>',
    'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${rows.join('')}</sheetData></worksheet>`,
    'xl/sharedStrings.xml': `<sst>${strings.join('')}</sst>`,
  }
  const encoder = new TextEncoder()
  const files = Object.entries(parts).map(([name, text]) => [name, encoder.encode(text)] as const)
  return new Uint8Array(zipSync(Object.fromEntries(files), { level: 1 }))
}

/** Imports of other formats against that of the same rows as CSV. */
export async function measureFormats(product: Product, rows: number): Promise<Line[]> {
  const formats = [
    { name: 'JSON', file: jsonOf(rows, true), format: JSON_FORMAT, least: 1 / 2 },
    { name: 'NDJSON', file: jsonOf(rows, false), format: JSON_FORMAT, least: 1 / 2 },
    { name: 'Excel', file: workbookOf(rows), format: SHEET_FORMAT, least: 1 / 5 },
  ]
  const csv = csvOf(rows)
  const lines: Line[] = []
  for (const { name, file, format, least } of formats) {
    const rounds: { ratio: number; plain: number; other: number }[] = []
    for (let round = 0; round < 3; round++) {
      const plain = await timeImport(product, csv, rows, `CSV beside ${name} ${round}`)
      const other = await timeImport(product, file, rows, `${name} ${round}`, format)
      rounds.push({ ratio: plain / other, plain, other })
    }
    const { ratio, plain, other } = rounds.sort((a, b) => a.ratio - b.ratio)[1] ?? {
      ratio: 0,
      plain: 0,
      other: 0,
    }
    lines.push({
      work: `import ${rows.toLocaleString('en')} rows of ${name}`,
      result: `${ratio.toFixed(2)} of CSV`,
      promise: `≥ ${least.toFixed(2)}`,
      holds: ratio >= least,
      detail: `${name} ${other.toFixed(0)} ms, CSV ${plain.toFixed(0)} ms`,
    })
  }
  return lines
}

/** What an import of a large file took. */
interface LargeImport {
  ms: number
  cpuSeconds: number
  /** Memory beyond what the server had before, at its peak. */
  grownMb: number
}

async function measureLarge(
  product: Product,
  path: string,
  rows: number,
  how: NewTableImport,
): Promise<LargeImport> {
  const door = { url: `http://127.0.0.1:${product.port}`, token: product.session }
  const before = { at: performance.now(), cpu: cpuSeconds(product.pid), mb: ownMb(product.pid) }
  let peak = 0
  const timer = setInterval(() => {
    peak = Math.max(peak, ownMb(product.pid))
  }, 50)
  try {
    const jobId = await startImport(door, product.baseId, Bun.file(path), how)
    const result = resultOf(await ended(door, jobId, 1_200_000))
    if (result.rows !== rows) throw new Error(`The import added ${result.rows} of ${rows} rows`)
    return {
      ms: performance.now() - before.at,
      cpuSeconds: cpuSeconds(product.pid) - before.cpu,
      grownMb: peak - before.mb,
    }
  } finally {
    clearInterval(timer)
  }
}

/** Memory that an import of a file of any size takes, in MB. */
const IMPORT_MB = 300

/** Imports a workbook as large as they get, between two imports of the same rows as CSV, since the speed of a machine changes. */
export async function measureLargeWorkbook(product: Product, rows: number): Promise<Line[]> {
  const folder = mkdtempSync(join(tmpdir(), 'sheaf-bench-large-'))
  try {
    const { csv, xlsx } = await makeLargeFiles(folder, rows)
    const columns = LARGE_COLUMNS
    const before = await measureLarge(product, csv, rows, { title: 'Large CSV', columns })
    const workbook = await measureLarge(product, xlsx, rows, {
      title: 'Large workbook',
      columns,
      otherFormat: LARGE_WORKBOOK,
    })
    const after = await measureLarge(product, csv, rows, { title: 'Large CSV again', columns })
    const ms = (before.ms + after.ms) / 2
    const cpu = (before.cpuSeconds + after.cpuSeconds) / 2
    const ratio = ms / workbook.ms
    const work = `import ${rows.toLocaleString('en')} rows of Excel`
    const seconds = (took: number, used: number) => `${(took / 1000).toFixed(1)} s, ${used.toFixed(1)} s cpu`
    return [
      {
        work,
        result: `${ratio.toFixed(2)} of CSV (by cpu ${(cpu / workbook.cpuSeconds).toFixed(2)})`,
        promise: '≥ 0.20',
        holds: ratio >= 1 / 5,
        detail: `Excel ${seconds(workbook.ms, workbook.cpuSeconds)}, CSV ${seconds(ms, cpu)}`,
      },
      {
        work: `${work}, memory`,
        result: `${workbook.grownMb.toFixed(0)} MB more`,
        promise: `≤ ${IMPORT_MB} MB`,
        holds: workbook.grownMb <= IMPORT_MB,
        detail: `a file of ${(Bun.file(xlsx).size / 1e6).toFixed(0)} MB; the same rows as CSV ${before.grownMb.toFixed(0)} MB more`,
      },
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
