import type { Schema } from '../../../../src/core/fields/json-schema.ts'
import type { View } from '../../../../src/core/model.ts'
import { EXPORT_FORMATS } from '../../export/index.ts'
import { linkPathsV1 } from './links.ts'
import {
  type DocumentedTable,
  jsonBody,
  keySchema,
  LIST_PARAMETERS,
  listOf,
  type Operation,
  ok,
  type Paths,
  pageOf,
  parameter,
  pathParameter,
  ref,
} from './parts.ts'

const COUNT: Schema = { type: 'object', properties: { count: { type: 'integer' } } }
const ROW_ID = pathParameter('rowId', 'Id of the record')
const EXPORT: Pick<Operation, 'parameters' | 'responses'> = {
  parameters: [
    {
      ...pathParameter('type', 'Format of the file'),
      schema: { type: 'string', enum: Object.keys(EXPORT_FORMATS) },
    },
    ...['fields', 'sort', 'where'].map(parameter),
  ],
  responses: {
    ...ok({}),
    200: {
      description: 'The file',
      content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
    },
  },
}

/** The paths of one table under `/api/v1/db/data` (wire reference §14). */
export function pathsV1(table: DocumentedTable): Paths {
  const { model, name, slug, views } = table
  const { baseId, title } = model.table
  const place = `v1/${baseId}/${encodeURIComponent(title)}`
  const path = `/api/v1/db/data/${place}`
  const about = describe(title, `${slug}-db-table-row`)
  const record = ref(`${name}Response`)
  const body = jsonBody(ref(`${name}Request`))
  return {
    [path]: {
      get: { ...about('List', 'list'), parameters: LIST_PARAMETERS, responses: ok(pageOf(record)) },
      post: { ...about('Create', 'create'), requestBody: body, responses: ok(record) },
    },
    [`${path}/{rowId}`]: {
      get: { ...about('Read', 'read'), parameters: [ROW_ID, parameter('fields')], responses: ok(record) },
      patch: { ...about('Update', 'update'), parameters: [ROW_ID], requestBody: body, responses: ok(record) },
      delete: { ...about('Delete', 'delete'), parameters: [ROW_ID], responses: ok({ type: 'integer' }) },
    },
    [`${path}/count`]: {
      get: { ...about('Count', 'count'), parameters: [parameter('where')], responses: ok(COUNT) },
    },
    [`${path}/find-one`]: {
      get: {
        ...about('Find one of', 'find-one'),
        parameters: ['fields', 'where', 'sort'].map(parameter),
        responses: ok(record),
      },
    },
    [`${path}/groupby`]: {
      get: {
        ...about('Group', 'group-by'),
        parameters: ['columnName', 'sort', 'where', 'limit', 'offset'].map(parameter),
        responses: ok(pageOf(ref('Groupby'))),
      },
    },
    [`${path}/export/{type}`]: { get: { ...about('Export', 'export'), ...EXPORT } },
    ...linkPathsV1(table, path),
    ...bulkPaths(table, `/api/v1/db/data/bulk/${place}`),
    ...Object.assign({}, ...views.map((view) => viewPaths(table, view, path))),
  }
}

function bulkPaths({ model, name, slug }: DocumentedTable, path: string): Paths {
  const about = describe(model.table.title, `${slug}-db-table-row-bulk`)
  const values = ref(`${name}Request`)
  const key = keySchema(model)
  const records = listOf(ref(`${name}Response`))
  const where = [parameter('where')]
  return {
    [path]: {
      post: {
        ...about('Create many', 'create'),
        requestBody: jsonBody(listOf(values)),
        responses: ok(listOf(key)),
      },
      patch: {
        ...about('Update many', 'update'),
        requestBody: jsonBody(listOf({ allOf: [key, values] })),
        responses: ok(records),
      },
      delete: {
        ...about('Delete many', 'delete'),
        requestBody: jsonBody(listOf(key)),
        responses: ok(listOf({ type: 'object' })),
      },
    },
    [`${path}/all`]: {
      patch: {
        ...about('Update all matching', 'update-all'),
        parameters: where,
        requestBody: jsonBody(values),
        responses: ok({ type: 'integer' }),
      },
      delete: {
        ...about('Delete all matching', 'delete-all'),
        parameters: where,
        responses: ok(listOf({ type: 'object' })),
      },
    },
  }
}

function viewPaths({ model, name, slug }: DocumentedTable, view: View, tablePath: string): Paths {
  const path = `${tablePath}/views/${encodeURIComponent(view.title)}`
  const about = describe(`${model.table.title} (${view.title})`, `${slug}-${view.id}-row`, model.table.title)
  const shown = ref(viewSchemaName(name, view))
  const body = jsonBody(ref(`${name}Request`))
  return {
    [path]: {
      get: { ...about('List', 'list'), parameters: LIST_PARAMETERS, responses: ok(pageOf(shown)) },
      post: { ...about('Create', 'create'), requestBody: body, responses: ok(ref(`${name}Response`)) },
    },
    [`${path}/count`]: {
      get: { ...about('Count', 'count'), parameters: [parameter('where')], responses: ok(COUNT) },
    },
    [`${path}/{rowId}`]: {
      get: { ...about('Read', 'read'), parameters: [ROW_ID, parameter('fields')], responses: ok(shown) },
      patch: {
        ...about('Update', 'update'),
        parameters: [ROW_ID],
        requestBody: body,
        responses: ok(ref(`${name}Response`)),
      },
      delete: { ...about('Delete', 'delete'), parameters: [ROW_ID], responses: ok({ type: 'integer' }) },
    },
    [`${path}/export/{type}`]: { get: { ...about('Export', 'export'), ...EXPORT } },
  }
}

/** Name of the schema of a view's records. Titles of views differ by more than letters: the id tells them apart. */
export const viewSchemaName = (table: string, view: View): string =>
  `${table}${/^\w+$/.test(view.title) ? view.title : view.id}GridResponse`

function describe(title: string, prefix: string, tag = title) {
  return (verb: string, operation: string): Pick<Operation, 'tags' | 'summary' | 'operationId'> => ({
    tags: [tag],
    summary: `${verb} ${title} records`,
    operationId: `${prefix}-${operation}`,
  })
}
