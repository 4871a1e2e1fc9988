import type { CsvFormat } from '../../src/core/csv/format.ts'
import type { ImportResult } from '../../src/core/csv/import-result.ts'
import type { CellValue, FieldOptions } from '../../src/core/fields/field-type.ts'
import type { FieldTypeName } from '../../src/core/fields/index.ts'
import type { EngineLocation } from '../../src/dialects/dialect.ts'
import type { ImportLink } from './link-column.ts'

/** A column of the file and its target. */
export interface ImportColumn {
  /** Position in the file, from 0. */
  index: number
  /** The field's title, for the report. */
  title: string
  fieldId: string
  /** Column in the database; for a link, the column of the staging table with the names. */
  column: string
  type: FieldTypeName
  options: FieldOptions
  required: boolean
  /** Value of a required field for empty cells. */
  fallback: CellValue
  /** True if new options are added to a select field. */
  grows: boolean
  /** Set if the cells name linked records. */
  link?: ImportLink
}

export type LinkColumn = ImportColumn & { link: ImportLink }

export const isLinkColumn = (column: ImportColumn): column is LinkColumn => column.link !== undefined

/** Staging column with the record's number in the file. */
export const ROW_COLUMN = 'sheaf_row'

/** Staging column with the names in the file's n-th column. */
export const linkColumnName = (index: number): string => `sheaf_link_${index}`

/** Table next to a staging table that collects the links of its rows. */
export const linksTableOf = (staging: string): string => `${staging}_links`

/**
 * Columns of the links table: order in which the link was read, the file's column and row, its record, and the
 * linked record.
 */
export const LINKS_COLUMNS = ['place', 'link', 'row', 'own', 'target'] as const

/** The worker's last step on the filled staging table. */
export type ImportFinish =
  /** Indexes it: it becomes the new table. */
  | { kind: 'index'; columns: string[] }
  /** Moves its rows to an existing table and logs them, in one transaction. */
  | {
      kind: 'append'
      target: string
      tableId: string
      constants: { column: string; value: CellValue }[]
      keyColumn: string
      orderColumn: string
      /** Columns of auto numbers: each is the record's id minus `behind`. */
      numbered: { column: string; behind: number }[]
      /** Columns with unique values. */
      unique: { column: string; title: string }[]
    }

/** Everything the worker needs, as plain values for the other thread. */
export interface ImportPlan {
  jobId: string
  actorId: string
  path: string
  /** File for refused rows and cells, created if there are any. */
  reportPath: string
  location: EngineLocation
  staging: string
  format: CsvFormat
  columns: ImportColumn[]
  constants: { column: string; value: CellValue }[]
  /** Columns of the file, including unselected ones; cells beyond them are reported. */
  width: number
  /** Column for the record's number in the file; in a new table, its order column. */
  rowColumn: string
  /** Limit of files per cell for fields without their own. */
  maxFiles: number
  /** Time zone of times without an offset, in `local` fields. */
  timeZone: string
  finish: ImportFinish
}

/** The worker's result. */
export interface ImportOutcome
  extends Pick<
    ImportResult,
    'rows' | 'rowsRefused' | 'cellsRefused' | 'problems' | 'samples' | 'encoding' | 'changeId'
  > {
  /** Options found for select fields, by field id; null: too many, the field becomes text. */
  choices: Record<string, string[] | null>
}

/** Messages between the main thread and the worker. */
export type ToWorker =
  | { type: 'start'; plan: ImportPlan }
  | { type: 'go' }
  | { type: 'cancel' }
  /** Answers `files`: those that the actor may use. */
  | { type: 'files'; known: KnownFile[] }

/** A stored file. */
export interface KnownFile {
  path: string
  mimetype: string
  /** Bytes. */
  size: number
  /** Pixels; null unless it is an image. */
  width: number | null
  height: number | null
}

export type FromWorker =
  | { type: 'lease' }
  | { type: 'release' }
  /** Asks which of these stored files the actor may use. */
  | { type: 'files'; paths: string[] }
  | { type: 'progress'; rows: number; total: number }
  | { type: 'done'; outcome: ImportOutcome }
  /**
   * `isRefusal`: the file is to blame, so the message is shown to the user.
   * `code`: error code of the system or database.
   */
  | { type: 'failed'; message: string; code: string | undefined; isRefusal: boolean }
