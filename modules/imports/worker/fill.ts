import { AppError } from '../../../src/core/errors.ts'
import { type AttachmentOptions, limitProblem } from '../../../src/core/fields/attachment.ts'
import {
  type AttachmentItem,
  readAttachments,
  writeAttachments,
} from '../../../src/core/fields/attachment-item.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { holdsFiles } from '../../../src/core/fields/traits.ts'
import type { BulkWriter, RowShape } from '../../../src/db/bulk-writer.ts'
import type { Dialect, Transaction } from '../../../src/dialects/dialect.ts'
import { m } from '../../../src/messages.gen.ts'
import { type CreatedRecords, type ImportPlan, isUpdate, UPDATE_COLUMNS } from '../plan.ts'
import type { OpenTable, RowProblem } from '../readers/index.ts'
import type { KnownFile, MainThread } from '../thread.ts'
import { type Converter, rowSkipped } from './convert.ts'
import type { Report } from './report.ts'

/** Rows per transaction: a few milliseconds, then waiting writers get their turn. */
const CHUNK_ROWS = 2000
/** Values per transaction, for wide rows. */
const CHUNK_VALUES = 40_000
/** Bytes of the file between two checkpoints of the write-ahead log, or values, as some files are compressed. */
const CHECKPOINT_BYTES = 3_000_000
const CHECKPOINT_VALUES = 300_000

/** Shared by the steps of an import. */
export interface ImportTools {
  writer: BulkWriter
  converter: Converter
  report: Report
  mainThread: MainThread
}

/** Shared by the steps of an import's last transaction. */
export interface FinishTools extends Omit<ImportTools, 'writer'> {
  tx: Transaction
  dialect: Dialect
  /** Collects the linked records that were created. */
  created: CreatedRecords[]
}

interface Filled {
  rows: number
  rowsRefused: number
}

/**
 * Writes the file's rows to the staging table, one chunk per lease. Rows that an interrupted run has staged are only
 * converted, for the report and the options that they have.
 * @throws FileError for an unreadable file; BAD_REQUEST for an empty one
 */
export async function fill(
  plan: ImportPlan,
  table: OpenTable,
  { writer, converter, report, mainThread }: ImportTools,
): Promise<Filled> {
  const { columns, constants, staging } = plan
  const keepsRefused = isUpdate(plan)
  const shape: RowShape = {
    table: staging,
    columns: [
      plan.rowColumn,
      ...columns.map(({ column }) => column),
      ...(keepsRefused ? [UPDATE_COLUMNS.kept] : []),
    ],
    constants,
  }
  const chunkRows = Math.max(50, Math.min(CHUNK_ROWS, Math.floor(CHUNK_VALUES / shape.columns.length)))
  const resolveFiles = createFileResolver(plan, { converter, report, mainThread })
  const { size } = table
  const filled: Filled = { rows: 0, rowsRefused: 0 }
  let chunk: CellValue[][] = []
  let checkpointAt = CHECKPOINT_BYTES
  let values = 0
  let seen = 0

  async function write(done: number): Promise<void> {
    const rows = await resolveFiles(chunk)
    filled.rowsRefused += chunk.length - rows.length
    chunk = []
    const missing = rows.filter((row) => Number(row[0]) > plan.stagedUpTo)
    if (missing.length > 0) await mainThread.withLease(() => writer.insert(shape, missing))
    else await mainThread.yieldNow()
    filled.rows += rows.length
    values += rows.length * shape.columns.length
    if (done > checkpointAt || values > CHECKPOINT_VALUES) {
      writer.checkpoint()
      checkpointAt = done + CHECKPOINT_BYTES
      values = 0
    }
    mainThread.progress(filled.rows, done === 0 ? filled.rows : Math.round(filled.rows * (size / done)))
  }

  /** Reports what the reader has found. @returns by row, the positions of columns whose cells are not read, but not empty either */
  function reportProblems(problems: readonly RowProblem[]): ReadonlyMap<number, number[]> {
    const lost = new Map<number, number[]>()
    for (const problem of problems) {
      const { kind, row, column, index, value, reason } = problem
      const at = columns.findIndex((each) => each.index === index)
      if (index !== undefined && at < 0) continue
      if (kind !== 'Cell') {
        report.add(problem)
        continue
      }
      converter.refuse(row, column, value, reason)
      const positions = lost.get(row) ?? []
      positions.push(at)
      lost.set(row, positions)
    }
    return lost
  }

  for await (const { rows, firstRow, problems, done } of table.rows()) {
    mainThread.check()
    const lost = reportProblems(problems)
    for (let at = 0; at < rows.length; at++) {
      const cells = rows[at]!
      const row = firstRow + at
      if (isBlank(cells)) continue
      seen++
      if (table.isDamaged && cells.some((text) => text.includes('\ufffd'))) {
        report.add({ row, column: '', value: '', reason: m.imports_report_invalid_utf8() })
      }
      const values = converter.convert(cells, row)
      if (values === null) {
        filled.rowsRefused++
        continue
      }
      values.unshift(row)
      if (keepsRefused) values.push(keptText([...converter.refused, ...(lost.get(row) ?? [])]))
      chunk.push(values)
      if (chunk.length >= chunkRows) await write(done)
    }
  }
  if (chunk.length > 0) await write(size)
  converter.reportColumns()
  if (seen === 0 && table.titles === null) throw new AppError('BAD_REQUEST', m.imports_error_empty_file())
  return filled
}

/** Positions of refused cells as `UPDATE_COLUMNS.kept` has them; null for none. */
const keptText = (positions: readonly number[]): string | null =>
  positions.length === 0 ? null : `,${positions.join(',')},`

/** True for an empty line and for one of delimiters only, as spreadsheets write at the end. */
function isBlank(cells: string[]): boolean {
  for (const text of cells) if (text !== '') return false
  return true
}

/**
 * Resolves the files that rows name before they are written, as the write door does: checks access and the
 * field's limits, and takes their metadata from the store. An unknown path and another person's look the same.
 * Returns the rows to write.
 */
function createFileResolver(
  { columns, maxFiles, finish }: Pick<ImportPlan, 'columns' | 'maxFiles' | 'finish'>,
  { converter, report, mainThread }: Omit<ImportTools, 'writer'>,
): (rows: CellValue[][]) => Promise<CellValue[][]> {
  // Column 0 is the row's number.
  const places = columns.flatMap((column, at) => (holdsFiles(column) ? [{ column, at: at + 1 }] : []))
  if (places.length === 0) return async (rows) => rows
  const keepsRefused = isUpdate({ finish })

  return async (rows) => {
    const items = rows.map((row) => places.map(({ at }) => readAttachments(row[at] ?? null)))
    const paths = new Set(items.flat(2).flatMap(({ path }) => path ?? []))
    const known = paths.size === 0 ? new Map() : await mainThread.knownFiles([...paths])
    return rows.filter((row, index) => {
      let isAccepted = true
      for (const [place, { column, at }] of places.entries()) {
        const files = items[index]?.[place] ?? []
        if (files.length === 0) continue
        const resolved = resolveItems(files, known, { maxCount: maxFiles, ...limitsOf(column.options) })
        row[at] = resolved.value
        if (resolved.value !== null) continue
        const value = files.map(({ title }) => title).join(', ')
        const [number, { title }] = [Number(row[0]), column]
        const required = column.required && !keepsRefused
        if (keepsRefused) row[columns.length + 1] = `${row.at(columns.length + 1) ?? ','}${at - 1},`
        isAccepted &&= !required
        if (required) report.add({ row: number, column: title, value, reason: rowSkipped(resolved.reason) })
        else converter.refuse(number, title, value, resolved.reason)
      }
      return isAccepted
    })
  }
}

const limitsOf = ({ kinds, maxCount, maxSizeMb }: Record<string, unknown>) => ({
  kinds: (kinds ?? []) as AttachmentOptions['kinds'],
  maxSizeMb: (maxSizeMb ?? null) as number | null,
  ...(typeof maxCount === 'number' && { maxCount }),
})

function resolveItems(
  files: AttachmentItem[],
  known: ReadonlyMap<string, KnownFile>,
  limits: AttachmentOptions,
): { value: CellValue; reason: string } {
  const unknown = files.find(({ path }) => path !== undefined && !known.has(path))
  if (unknown) return { value: null, reason: m.imports_report_file_not_found({ file: unknown.title }) }
  const complete = files.map((item): AttachmentItem => {
    const facts = known.get(item.path ?? '')
    if (!facts) return item
    const { mimetype, size, width, height } = facts
    return { ...item, mimetype, size, width: width ?? undefined, height: height ?? undefined }
  })
  const problem = limitProblem(complete, limits)
  return problem === null
    ? { value: writeAttachments(complete), reason: '' }
    : { value: null, reason: problem }
}
