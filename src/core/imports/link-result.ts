import type { ImportProblem } from '../csv/import-result.ts'

/** A column of an import that became a link. */
export interface LinkedColumn {
  tableId: string
  /** Titles of the table, the field and the linked table. */
  table: string
  field: string
  related: string
  /** Cells whose names all have a record. */
  linked: number
  /** Cells with a name that no record has, or several. */
  refused: number
  /** Records that were created for names without one. */
  created: number
  /** Why the column stayed text; null for a link. */
  problem: string | null
}

/** Result of the job that links the columns of imported tables. */
export interface LinkResult {
  columns: LinkedColumn[]
  /** Number of lines of the downloadable report; 0 without a report. */
  problems: number
  /** The first problems. */
  samples: ImportProblem[]
}
