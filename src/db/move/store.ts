import { z } from 'zod'
import type { CellValue } from '../../core/fields/field-type.ts'
import { fieldType } from '../../core/fields/index.ts'
import type { Statement } from '../../dialects/dialect.ts'

/**
 * Kinds of columns, which both engines have. The canonical text of a value depends on its kind only: `12` (integer),
 * `1.5e+30` as JavaScript prints numbers (real), `true` (boolean), `2026-01-02`, `2026-01-02 03:04:05+00:00`,
 * `03:04:05`, JSON with sorted keys, or the text itself.
 */
export const COLUMN_KINDS = [
  'integer',
  'real',
  'text',
  'boolean',
  'date',
  'datetime',
  'time',
  'json',
] as const

export type ColumnKind = (typeof COLUMN_KINDS)[number]

/** The kind of the column that stores values of a field type. */
export function columnKindOf({ type }: { type: string }): ColumnKind {
  const { storage } = fieldType(type)
  if (storage === 'id') return 'integer'
  return storage === 'longText' ? 'text' : storage
}

/** A canonical text as the value of a cell. */
export function cellOf(text: string | null, kind: ColumnKind): CellValue {
  if (text === null) return null
  if (kind === 'integer' || kind === 'real') return Number(text)
  return kind === 'boolean' ? text === 'true' : text
}

/** A canonical text as SQLite stores it: integers without loss, booleans as 1 and 0. */
export function sqliteValueOf(text: string | null, kind: ColumnKind): string | number | bigint | null {
  if (text === null) return null
  if (kind === 'integer') return BigInt(text)
  if (kind === 'real') return Number(text)
  if (kind === 'boolean') return text === 'true' ? 1 : 0
  return text
}

const StoredColumn = z.strictObject({
  name: z.string(),
  kind: z.enum(COLUMN_KINDS),
  /** True if the database numbers the rows in this column. */
  isIdentity: z.boolean(),
  isRequired: z.boolean(),
  /** Canonical text of the default value. */
  defaultText: z.string().nullable(),
})
export type StoredColumn = z.output<typeof StoredColumn>

/** A table as both engines can create it. */
export const StoredTable = z.strictObject({
  name: z.string(),
  columns: z.array(StoredColumn),
  /** Columns of the primary key, in its order. */
  key: z.array(z.string()),
  indexes: z.array(z.strictObject({ columns: z.array(z.string()), isUnique: z.boolean() })),
  /** The last number that the database has assigned to a row; null without numbering or before the first row. */
  lastId: z.string().nullable(),
})
export type StoredTable = z.output<typeof StoredTable>

/** A row as the canonical texts of its columns, in the table's order. */
export type StoredRow = readonly (string | null)[]

/** A selection of rows by the canonical texts of a column of texts or integers. */
export interface RowsOnly {
  column: string
  texts: readonly string[]
}

/** The tables of one database: the metadata, or the home of a base. */
export interface TableStore {
  /** For messages: `data/bases/p1.db`, `schema nc_p1`. */
  readonly name: string
  /** All tables but those that an engine has for itself, those that others refer to first. */
  tables(): Promise<StoredTable[]>
  /**
   * All rows after a key, in batches, in the order of the key's canonical texts and numbers.
   *
   * @param only leaves out rows with other texts in these columns
   */
  rows(table: StoredTable, after?: StoredRow | null, ...only: RowsOnly[]): AsyncIterable<StoredRow[]>
  /** The key of the last row; null without rows. */
  lastKey(table: StoredTable): Promise<StoredRow | null>
  /** Creates the table without indexes, in one step. */
  create(table: StoredTable): Promise<void>
  /** Adds rows in one transaction. */
  insert(table: StoredTable, rows: StoredRow[]): Promise<void>
  /** Removes the rows with these texts in the columns. Returns their number. */
  remove(table: StoredTable, first: RowsOnly, ...further: RowsOnly[]): Promise<number>
  /** Removes all rows of a table that nobody else uses. */
  clear(table: string): Promise<void>
  /**
   * Builds indexes on a filled table that nobody else uses.
   *
   * @param turn runs a step while no other writer of the database can; for engines where an index keeps writers waiting
   */
  buildIndexes(
    table: string,
    indexes: readonly Statement[],
    turn: (step: () => Promise<void>) => Promise<void>,
  ): Promise<void>
  /** Continues the numbering of a table after its `lastId`. */
  continueIds(table: StoredTable): Promise<void>
  /** Creates missing indexes, and continues the numbering where the other database's ends. */
  complete(table: StoredTable): Promise<void>
  close(): Promise<void>
}

/** The position of each key column in a row. */
export const keyPositions = ({ columns, key }: StoredTable): number[] =>
  key.map((name) => columns.findIndex((column) => column.name === name))

/** Rows per batch, and the length of their texts from which a batch ends earlier. */
export const BATCH_ROWS = 1000
export const BATCH_LENGTH = 4_000_000

/** Length of a row's texts. */
export const lengthOf = (row: StoredRow): number => row.reduce((sum, text) => sum + (text?.length ?? 0), 0)

/** A number as JavaScript prints it, also from another notation: `1e+30`, `Infinity`. */
export const canonicalReal = (value: number | string): string => String(Number(value) + 0)
