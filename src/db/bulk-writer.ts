import type { CellValue } from '../core/fields/field-type.ts'
import type { Dialect, Transaction } from '../dialects/dialect.ts'
import type { EngineWatch } from './watched-engine.ts'

/** The columns of rows that are inserted in bulk. */
export interface RowShape {
  table: string
  /** Columns whose values differ per row, in the order of the row's values. */
  columns: string[]
  /** Columns with one value for all rows. */
  constants: { column: string; value: CellValue }[]
}

/**
 * A worker thread's connection to a base's home, for writes whose cost grows with the table. The main thread holds the
 * home's write lease (`Engine.exclusively`) during each writing call.
 */
export interface BulkWriter {
  readonly dialect: Dialect
  /** Inserts rows in one transaction, which becomes durable with the next `write`. */
  insert(shape: RowShape, rows: CellValue[][]): Promise<void>
  /** Runs `work` in one transaction, durable when this resolves; rolled back if `work` throws. */
  write<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
  /**
   * Runs `attempt`, which takes the lease and calls `write`. It runs again for each automatic index that refuses a value, once that
   * was dropped: without the lease, since readers of the table may delay this. What earlier attempts did beside the
   * transaction is for `attempt` to undo.
   *
   * @throws the reason of the signal, if it is aborted while readers delay the drop, which goes on
   */
  repeat<T>(attempt: () => Promise<T>, signal: AbortSignal): Promise<T>
  /** Checkpoints the write-ahead log, on engines without automatic checkpoints. Needs no lease: writers continue. */
  checkpoint(): void
  close(): Promise<void>
}

/** What a bulk writer reports. A new table has no index that could refuse a value. */
export type BulkWatch = Pick<EngineWatch, 'refusedBy'>
