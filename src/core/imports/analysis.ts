import type { EncodingReading } from '../csv/guess-encoding.ts'
import type { DetectedField } from '../fields/detect.ts'
import type { ImportFormat } from './format.ts'
import type { SecondTable } from './second-table.ts'

/** A table found in a file: format, fields and sample rows. */
export interface Analysis {
  format: ImportFormat
  /** One per column. */
  fields: DetectedField[]
  /** Rows from the beginning, then from the rest of the table; each as wide as `fields`. */
  rows: string[][]
  /** Number of `rows` that come from the beginning. */
  headRows: number
  /** Rows of the table without the titles. */
  rowCount: number
  /** False if `rowCount` is estimated. */
  isExact: boolean
  /** True if the types fit every row of the table, not only the samples. */
  isComplete: boolean
  /** Number of quoting errors in the samples. */
  quoteProblems: number
  /** Number of rows in the samples that repeat the titles and are left out. */
  repeatedTitles?: number
  /** Titles of another table below, whose rows would be read as rows of this one. */
  secondTable?: SecondTable | null
  /** Readings of a text whose encoding is not clear, for a person to choose from; the first one is shown. */
  encodings?: EncodingReading[]
}

/** A table of a file that holds several, such as a sheet of a workbook. */
export interface TableAnalysis {
  /** Suggested title; '' for that of the file. */
  name: string
  /** True for hidden sheets, which are offered but not preselected. */
  isHidden: boolean
  /** Null for an empty table, and for one that cannot be imported. */
  analysis: Analysis | null
  /** Why the table cannot be imported. */
  problem: string | null
  /** What a person should know before the import, such as parts of the file that are left out. */
  notes?: string[]
  /**
   * Set for lists of objects in the records of another table, whose first column has the row numbers of these records. Such
   * tables are offered; by default the other table has the lists as JSON (spec §5).
   */
  parent?: ParentTable
}

/** The table whose records hold the lists of another. */
export interface ParentTable {
  /** Position among the tables of the file. */
  table: number
  /** Position of the column with the lists. */
  column: number
}

/** Messages of an analysis on the server, one JSON text per line. */
export type AnalysisMessage =
  | { type: 'progress'; rows: number }
  | { type: 'done'; tables: TableAnalysis[] }
  /** `isFinal`: the file is to blame, so that another try cannot help. */
  | { type: 'failed'; message: string; isFinal: boolean }
