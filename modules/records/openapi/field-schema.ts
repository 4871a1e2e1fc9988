import type { FieldOptions } from '../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import type { Field } from '../../../src/core/model.ts'

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

/** What a field's values look like in an answer. Every one but the record's id may be null. */
export function responseSchema(field: Field): Schema {
  const schema = field.type === 'Checkbox' ? { type: 'integer', enum: [0, 1, null] } : valueSchema(field)
  return field.isPrimaryKey ? schema : { ...schema, nullable: true }
}

/** What a program may send for a field. */
export function requestSchema(field: Field): Schema {
  const schema = field.type === 'Checkbox' ? { type: 'boolean' } : valueSchema(field)
  const initial = field.defaultValue === null ? {} : { default: field.defaultValue }
  return { ...schema, ...initial, nullable: !field.required }
}

function valueSchema({ type, options, description }: Field): Schema {
  const about = description ? { description } : {}
  return { ...shapeOf(type, options), ...about }
}

function shapeOf(type: Field['type'], options: FieldOptions): Schema {
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
