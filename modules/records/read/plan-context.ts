import type { SQL } from 'drizzle-orm'
import type { View } from '../../../src/core/model.ts'
import type { Engine } from '../../../src/dialects/dialect.ts'
import type { TableModel } from '../../schema/index.ts'
import type { ReadContext } from './expression/scope.ts'

/** A table with those that it reaches, the view it is read through, and who asks when. */
export interface PlanContext extends ReadContext {
  view: View | null
  /** Only these of the table's records, see `links/linked-to.ts`; absent: all. */
  narrow?: SQL
  /** Records for which this holds come before all others; absent: none. */
  leading?: SQL
}

/** A table that has been opened for reading by someone who may. */
export interface Opened {
  engine: Engine
  context: PlanContext
  model: TableModel
}
