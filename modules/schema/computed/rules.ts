import { AppError } from '../../../src/core/errors.ts'
import type { Field, FieldResult, Table } from '../../../src/core/model.ts'
import { m } from '../../../src/messages.gen.ts'

/** A dependency of a computed field: a field, the records of a table, or the display field of a table. */
export type Reference = { fieldId: string } | { tableId: string } | { displayOf: string }

/** The result type of a computed field, or why it is broken. */
export interface Resolution {
  result: FieldResult | null
  error: string | null
}

/** The live tables and fields of a base, which the rules look up. */
export interface SchemaLookup {
  field(fieldId: string): Field | undefined
  table(tableId: string): Table | undefined
  /** The title of a field, also in the trash, for messages about missing fields. */
  titleOf(fieldId: string): string | undefined
  /** The client of a table's database, e.g. `sqlite3`, which determines the available functions. */
  clientOf(tableId: string): string
}

/** The rules of one kind of computed field, listed in `registry.ts`. The graph handles order, cycles and the trash. */
export interface ComputedRules {
  /** The dependencies of the field; a field of another table comes after the link that leads there. */
  references(field: Field): Reference[]
  /**
   * Checks a new or changed definition.
   *
   * @throws BAD_REQUEST with the texts of the REST API (wire §8.3)
   */
  check(field: Field, schema: SchemaLookup): void
  /** The current result type; the fields it reads are resolved already. */
  resolve(field: Field, schema: SchemaLookup): Resolution
}

/** A working field with this result type. */
export const withResult = (result: FieldResult | null): Resolution => ({ result, error: null })

/** A broken field. */
export const broken = (error: string): Resolution => ({ result: null, error })

/** `Column 'Price' was deleted`, the text of the REST API. */
export const missingColumn = (fieldId: string, schema: Pick<SchemaLookup, 'titleOf'>): Resolution =>
  broken(m.wire_error_column_deleted({ column: schema.titleOf(fieldId) ?? fieldId }))

/** A BAD_REQUEST whose REST body is `{"msg": …}`. */
export const refusal = (message: string, details?: Record<string, unknown>): AppError =>
  new AppError('BAD_REQUEST', message, details, 'msg')
