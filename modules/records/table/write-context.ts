import type { CellValue } from '../../../src/core/fields/field-type.ts'
import type { Dialect, Transaction } from '../../../src/dialects/dialect.ts'
import type { TableModel } from '../../schema/index.ts'

/** One table inside one transaction of the write door. */
export interface WriteContext {
  tx: Transaction
  dialect: Dialect
  model: TableModel
  actorId: string | null
  /** UTC, in the stored form. */
  now: CellValue
}
