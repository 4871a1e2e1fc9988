import type { CellValue } from '../../../src/core/fields/field-type.ts'
import type { Dialect, Transaction } from '../../../src/dialects/dialect.ts'
import type { TableModel } from '../../schema/index.ts'
import type { WriteContext } from '../table/index.ts'
import type { LinkSchema } from './relation.ts'

/** One transaction of the write door, over all tables that a change comes to touch. */
export interface WriteScope {
  tx: Transaction
  dialect: Dialect
  schema: LinkSchema
  actorId: string | null
  /** UTC, in the stored form. */
  now: CellValue
  /** How many more linked records the change's deletions may touch; see `LargeCascade`. Absent: any number. */
  cascade?: { left: number }
}

/** A deletion that touches more linked records than may be written one by one on the thread that answers requests. */
export class LargeCascade extends Error {
  override readonly name = 'LargeCascade'
}

/** The same transaction, looking at one table. */
export const within = ({ tx, dialect, actorId, now }: WriteScope, model: TableModel): WriteContext => ({
  tx,
  dialect,
  model,
  actorId,
  now,
})
