import type { Field, Person } from '../../../src/core/model.ts'
import type { CellsWrite, ChangeContext } from '../change/index.ts'
import type { MarkedParts } from '../links/index.ts'
import type { FieldDefinition, TableModel } from '../model/index.ts'
import type { ReadableValues } from './frozen-values.ts'

/** What `decide` of `writeField` is given beside the definition. */
export interface FieldAtItsTurn extends ChangeContext {
  model: TableModel
  field: Field
  /** The members of the base, whom names in texts may mean. */
  people(): Promise<Person[]>
  /** Where its values are under a definition: of a formula, what it gives at this moment. */
  values(definition: FieldDefinition): Promise<ReadableValues>
}

/** How an undo writes: the new definition, and the cells that come back with it. */
export interface FieldDecision {
  definition: FieldDefinition
  cells?: CellsWrite
  /** What comes or goes with it: the parts of a link that the field was made into. */
  also?: MarkedParts
}
