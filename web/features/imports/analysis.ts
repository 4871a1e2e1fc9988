import type { CsvFormat } from '../../../src/core/csv/format.ts'
import type { DetectedField } from '../../../src/core/fields/detect.ts'

/** Samples of a file: its beginning, and slices spread over the rest. */
export interface FileSamples {
  head: ArrayBuffer
  /** Each starts at an even byte, so that UTF-16 code units stay whole. */
  slices: ArrayBuffer[]
  /** Size of the whole file in bytes. */
  size: number
}

/** Request to the worker, which detects the format options that `chosen` lacks. */
export interface AnalyseRequest {
  id: number
  samples: FileSamples
  chosen: Partial<CsvFormat>
  /** Reads `01/02/2024` as January 2 where a column is ambiguous. */
  monthFirst: boolean
}

/** Detected format, fields and sample rows of a file. */
export interface Analysis {
  format: CsvFormat
  /** One per column. */
  fields: DetectedField[]
  /** Rows from the beginning, then from the slices; each as wide as `fields`. */
  rows: string[][]
  /** Number of `rows` that come from the beginning. */
  headRows: number
  /** Rows of the file without the header. */
  rowCount: number
  /** False if `rowCount` is estimated. */
  isExact: boolean
  /** Number of quoting errors in the samples. */
  quoteProblems: number
}

/**
 * Why a file could not be read: not a text file (`foreign`), not in the chosen or detected format (`format`), or another
 * error, which is worth a retry (`other`).
 */
export type AnalyseFault = 'foreign' | 'format' | 'other'

export type AnalyseReply =
  | { id: number; ok: true; analysis: Analysis }
  | { id: number; ok: false; message: string; fault: AnalyseFault }

/** A file cannot be read as CSV; the message is localized. */
export class AnalyseError extends Error {
  override readonly name = 'AnalyseError'
  readonly fault: AnalyseFault

  constructor(message: string, fault: AnalyseFault) {
    super(message)
    this.fault = fault
  }
}
