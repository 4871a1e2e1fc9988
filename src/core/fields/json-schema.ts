import type { FieldOptions, StorageKind } from './field-type.ts'
import { type FieldTypeName, fieldType } from './index.ts'
import { MAX_YEAR } from './year.ts'

/** A schema object of OpenAPI 3.0. */
export type Schema = Record<string, unknown>

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

/** A file: clients send `path` or `url` and the title; the server adds the rest and short-lived links. */
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

const titlesOf = ({ choices }: FieldOptions): string[] =>
  (choices as { title: string }[] | undefined)?.map(({ title }) => title) ?? []

/** Types whose schema is more specific than their traits and storage kind. */
const BY_TYPE: Partial<Record<FieldTypeName, (options: FieldOptions) => Schema>> = {
  Email: () => ({ ...TEXT, format: 'email' }),
  URL: () => ({ ...TEXT, format: 'uri' }),
  Rating: ({ max }) => ({ type: 'integer', minimum: 0, maximum: max }),
  Year: () => ({ type: 'integer', minimum: 0, maximum: MAX_YEAR }),
  Duration: () => ({ type: 'number', format: 'double', description: 'In seconds' }),
  JSON: () => ({ ...TEXT, description: 'JSON text' }),
  GeoData: () => ({ ...TEXT, example: '48.8584;2.2945', description: 'Latitude and longitude in degrees' }),
  Geometry: () => ({ ...TEXT, example: 'POINT (30 10)', description: 'Well-known text' }),
}

const BY_STORAGE: Record<StorageKind, Schema> = {
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

/** The schema of a type's values in REST: specific to the type, else derived from its traits or storage kind. */
export function jsonSchema(name: FieldTypeName, options: FieldOptions): Schema {
  const { choices, people, holdsFiles, isSecret, storage } = fieldType(name)
  const own = BY_TYPE[name]
  if (own) return own(options)
  // A nullable enum must list null.
  if (choices === 'single') return { ...TEXT, enum: [...titlesOf(options), null] }
  if (choices === 'multiple') {
    return { ...TEXT, description: `Titles joined by commas, of: ${titlesOf(options).join(', ')}` }
  }
  if (people === 'chosen')
    return { type: 'array', items: PERSON, ...(options.multiple ? {} : { maxItems: 1 }) }
  if (people === 'recorded') return PERSON
  if (holdsFiles) return { type: 'array', items: ATTACHMENT }
  if (isSecret) return { ...TEXT, format: 'password', description: 'Can be set; what is read is dots' }
  return BY_STORAGE[storage]
}
