/** Something of an imported file that is not in the table as it stands there. */
export interface ImportProblem {
  /** Number of the record in the file, from 1, with the header. */
  row: number
  /** Title of the field, or '' where the whole row is meant. */
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
  /** Rows that are in the table now. */
  rows: number
  /** Rows that were left out as a whole. */
  rowsRefused: number
  /** Cells that did not fit and were left empty, and cells beyond the last column. */
  cellsRefused: number
  /** Number of lines of the downloadable report; 0 without a report. */
  problems: number
  /** The first of them, to be shown at once. */
  samples: ImportProblem[]
  /** The encoding that the file was read in. */
  encoding: string
  seconds: number
  /** Position in the base's log of what was added; null for a new table. */
  changeId: number | null
}
