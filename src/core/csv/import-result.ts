/** A value of an imported file that the table lacks or holds differently. */
export interface ImportProblem {
  /** Number of the record in the file, from 1, with the header. */
  row: number
  /** Title of the field; '' if the whole row is affected. */
  column: string
  value: string
  reason: string
}

/** Result of a successful import job. */
export interface ImportResult {
  tableId: string
  title: string
  isNewTable: boolean
  fileName: string
  /** Rows added to the table. */
  rows: number
  /** Rows skipped entirely. */
  rowsRefused: number
  /** Cells left empty because their value did not fit, and cells beyond the last column. */
  cellsRefused: number
  /** Number of lines of the downloadable report; 0 without a report. */
  problems: number
  /** The first problems, shown without downloading the report. */
  samples: ImportProblem[]
  encoding: string
  seconds: number
  /** Id of the log entry that added the rows; null for a new table. */
  changeId: number | null
}
