import { type SQL, sql } from 'drizzle-orm'
import { fieldType } from '../../../src/core/fields/index.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import { shownType } from '../../../src/core/fields/result.ts'
import type { Field } from '../../../src/core/model.ts'
import { type Form, fragmentsOf, type ReadContext } from '../read/index.ts'

/** The form of a field in answers: Links are their number, LinkToAnotherRecord the records themselves. */
export const restForm = (field: Field): Form => {
  if (linkOf(field) === null) return 'cell'
  return fieldType(field.type).linkAnswer === 'count' ? 'value' : 'records'
}

/** `column as "Title"` for each field: the engine names the keys, so rows need no second pass. */
export const titledColumns = (context: ReadContext, fields: Field[]): SQL[] =>
  fields.map(
    (field) => sql`${fragmentsOf(context).of(field, restForm(field))} as ${sql.identifier(field.title)}`,
  )

/** The form by which records are grouped, and shown as groups: a list as a whole, and a link as it is compared. */
export const groupForm = (field: Field): Form => (shownType(field).isList ? 'cell' : 'value')
