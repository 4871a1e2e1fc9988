import { startsNow } from '../../../../src/core/fields/default-value.ts'
import { shownType } from '../../../../src/core/fields/field.ts'
import type { FieldOptions } from '../../../../src/core/fields/field-type.ts'
import { type FieldTypeName, fieldType } from '../../../../src/core/fields/index.ts'
import { jsonSchema, type Schema } from '../../../../src/core/fields/json-schema.ts'
import { isSingleLink, linkOf } from '../../../../src/core/fields/link-options.ts'
import { holdsPeople, isBoolean } from '../../../../src/core/fields/traits.ts'
import type { Field } from '../../../../src/core/model.ts'

const TEXT: Schema = { type: 'string' }

/** A record that a link leads to: its id and its name, under the titles of their fields. */
const LINKED: Schema = {
  type: 'object',
  additionalProperties: true,
  description: 'Id and name of the record',
}

const BUTTON: Schema = {
  type: 'object',
  properties: { type: TEXT, label: TEXT, url: { ...TEXT, nullable: true } },
}

/** Engines whose columns of checkboxes hold true and false; in all others they hold 1 and 0. */
const WITH_BOOLEANS: ReadonlySet<string | undefined> = new Set(['pg'])

const FLAG: Schema = { type: 'integer', enum: [0, 1, null] }

/**
 * What a field's values look like in an answer. Every one but the record's id may be null.
 *
 * @param client the engine of the table's source; it matters for checkboxes alone
 */
export function responseSchema(field: Field, client?: string): Schema {
  const schema = described(
    field,
    computedSchema(field, client) ?? cellSchema(field.type, field.options, client),
  )
  return field.isPrimaryKey ? schema : { ...schema, nullable: true }
}

const cellSchema = (type: FieldTypeName, options: FieldOptions, client: string | undefined): Schema =>
  isBoolean({ type }) && !WITH_BOOLEANS.has(client) ? FLAG : jsonSchema(type, options)

/** What a field that is worked out shows (wire reference §15); null for one with values of its own. */
function computedSchema(field: Field, client: string | undefined): Schema | null {
  const { computed } = fieldType(field.type)
  if (computed === undefined) return null
  if (computed === 'button') return BUTTON
  const link = linkOf(field)
  if (link && fieldType(field.type).linkAnswer === 'count')
    return { type: 'integer', description: 'Number of linked records' }
  if (link) return isSingleLink(link) ? LINKED : { type: 'array', items: LINKED }
  // A formula that has failed says so in its cells.
  if (computed === 'formula' && field.error !== null) return { ...TEXT, enum: ['ERR', null] }
  const { type, options, isList } = shownType(field)
  if (computed === 'formula' && type.storage === 'boolean') return FLAG
  const one = cellSchema(type.name as FieldTypeName, options, client)
  return isList ? { type: 'array', items: { ...one, nullable: true } } : one
}

/** What a program may send for a field. */
export function requestSchema(field: Field): Schema {
  const schema = described(field, jsonSchema(field.type, field.options))
  // Who "me" is and what time it will be, no schema can say.
  const isFixed = field.defaultValue !== null && !holdsPeople(field) && !startsNow(field)
  const initial = isFixed ? { default: field.defaultValue } : {}
  return { ...schema, ...initial, nullable: !field.required }
}

const described = ({ description }: Field, schema: Schema): Schema =>
  description ? { ...schema, description } : schema
