import { closeSync, ftruncateSync, openSync, statSync, writeFileSync, writeSync } from 'node:fs'
import type { ImportProblem } from '../../../src/core/csv/import-result.ts'

/** Limit of lines: so many problems have one cause, which these show. */
const MAX_LINES = 100_000
const SAMPLES = 5
const MAX_VALUE = 500
// Spreadsheets read CSV as UTF-8 only with a byte order mark.
const HEAD = '\ufeffRow,Column,Value,Reason\r\n'
const FLUSH_AT = 64 * 1024

/** Collects refused cells and rows as CSV. Creates the file with the first line. */
export interface Report {
  add(problem: ImportProblem): void
  readonly count: number
  readonly samples: ImportProblem[]
  /** Returns a function that removes what is added from now on; it may be called repeatedly. */
  mark(): () => void
  /** Writes what the file lacks. */
  flush(): void
  close(): void
}

/** @param earlier what another report has written to the file, which this one continues */
export function createReport(path: string, earlier?: Pick<Report, 'count' | 'samples'>): Report {
  const samples: ImportProblem[] = [...(earlier?.samples ?? [])]
  let file: number | null = null
  let pending = ''
  let count = earlier?.count ?? 0

  /** False while what is at the path, if anything, was left by an interrupted run. */
  const isBegun = (): boolean => file !== null || (earlier?.count ?? 0) > 0

  function flush(): void {
    if (pending === '') return
    if (!isBegun()) writeFileSync(path, HEAD, { mode: 0o600 })
    file ??= openSync(path, 'a', 0o600)
    writeSync(file, pending)
    pending = ''
  }

  return {
    samples,
    flush,
    get count() {
      return count
    },
    mark() {
      flush()
      const size = isBegun() ? statSync(path).size : Buffer.byteLength(HEAD)
      const marked = { count, samples: samples.length }
      return () => {
        pending = ''
        count = marked.count
        samples.length = marked.samples
        if (file !== null) ftruncateSync(file, size)
      }
    },
    add(problem) {
      count++
      if (samples.length < SAMPLES) samples.push({ ...problem, value: clip(problem.value, 80) })
      if (count > MAX_LINES) return
      const { row, column, value, reason } = problem
      pending += `${[String(row), column, clip(value, MAX_VALUE), reason].map(quote).join(',')}\r\n`
      if (pending.length > FLUSH_AT) flush()
    },
    close() {
      if (count > MAX_LINES) pending += `,,,${quote(`and ${count - MAX_LINES} more`)}\r\n`
      flush()
      if (file !== null) closeSync(file)
    },
  }
}

const clip = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length).toWellFormed()}…` : text

/**
 * Text that spreadsheets run as a formula (OWASP, CSV injection), except numbers; an apostrophe prevents it.
 */
const FORMULA = /^[=+\-@\t\r](?![\d.,]*(?:e[+-]?\d+)?$)/i

function quote(text: string): string {
  const shown = FORMULA.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(shown) ? `"${shown.replaceAll('"', '""')}"` : shown
}
