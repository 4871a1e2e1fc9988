import { AppError } from '../../../src/core/errors.ts'
import type { Field, FieldResult, Table } from '../../../src/core/model.ts'

/** What a computed field reads: a field, a table's records, or whichever field names a table's records. */
export type Reference = { fieldId: string } | { tableId: string } | { displayOf: string }

/** What a computed field gives, or why it gives nothing. */
export interface Resolution {
  result: FieldResult | null
  error: string | null
}

/** The rest of a base's schema, as a computed field looks at it. What is in the trash is not there. */
export interface Surroundings {
  field(fieldId: string): Field | undefined
  table(tableId: string): Table | undefined
  /** The title of a field that may be in the trash: to say what is missing. */
  titleOf(fieldId: string): string | undefined
  /** The client of the database that holds a table, e.g. `sqlite3`: not every function is for every one. */
  clientOf(tableId: string): string
}

/**
 * What there is to know of one type of computed field: one file in this folder and one line in
 * `index.ts`. The order in which fields are worked out, cycles and the trash are no concern of it.
 */
export interface ComputedRules {
  /** What the field reads. A field of another table comes after the link that leads there. */
  references(field: Field): Reference[]
  /**
   * Looks at a new or changed definition.
   *
   * @throws BAD_REQUEST in the words that REST clients know (wire reference §8.3)
   */
  check(field: Field, around: Surroundings): void
  /** What it gives as things stand; those that it reads have been worked out before. */
  resolve(field: Field, around: Surroundings): Resolution
}

/** A field that gives values of this kind. */
export const gives = (result: FieldResult | null): Resolution => ({ result, error: null })

/** A field that gives nothing, and why. */
export const broken = (error: string): Resolution => ({ result: null, error })

/** `Column 'Price' was deleted`, as REST clients know it. */
export const missingColumn = (fieldId: string, around: Pick<Surroundings, 'titleOf'>): Resolution =>
  broken(`Column '${around.titleOf(fieldId) ?? fieldId}' was deleted`)

/** A refusal in the envelope of the wire: `{"msg": …}`. */
export const refusal = (message: string, details?: Record<string, unknown>): AppError =>
  new AppError('BAD_REQUEST', message, details, 'msg')
