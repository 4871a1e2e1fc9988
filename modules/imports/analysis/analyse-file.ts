import { createGuardCheck } from '../../../src/core/csv/format.ts'
import { type DetectedField, detectFields } from '../../../src/core/fields/detect.ts'
import { asDuration } from '../../../src/core/fields/detect-dates.ts'
import { createEvidence, type Evidence, type TypeChecker } from '../../../src/core/fields/detect-evidence.ts'
import { asAmounts, asDigits, detectDecimalMark } from '../../../src/core/fields/detect-numbers.ts'
import type { DecimalMark } from '../../../src/core/fields/number-text.ts'
import type { Analysis, TableAnalysis } from '../../../src/core/imports/analysis.ts'
import { FileError } from '../../../src/core/imports/file-error.ts'
import type { ChosenFormat, ImportFormat } from '../../../src/core/imports/format.ts'
import { createSecondTableFinder } from '../../../src/core/imports/second-table.ts'
import { m } from '../../../src/messages.gen.ts'
import { MAX_COLUMNS } from '../input.ts'
import { type Chosen, kindOfFile, type OnBlocked, type OpenTable, readerOf } from '../readers/index.ts'
import { createRowSample, widthOfRow } from './row-sample.ts'

export interface AnalysisOptions {
  path: string
  chosen: ChosenFormat
  /** Checks the types against every row; otherwise only the first rows are read. */
  readAll: boolean
}

/** Rows read unless all are. */
const SOME_ROWS = 3000
/** Readings of a table until its types fit every row; columns that still do not fit become text. */
const MAX_PASSES = 4

interface AnalysisEvents {
  /** Called with the rows read so far, of all tables and passes. */
  onProgress(rows: number): void
  onBlocked: OnBlocked
}

/**
 * Finds the tables of a file, with types and sample rows for the preview.
 * @throws FileError
 */
export async function analyseFile(
  { path, chosen, readAll }: AnalysisOptions,
  { onProgress, onBlocked }: AnalysisEvents,
): Promise<TableAnalysis[]> {
  if (Bun.file(path).size === 0) throw new FileError(m.imports_error_empty_file())
  const reader = readerOf(await kindOfFile(path))
  let rowsRead = 0
  const count = (rows: number) => {
    rowsRead += rows
    onProgress(rowsRead)
  }
  const tables: TableAnalysis[] = []
  const options = {
    isDecimalChosen: chosen.decimal !== undefined,
    isGuardChosen: chosen.guarded !== undefined,
    readAll,
    count,
  }
  const found = await reader.tables(path, chosen as Chosen<ImportFormat>, onBlocked)
  for (const { format, encodings, ...table } of found) {
    if (format === null) {
      tables.push({ ...table, analysis: null })
      continue
    }
    const {
      analysis,
      problem,
      notes = [],
    } = await analyseTable((as) => reader.open(path, as, onBlocked), format, options)
    const all = [...(table.notes ?? []), ...notes]
    tables.push({
      ...table,
      problem,
      ...(all.length > 0 && { notes: all }),
      analysis: analysis && { ...analysis, encodings },
    })
  }
  return tables
}

interface TableOptions extends Pick<AnalysisOptions, 'readAll'> {
  isDecimalChosen: boolean
  isGuardChosen: boolean
  count(rows: number): void
}

/** Types that follow from the first rows, all of which are in the sample; the others are checked against them while they are read. */
interface FirstTypes {
  fields: DetectedField[]
  check: TypeChecker
}

async function analyseTable(
  openAs: (format: ImportFormat) => Promise<OpenTable>,
  format: ImportFormat,
  tableOptions: TableOptions,
): Promise<Pick<TableAnalysis, 'analysis' | 'problem' | 'notes'>> {
  const { isDecimalChosen, isGuardChosen, readAll, count } = tableOptions
  const open = () => openAs(format)
  const delimiter = format.kind === 'csv' ? format.delimiter : ''
  const table = await open()
  const sample = createRowSample()
  const second = createSecondTableFinder()
  const evidence = createEvidence()
  // The reader has judged by the beginning of the file. A file with formulas of texts is not guarded.
  const mayBeGuarded = format.kind === 'csv' && !format.guarded && !format.formulaTexts && !isGuardChosen
  const guard = mayBeGuarded ? createGuardCheck() : null
  const decimalOf = (rows: string[][], width: number) =>
    isDecimalChosen ? format.decimal : detectDecimalMark(columnsOf(rows, width), delimiter)
  function detect(width: number): { rows: string[][]; decimal: DecimalMark; fields: DetectedField[] } {
    const rows = sample.rows(width)
    const decimal = decimalOf(rows, width)
    const header = Array.from({ length: width }, (_, at) => table.titles?.[at] ?? '')
    const all = [...rows, ...evidence.rows(width)]
    const { pointColumns } = table
    const options = { maxRowsToParse: Number.POSITIVE_INFINITY, decimal, isDecimalChosen, pointColumns }
    return { rows, decimal, fields: detectFields(all, header, options) }
  }
  function widthNow(): number {
    const { titles, hasFixedWidth } = table
    if (hasFixedWidth) return Math.max(widthOfRow(titles ?? []), sample.widest)
    return Math.max(titles?.length ?? sample.widest, sample.usualWidth())
  }

  function detectFirst(): FirstTypes | null {
    const width = widthNow()
    if (width > MAX_COLUMNS) return null
    const { fields, decimal } = detect(width)
    return { fields, check: evidence.checker(fields, decimal) }
  }

  let [done, quoteProblems, repeatedTitles, isWhole] = [0, 0, 0, true]
  /** Set once the sample is full. */
  let first: FirstTypes | null = null
  for await (const batch of table.rows()) {
    for (const [at, row] of batch.rows.entries()) {
      sample.add(row)
      guard?.add(row)
      if (sample.count < SOME_ROWS) second.add(batch.firstRow + at, row)
      if (first) first.check.row(row)
      else if (readAll && sample.isFull) first = detectFirst()
    }
    done = batch.done
    const titles = batch.problems.filter(({ kind }) => kind === 'Titles').length
    repeatedTitles += titles
    quoteProblems += table.hasFixedWidth ? 0 : batch.problems.length - titles
    count(batch.rows.length)
    if (sample.count < SOME_ROWS) continue
    if (widthNow() > MAX_COLUMNS) break
    if (readAll) continue
    isWhole = false
    break
  }
  if (mayBeGuarded && guard?.looksGuarded())
    return analyseTable(openAs, { ...format, guarded: true }, tableOptions)
  const width = widthNow()
  if (width > MAX_COLUMNS)
    return {
      analysis: null,
      problem: m.imports_error_columns_found({ count: width, max: MAX_COLUMNS }),
    }
  const currencies = table.currencies?.() ?? []
  const mixed = currencies.flatMap(({ marks }, at) => (marks.length > 1 ? [at] : []))
  const links = table.linkColumns?.() ?? []
  // As plain numbers they would lose their currencies, and as equal texts their addresses.
  if (format.kind === 'excel' && format.amounts === undefined && mixed.length + links.length > 0)
    return analyseTable(openAs, { ...format, amounts: mixed, addresses: [...links] }, tableOptions)
  const { rows, decimal, fields: detected } = detect(width)
  let fields = detected
  if (first && first.fields.length === width && !first.check.misfits().some(Boolean)) {
    fields = first.check.withChoices(first.fields)
  } else if (isWhole && sample.count > rows.length) {
    fields = await fitToAll(open, { fields, detect: () => detect(width).fields, evidence, decimal, count })
  }
  const linkCounts = table.linkCounts?.() ?? []
  const durations = new Set(table.durationColumns?.())
  const analysis: Analysis = {
    format: { ...format, decimal },
    fields: fields
      .map((field, at) => (table.textColumns?.has(at) ? asDigits(field) : field))
      .map((field, at) => (durations.has(at) ? asDuration(field) : field))
      .map((field, at) => asAmounts(field, currencies[at]))
      .map((field, at) => (linkCounts[at] ? { ...field, links: linkCounts[at] } : field)),
    rows,
    headRows: Math.min(rows.length, sample.headRows),
    rowCount: isWhole ? sample.count : Math.round(sample.count * (table.size / Math.max(1, done))),
    isExact: isWhole,
    isComplete: isWhole,
    quoteProblems,
    repeatedTitles,
    secondTable: second.found,
  }
  return { analysis, problem: null, notes: table.notes?.() }
}

interface Fitting {
  fields: DetectedField[]
  detect(): DetectedField[]
  evidence: Evidence
  decimal: DecimalMark
  count(rows: number): void
}

/** Reads the table again until the types that follow from the samples and all exceptions fit every row. */
async function fitToAll(
  open: () => Promise<OpenTable>,
  { fields: first, detect, evidence, decimal, count }: Fitting,
): Promise<DetectedField[]> {
  let fields = first
  for (let pass = 1; pass <= MAX_PASSES; pass++) {
    const check = evidence.checker(fields, decimal)
    const table = await open()
    for await (const { rows } of table.rows()) {
      for (const row of rows) check.row(row)
      count(rows.length)
    }
    const misfits = check.misfits()
    if (!misfits.some(Boolean)) return check.withChoices(fields)
    if (pass === MAX_PASSES)
      return fields.map((field, at) => (misfits[at] ? evidence.asText(field, at) : field))
    fields = detect()
  }
  return fields
}

/** The cells of each column that hold something. */
const columnsOf = (rows: string[][], width: number): string[][] =>
  Array.from({ length: width }, (_, index) =>
    rows.map((row) => row[index] ?? '').filter((cell) => cell.trim() !== ''),
  )
