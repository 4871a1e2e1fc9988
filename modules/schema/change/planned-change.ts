import type { MetaStatement } from '../../../src/db/meta.ts'
import type { Alteration } from '../computed/index.ts'

/** What a change of the schema writes, once it has been checked. */
export interface PlannedChange<T> {
  /** What makes the change visible: all of it in one step. */
  statements: MetaStatement[]
  /** Its line in the log; null where all is as it was: then nothing is written and nobody is told. */
  entry: { kind: string; tableId: string | null; detail: unknown } | null
  /** Fields and tables as they will be, where others may be computed from them: what follows is written too. */
  altered?: Alteration
  /** Values of records that change with it. */
  cells?: CellsWrite
  /** True where records look different afterwards: whoever shows them is to read them again. */
  touchesRecords?: boolean
  /** The tables that are to be read anew. */
  tableIds: string[]
  result: T
}

/** A write of values that belongs to a change of the schema. */
export interface CellsWrite {
  /** How many records change. */
  count: number
  /** Writes them, listing each under the log line; null where the change has no line of its own. */
  write(changeId: number | null): Promise<void>
}
