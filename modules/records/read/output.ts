import { type SQL, sql } from 'drizzle-orm'
import { shownType } from '../../../src/core/fields/field.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
import { fragmentsOf } from './expression/fragments.ts'
import type { Form, ReadContext } from './expression/scope.ts'

/** How the records of a page come out of the database. */
export type OutputShape =
  /** Lists of values in the order of the fields, then the record's id. Links name the first of their records, or all. */
  | { kind: 'rows'; links: 'first' | 'all' }
  /** Objects by the titles of the fields, for REST: the engine names the keys, so rows need no second pass. */
  | { kind: 'titled'; withKey: boolean }

/** A record by the titles of its fields. */
export type TitledRow = Record<string, unknown>

/** Name of the record's id in titled objects that have it; titles hold no control characters. */
export const RECORD_KEY = '~\u0001key'

/** Takes the id out of a titled object. */
export function takeRecordKey(row: TitledRow): RecordId {
  const key = row[RECORD_KEY] as RecordId
  delete row[RECORD_KEY]
  return key
}

/** The form of a field in titled objects: Links are their number, LinkToAnotherRecord the records themselves. */
export const titledForm = (field: Field): Form => {
  if (linkOf(field) === null) return 'cell'
  return fieldType(field.type).linkAnswer === 'count' ? 'value' : 'records'
}

/** The form by which records are grouped, and shown as groups: a list as a whole, and a link as it is compared. */
export const groupForm = (field: Field): Form => (shownType(field).isList ? 'cell' : 'value')

/** The select list of a page without the record's id. */
export function outputColumns(context: ReadContext, fields: Field[], shape: OutputShape): SQL[] {
  const fragments = fragmentsOf(context)
  if (shape.kind === 'rows') return fragments.cells(fields, shape.links === 'all' ? 'whole' : 'cell')
  return fields.map(
    (field) => sql`${fragments.of(field, titledForm(field))} as ${sql.identifier(field.title)}`,
  )
}
