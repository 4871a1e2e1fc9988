import { defaultsToNow } from '../../../../src/core/fields/default-value.ts'
import { shownType } from '../../../../src/core/fields/field.ts'
import type { FieldOptions } from '../../../../src/core/fields/field-type.ts'
import { type FieldTypeName, fieldType } from '../../../../src/core/fields/index.ts'
import { jsonSchema, type Schema } from '../../../../src/core/fields/json-schema.ts'
import { isSingleLink, linkOf } from '../../../../src/core/fields/link-options.ts'
import { holdsPeople, isBoolean } from '../../../../src/core/fields/traits.ts'
import type { Field, View } from '../../../../src/core/model.ts'
import { listOf, REFUSAL, ref } from '../../../../src/wire/openapi.ts'
import type { TableModel } from '../../../schema/index.ts'
import { isWritable } from '../../table/index.ts'
import { defaultFields } from '../present.ts'

/** A table in a document. */
export interface DocumentedTable {
  model: TableModel
  /** The engine of the table's source. */
  client: string
  /** Views that the v1 paths support: grids. */
  views: View[]
  /** Schema name and operation id prefix, unique in the document. */
  name: string
  slug: string
}

export interface Operation {
  tags: string[]
  summary: string
  operationId: string
  parameters?: Schema[]
  requestBody?: Schema
  responses: Record<string, Schema>
}

export type Paths = Record<string, Partial<Record<'get' | 'post' | 'put' | 'patch' | 'delete', Operation>>>

export const parameter = (name: string): Schema => ({ $ref: `#/components/parameters/${name}` })

const query = (name: string, schema: Schema, description: string): Schema => ({
  name,
  in: 'query',
  schema,
  description,
})

/** Parameters that operations share. */
export const PARAMETERS: Record<string, Schema> = {
  fields: query('fields', { type: 'string' }, 'Titles of the wanted fields, joined by commas'),
  where: query('where', { type: 'string' }, 'A condition such as `(Title,like,abc)~and(Count,gt,5)`'),
  sort: query('sort', { type: 'string' }, 'Titles joined by commas; a leading `-` for the reverse order'),
  limit: query('limit', { type: 'integer', minimum: 1, maximum: 1000, default: 25 }, 'Records on a page'),
  offset: query('offset', { type: 'integer', minimum: 0, default: 0 }, 'Records to pass over'),
  shuffle: query('shuffle', { type: 'integer', enum: [0, 1] }, '1 for a random order'),
  viewId: query('viewId', { type: 'string' }, 'A view whose filters, sorts and hidden fields apply'),
  columnName: {
    ...query('column_name', { type: 'string' }, 'Titles to group by, joined by commas'),
    required: true,
  },
}

/** The parameters of every list. */
export const LIST_PARAMETERS = ['fields', 'sort', 'where', 'limit', 'offset', 'shuffle'].map(parameter)

export const pathParameter = (name: string, description: string): Schema => ({
  name,
  in: 'path',
  required: true,
  schema: { type: 'string' },
  description,
})

/** Schemas that every document has. */
export const COMMON_SCHEMAS: Record<string, Schema> = {
  Paginated: {
    type: 'object',
    properties: {
      totalRows: { type: 'integer' },
      page: { type: 'integer' },
      pageSize: { type: 'integer' },
      offset: { type: 'integer' },
      isFirstPage: { type: 'boolean' },
      isLastPage: { type: 'boolean' },
    },
  },
  Groupby: { type: 'object', properties: { count: { type: 'integer' } }, additionalProperties: true },
  ...REFUSAL,
}

export const SECURITY_SCHEMES: Record<string, Schema> = {
  'xc-token': { type: 'apiKey', in: 'header', name: 'xc-token', description: 'An API token' },
  bearer: { type: 'http', scheme: 'bearer', description: 'An API token' },
  'xc-auth': { type: 'apiKey', in: 'header', name: 'xc-auth', description: 'The token of a session' },
}

/** Requests are allowed by any one of the schemes. */
export const SECURITY = Object.keys(SECURITY_SCHEMES).map((name) => ({ [name]: [] }))

/** The schemas of a table’s records in answers and requests. */
export function recordSchemas({ model, client, name }: DocumentedTable): Record<string, Schema> {
  return {
    [`${name}Response`]: objectOf(defaultFields(model), (field) => responseSchema(field, client)),
    [`${name}Request`]: { ...objectOf(model.fields.filter(isWritable), requestSchema), ...requiredOf(model) },
  }
}

/** The same for the records of a view. */
export function viewSchema({ model, client }: DocumentedTable, view: View): Schema {
  const hidden = new Set(view.fields.filter((field) => !field.show).map((field) => field.fieldId))
  const shown = model.fields.filter(
    (field) => field.isPrimaryKey || (!field.isSystem && !hidden.has(field.id)),
  )
  return objectOf(shown, (field) => responseSchema(field, client))
}

function objectOf(fields: Field[], schemaOf: (field: Field) => Schema): Schema {
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field.title, schemaOf(field)])),
  }
}

/** OpenAPI does not allow an empty `required`. */
function requiredOf(model: TableModel): Schema {
  const required = model.fields.filter(
    (field) => isWritable(field) && field.required && field.defaultValue === null,
  )
  return required.length === 0 ? {} : { required: required.map((field) => field.title) }
}

/** The page of a list. */
export const pageOf = (items: Schema): Schema => ({
  type: 'object',
  properties: { list: listOf(items), pageInfo: ref('Paginated') },
})

/** The primary key, as in answers to writes. */
export const keySchema = ({ primaryKey }: TableModel): Schema => ({
  type: 'object',
  required: [primaryKey.title],
  properties: { [primaryKey.title]: responseSchema(primaryKey) },
})

const TEXT: Schema = { type: 'string' }

/** A linked record: id and name under their field titles. */
const LINKED: Schema = {
  type: 'object',
  additionalProperties: true,
  description: 'Id and name of the record',
}

const BUTTON: Schema = {
  type: 'object',
  properties: { type: TEXT, label: TEXT, url: { ...TEXT, nullable: true } },
}

/** Engines with boolean checkbox columns; others have 1 and 0. */
const WITH_BOOLEANS: ReadonlySet<string | undefined> = new Set(['pg'])

const FLAG: Schema = { type: 'integer', enum: [0, 1, null] }

/**
 * The schema of a field’s values in answers. Everything but the record’s id may be null.
 *
 * @param client the engine of the table’s source, which matters for checkboxes
 */
function responseSchema(field: Field, client?: string): Schema {
  const schema = described(
    field,
    computedSchema(field, client) ?? cellSchema(field.type, field.options, client),
  )
  return field.isPrimaryKey ? schema : { ...schema, nullable: true }
}

const cellSchema = (type: FieldTypeName, options: FieldOptions, client: string | undefined): Schema =>
  isBoolean({ type }) && !WITH_BOOLEANS.has(client) ? FLAG : jsonSchema(type, options)

/** The schema of a computed field (wire §15); null for stored fields. */
function computedSchema(field: Field, client: string | undefined): Schema | null {
  const { computed } = fieldType(field.type)
  if (computed === undefined) return null
  if (computed === 'button') return BUTTON
  const link = linkOf(field)
  if (link && fieldType(field.type).linkAnswer === 'count')
    return { type: 'integer', description: 'Number of linked records' }
  if (link) return isSingleLink(link) ? LINKED : { type: 'array', items: LINKED }
  // Broken formulas give an error text.
  if (computed === 'formula' && field.error !== null) return { ...TEXT, enum: ['ERR', null] }
  const { type, options, isList } = shownType(field)
  if (computed === 'formula' && type.storage === 'boolean') return FLAG
  const one = cellSchema(type.name as FieldTypeName, options, client)
  return isList ? { type: 'array', items: { ...one, nullable: true } } : one
}

/** The schema of a field in requests. */
function requestSchema(field: Field): Schema {
  const schema = described(field, jsonSchema(field.type, field.options))
  // Dynamic defaults (“me”, the current time) have no schema.
  const isFixed = field.defaultValue !== null && !holdsPeople(field) && !defaultsToNow(field)
  const initial = isFixed ? { default: field.defaultValue } : {}
  return { ...schema, ...initial, nullable: !field.required }
}

const described = ({ description }: Field, schema: Schema): Schema =>
  description ? { ...schema, description } : schema
