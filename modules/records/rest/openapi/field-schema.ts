import { startsNow } from '../../../../src/core/fields/default-value.ts'
import type { FieldOptions } from '../../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../../src/core/fields/index.ts'
import { isSingleLink, linkOf } from '../../../../src/core/fields/link-options.ts'
import { holdsPeople } from '../../../../src/core/fields/people-value.ts'
import { shownType } from '../../../../src/core/fields/result.ts'
import { MAX_YEAR } from '../../../../src/core/fields/year.ts'
import type { Field } from '../../../../src/core/model.ts'

/** A schema of OpenAPI 3.0. */
export type Schema = Record<string, unknown>

const titlesOf = ({ choices }: FieldOptions): string[] =>
  (choices as { title: string }[] | undefined)?.map(({ title }) => title) ?? []

const TEXT: Schema = { type: 'string' }
const MOMENT: Schema = { type: 'string', example: '2024-03-05 08:20:30+00:00', description: 'In UTC' }
const PERSON: Schema = {
  type: 'object',
  properties: {
    id: TEXT,
    email: TEXT,
    display_name: { ...TEXT, nullable: true },
    meta: { type: 'object', nullable: true },
  },
}

/** A file: programs give `path` or `url` and the title; the server adds what it knows, and links for a while. */
const ATTACHMENT: Schema = {
  type: 'object',
  properties: {
    path: { ...TEXT, description: 'As the answer to an upload gives it; else there is a url' },
    url: TEXT,
    title: TEXT,
    mimetype: TEXT,
    size: { type: 'integer', format: 'int64' },
    width: { type: 'integer' },
    height: { type: 'integer' },
    signedPath: {
      ...TEXT,
      readOnly: true,
      description: 'Opens the file without a session, for about two hours',
    },
  },
}

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

const cellSchema = (type: string, options: FieldOptions, client: string | undefined): Schema =>
  type === 'Checkbox' && !WITH_BOOLEANS.has(client) ? FLAG : shapeOf(type, options)

/** What a field that is worked out shows (wire reference §15); null for one with values of its own. */
function computedSchema(field: Field, client: string | undefined): Schema | null {
  const { computed } = fieldType(field.type)
  if (computed === undefined) return null
  if (computed === 'button') return BUTTON
  const link = linkOf(field)
  if (link && field.type === 'Links') return { type: 'integer', description: 'Number of linked records' }
  if (link) return isSingleLink(link) ? LINKED : { type: 'array', items: LINKED }
  // A formula that has failed says so in its cells.
  if (computed === 'formula' && field.error !== null) return { ...TEXT, enum: ['ERR', null] }
  const { type, options, isList } = shownType(field)
  if (computed === 'formula' && type.name === 'Checkbox') return FLAG
  const one = cellSchema(type.name, options, client)
  return isList ? { type: 'array', items: { ...one, nullable: true } } : one
}

/** What a program may send for a field. */
export function requestSchema(field: Field): Schema {
  const schema = described(field, shapeOf(field.type, field.options))
  // Who "me" is and what time it will be, no schema can say.
  const isFixed = field.defaultValue !== null && !holdsPeople(field) && !startsNow(field)
  const initial = isFixed ? { default: field.defaultValue } : {}
  return { ...schema, ...initial, nullable: !field.required }
}

const described = ({ description }: Field, schema: Schema): Schema =>
  description ? { ...schema, description } : schema

function shapeOf(type: string, options: FieldOptions): Schema {
  switch (type) {
    case 'SingleSelect':
      // An enum that may be null has to list it.
      return { ...TEXT, enum: [...titlesOf(options), null] }
    case 'MultiSelect':
      return { ...TEXT, description: `Titles joined by commas, of: ${titlesOf(options).join(', ')}` }
    case 'Email':
      return { ...TEXT, format: 'email' }
    case 'URL':
      return { ...TEXT, format: 'uri' }
    case 'Rating':
      return { type: 'integer', minimum: 0, maximum: options.max }
    case 'Year':
      return { type: 'integer', minimum: 0, maximum: MAX_YEAR }
    case 'Duration':
      return { type: 'number', format: 'double', description: 'In seconds' }
    case 'User':
    case 'Collaborator':
      return { type: 'array', items: PERSON, ...(options.multiple ? {} : { maxItems: 1 }) }
    case 'JSON':
      return { ...TEXT, description: 'JSON text' }
    case 'GeoData':
      return { ...TEXT, example: '48.8584;2.2945', description: 'Latitude and longitude in degrees' }
    case 'Geometry':
      return { ...TEXT, example: 'POINT (30 10)', description: 'Well-known text' }
    case 'Attachment':
      return { type: 'array', items: ATTACHMENT }
    case 'Password':
      return { ...TEXT, format: 'password', description: 'Can be set; what is read is dots' }
    case 'CreatedBy':
    case 'LastModifiedBy':
      return PERSON
    default:
      return BY_STORAGE[fieldType(type).storage]
  }
}

const BY_STORAGE: Record<ReturnType<typeof fieldType>['storage'], Schema> = {
  id: { type: 'integer' },
  integer: { type: 'integer', format: 'int64' },
  real: { type: 'number', format: 'double' },
  text: TEXT,
  longText: TEXT,
  boolean: { type: 'boolean' },
  date: { type: 'string', format: 'date' },
  datetime: MOMENT,
  time: { type: 'string', format: 'time' },
  json: TEXT,
}
