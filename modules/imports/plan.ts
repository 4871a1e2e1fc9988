import type { CsvFormat } from '../../src/core/csv/format.ts'
import type { ImportResult } from '../../src/core/csv/import-result.ts'
import type { CellValue, FieldOptions } from '../../src/core/fields/field-type.ts'
import type { FieldTypeName } from '../../src/core/fields/index.ts'
import type { EngineLocation } from '../../src/dialects/dialect.ts'
import type { ImportLink } from './link-column.ts'

/** One column of the file and where its values go. */
export interface ImportColumn {
  /** Position in the file, from 0. */
  index: number
  /** Title of the field, for the report. */
  title: string
  fieldId: string
  /** Name in the database; of a link's names in the staging table. */
  column: string
  type: FieldTypeName
  options: FieldOptions
  required: boolean
  /** Value of a required field where the cell is empty. */
  fallback: CellValue
  /** True where options that a select field does not have yet are added to it. */
  grows: boolean
  /** Set where the cells name records of another table. */
  link?: ImportLink
}

/** A column whose cells name linked records. */
export type LinkColumn = ImportColumn & { link: ImportLink }

export const isLinkColumn = (column: ImportColumn): column is LinkColumn => column.link !== undefined

/** Column of a staging table that holds each record's number in the file. */
export const ROW_COLUMN = 'sheaf_row'

/** Column of a staging table that holds the names that the n-th column links to. */
export const linkColumnName = (index: number): string => `sheaf_link_${index}`

/** The table beside a staging table in which the links of its rows are gathered. */
export const linksTableOf = (staging: string): string => `${staging}_links`

/**
 * Its columns: the place in which a link was read, of which column of the file and which row, its record, and the
 * record that it names.
 */
export const LINKS_COLUMNS = ['place', 'link', 'row', 'own', 'target'] as const

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
  /** Most files of one cell, where its field does not say. */
  maxFiles: number
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
export type ToWorker =
  | { type: 'start'; plan: ImportPlan }
  | { type: 'go' }
  | { type: 'cancel' }
  /** The answer to `files`: those that the person may name. */
  | { type: 'files'; known: KnownFile[] }

/** What the server knows of a file of its store. */
export interface KnownFile {
  path: string
  mimetype: string
  /** Bytes. */
  size: number
  /** Pixels, of images. */
  width: number | null
  height: number | null
}

export type FromWorker =
  | { type: 'lease' }
  | { type: 'release' }
  /** Asks which of these files of the store the person may name in a cell of the base. */
  | { type: 'files'; paths: string[] }
  | { type: 'progress'; rows: number; total: number }
  | { type: 'done'; outcome: ImportOutcome }
  /** `isRefusal`: the message is for the person, because of the file. */
  /** `code`: what the system or the database calls the error, if anything. */
  | { type: 'failed'; message: string; code: string | undefined; isRefusal: boolean }
