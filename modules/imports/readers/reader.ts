import type { EncodingReading } from '../../../src/core/csv/guess-encoding.ts'
import type { ParentTable } from '../../../src/core/imports/analysis.ts'
import type { ImportFormat } from '../../../src/core/imports/format.ts'

/** A violation of the file's syntax, or a cell that it has no value for. */
export interface RowProblem {
  /**
   * `Titles`: the row repeats the titles and is read as an empty one. `Cell`: the cell, which is read as an empty one, holds an error of a
   * formula or the like, so that an update keeps the value of the record.
   */
  kind?: 'Quotes' | 'Titles' | 'Cell'
  /** Number of the row in the file, from 1. */
  row: number
  /** Title of the column; '' if the whole row is affected. */
  column: string
  /** Position of the column, if the problem only matters where it is imported. */
  index?: number
  value: string
  reason: string
}

export interface RowBatch {
  /** Cells as text that field types parse, empty for no value. Without the titles. */
  rows: string[][]
  /** Number of the first row in the file, from 1. */
  firstRow: number
  problems: RowProblem[]
  /** Progress, of the table's `size`. */
  done: number
}

/** An opened table of a file. */
export interface OpenTable {
  /** Titles of the columns; null if the table has none. */
  titles: string[] | null
  /** The encoding of a text file, '' for others. */
  encoding: string
  /** True if some characters are invalid; they are read as U+FFFD. */
  isDamaged: boolean
  /** False if a row with more cells than most has a delimiter too many. */
  hasFixedWidth: boolean
  /** Total of `RowBatch.done`. */
  size: number
  /** Positions of columns whose cells are texts even if they are digits, as far as `rows` has read. */
  textColumns?: ReadonlySet<number>
  /** By column: cells with links that their texts do not show and that are left out, after `rows` has ended. */
  linkCounts?(): readonly number[]
  /** Positions of columns whose cells all have links behind the same text, after `rows` has ended. */
  linkColumns?(): readonly number[]
  /** Positions of columns whose times are all formatted as durations, as far as `rows` has read. */
  durationColumns?(): readonly number[]
  /** Positions of columns with numbers such as `1.234`, whose point is a decimal one in any file, as far as `rows` has read. */
  pointColumns?: ReadonlySet<number>
  /** Reads the rows in constant memory, once. @throws FileError */
  rows(): AsyncGenerator<RowBatch>
  /** What a person should know of the rows before they are imported, as far as `rows` has read. */
  notes?(): string[]
  /** The currencies of each column's numbers, as far as `rows` has read. The cells themselves are plain numbers. */
  currencies?(): readonly FormattedCurrencies[]
}

/** A number that would be a thousand times larger as text with a decimal comma. */
export const AMBIGUOUS_NUMBER = /^-?[1-9]\d{0,2}\.\d{3}%?$/

/** The currencies in which the numbers of a column are formatted. */
export interface FormattedCurrencies {
  /** Symbols or ISO 4217 codes. */
  marks: readonly string[]
  /** True if each number has one. */
  ofAll: boolean
}

/** A table that a file offers. */
export interface FoundTable<Format> {
  /** Suggested title; '' for that of the file. */
  name: string
  isHidden: boolean
  /** Null if the table is empty or cannot be imported. */
  format: Format | null
  /** Why it cannot be imported. */
  problem: string | null
  /** Parts of the file that are left out. */
  notes?: string[]
  /** Readings of a text whose encoding is not clear, for a person to choose from. */
  encodings?: EncodingReading[]
  /** Set for lists of objects in the records of another table. */
  parent?: ParentTable
}

/**
 * Called with true before a library parses a file in one go, and with false afterwards. Meanwhile the thread receives no
 * messages and holds nothing open, so it can be terminated.
 */
export type OnBlocked = (isBlocked: boolean) => void

/** Settings of a format that a person has changed. Null stands for none where one would be detected. */
export type Chosen<Format> = { [Key in keyof Format]?: Format[Key] | (Key extends 'range' ? null : never) }

/** Reads one kind of file. Runs in a thread. */
export interface ImportReader<Format extends ImportFormat> {
  kind: Format['kind']
  /**
   * Lists the tables of a file, in its order.
   * @param chosen settings that the user has changed; the others are detected
   * @throws FileError for a broken, encrypted or empty file
   */
  tables(path: string, chosen: Chosen<Format>, onBlocked: OnBlocked): Promise<FoundTable<Format>[]>
  /** @throws FileError */
  open(path: string, format: Format, onBlocked: OnBlocked): Promise<OpenTable>
}
