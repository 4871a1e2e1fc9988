import type { CsvFormat } from '../../src/core/csv/format.ts'
import type { ImportResult } from '../../src/core/csv/import-result.ts'
import type { CellValue, FieldOptions } from '../../src/core/fields/field-type.ts'
import type { FieldTypeName } from '../../src/core/fields/index.ts'
import type { EngineLocation } from '../../src/dialects/dialect.ts'

/** One column of the file and where its values go. */
export interface ImportColumn {
  /** Position in the file, from 0. */
  index: number
  /** Title of the field, for the report. */
  title: string
  fieldId: string
  /** Name in the database. */
  column: string
  type: FieldTypeName
  options: FieldOptions
  required: boolean
  /** Value where the cell is empty. */
  fallback: CellValue
  /** True where options that a select field does not have yet are added to it. */
  grows: boolean
}

/** Column of a staging table that holds each record's number in the file. */
export const ROW_COLUMN = 'sheaf_row'

/** What becomes of the staging table once it is filled, in the worker. */
export type ImportFinish =
  /** It will be the new table: its index is made. */
  | { kind: 'index'; columns: string[] }
  /** Its rows move to a table that exists, in one transaction with their line in the log. */
  | {
      kind: 'append'
      target: string
      tableId: string
      constants: { column: string; value: CellValue }[]
      keyColumn: string
      orderColumn: string
      /** Columns of auto numbers, each so much behind the record's id. */
      numbered: { column: string; behind: number }[]
      /** Columns whose values must be new. */
      unique: { column: string; title: string }[]
    }

/** All that the worker needs to know; plain values, as they go to another thread. */
export interface ImportPlan {
  jobId: string
  actorId: string
  /** The uploaded file. */
  path: string
  /** Where the refused rows and cells are written, if there are any. */
  reportPath: string
  /** Where the base is: `Engine.location`. */
  location: EngineLocation
  staging: string
  format: CsvFormat
  columns: ImportColumn[]
  constants: { column: string; value: CellValue }[]
  /** Columns of the file, the unticked ones too: cells beyond them are reported. */
  width: number
  /** Column that takes the record's number in the file; its place, in a new table. */
  rowColumn: string
  /** Zone of times without an offset, where the field says `local`. */
  timeZone: string
  finish: ImportFinish
}

/** What the worker says of a finished import. */
export interface ImportOutcome
  extends Pick<
    ImportResult,
    'rows' | 'rowsRefused' | 'cellsRefused' | 'problems' | 'samples' | 'encoding' | 'changeId'
  > {
  /** Options that were found for the select fields, by field id; null: too many, text is kept instead. */
  choices: Record<string, string[] | null>
}

/** What the main thread and the worker tell each other. */
export type ToWorker = { type: 'start'; plan: ImportPlan } | { type: 'go' } | { type: 'cancel' }

export type FromWorker =
  | { type: 'lease' }
  | { type: 'release' }
  | { type: 'progress'; rows: number; total: number }
  | { type: 'done'; outcome: ImportOutcome }
  /** `isRefusal`: the message is for the person, because of the file. */
  | { type: 'failed'; message: string; isRefusal: boolean }
