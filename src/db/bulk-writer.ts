import type { CellValue } from '../core/fields/field-type.ts'
import type { Dialect, Transaction } from '../dialects/dialect.ts'

/** Rows of one table that are written again and again: the same columns, and the same values in some. */
export interface RowShape {
  table: string
  /** Columns whose values come with each row, in the order of its values. */
  columns: string[]
  /** Columns that are the same in every row. */
  constants: { column: string; value: CellValue }[]
}

/**
 * A worker thread's own connection to a base's home, for writes that grow with a table. The main
 * thread holds the home's write lease (`Engine.exclusively`) for each call that writes.
 */
export interface BulkWriter {
  readonly dialect: Dialect
  /** Writes rows in one transaction that is durable with the next `write`, not before. */
  insert(shape: RowShape, rows: CellValue[][]): Promise<void>
  /** Runs `work` in one transaction, durable when this resolves; what it throws takes all of it back. */
  write<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
  /** Where the engine leaves it to us: moves what was written to its place. Needs no lease: writers go on. */
  checkpoint(): void
  close(): Promise<void>
}
