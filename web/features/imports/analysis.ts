import type { CsvFormat } from '../../../src/core/csv/format.ts'
import type { DetectedField } from '../../../src/core/fields/detect.ts'

/** Parts of a file that tell enough of it: its beginning, and pieces from all over it. */
export interface FileSamples {
  head: ArrayBuffer
  /** Each begins at an even byte, so that UTF-16 is not cut in two. */
  slices: ArrayBuffer[]
  /** Bytes of the whole file. */
  size: number
}

/** What the worker is asked; what is not chosen it finds out. */
export interface AnalyseRequest {
  id: number
  samples: FileSamples
  chosen: Partial<CsvFormat>
  /** How `01/02/2024` is read where a column leaves it open. */
  monthFirst: boolean
}

/** What the file seems to hold. */
export interface Analysis {
  format: CsvFormat
  /** One for each column of the file. */
  fields: DetectedField[]
  /** Records from the beginning, then from all over the file; each as wide as `fields`. */
  rows: string[][]
  /** How many of `rows` are the first of the file. */
  headRows: number
  /** Records in the file, without the header. */
  rowCount: number
  /** False where `rowCount` is worked out from a part of the file. */
  isExact: boolean
  /** What is wrong with the quotes in the part that was read. */
  quoteProblems: number
}

/**
 * Why a file could not be read: it is of another kind, it is not in the format that was chosen or found, or something
 * else went wrong. Only the last may be gone at the next attempt.
 */
export type AnalyseFault = 'foreign' | 'format' | 'other'

export type AnalyseReply =
  | { id: number; ok: true; analysis: Analysis }
  | { id: number; ok: false; message: string; fault: AnalyseFault }

/** A file that cannot be read as CSV, with the reason in words. */
export class AnalyseError extends Error {
  override readonly name = 'AnalyseError'
  readonly fault: AnalyseFault

  constructor(message: string, fault: AnalyseFault) {
    super(message)
    this.fault = fault
  }
}
