import type { Schema } from '../../../../src/core/fields/json-schema.ts'
import type { Table, View } from '../../../../src/core/model.ts'
import { isTabular } from '../../../../src/core/views/index.ts'
import { jsonBody, listOf, ok, RESPONSES, ref } from '../../../../src/wire/openapi.ts'
import type { SchemaReader } from '../../../schema/index.ts'
import type { ViewsService } from '../../../views/index.ts'
import { EXPORT_FORMATS } from '../../export/index.ts'
import { linkPathsV1, linkPathsV2 } from './links.ts'
import {
  COMMON_SCHEMAS,
  type DocumentedTable,
  keySchema,
  LIST_PARAMETERS,
  type Operation,
  PARAMETERS,
  type Paths,
  pageOf,
  parameter,
  pathParameter,
  recordSchemas,
  SECURITY,
  SECURITY_SCHEMES,
  viewSchema,
} from './parts.ts'

/** The API generation of a document. */
export type Generation = 'v1' | 'v2'

/** The OpenAPI document of a base's tables (wire §18). */
export async function describeBase(
  {
    schema,
    views,
  }: { schema: Pick<SchemaReader, 'load' | 'clientOf'>; views: Pick<ViewsService, 'ofTable'> },
  tables: Table[],
  generation: Generation,
  siteUrl: string,
): Promise<Record<string, unknown>> {
  const named = nameTables(tables)
  const documented = await Promise.all(
    named.map(async ({ table, ...names }): Promise<DocumentedTable> => {
      const grids = (await views.ofTable(table.id)).filter(isTabular)
      const model = await schema.load(table.id)
      return {
        model,
        client: await schema.clientOf(model),
        views: generation === 'v1' ? grids : [],
        ...names,
      }
    }),
  )
  const paths: Paths = {}
  const schemas = { ...COMMON_SCHEMAS }
  for (const table of documented) {
    Object.assign(paths, generation === 'v1' ? pathsV1(table) : pathsV2(table))
    Object.assign(schemas, recordSchemas(table))
    for (const view of table.views) schemas[viewSchemaName(table.name, view)] = viewSchema(table, view)
  }
  return {
    openapi: '3.0.0',
    info: { title: 'Sheaf', version: generation === 'v1' ? '1.0' : '2.0' },
    servers: [{ url: siteUrl }],
    tags: tables.map(({ title, description }) => ({ name: title, ...(description && { description }) })),
    paths,
    components: { schemas, parameters: PARAMETERS, responses: RESPONSES, securitySchemes: SECURITY_SCHEMES },
    security: SECURITY,
  }
}

/** Unique names for the schemas and operations of each table, in the characters that OpenAPI allows. */
function nameTables(tables: Table[]): { table: Table; name: string; slug: string }[] {
  const taken = new Set<string>(Object.keys(COMMON_SCHEMAS))
  return tables.map((table) => {
    const plain = table.title.replace(/[^\w.-]+/g, '_')
    const name = /[A-Za-z0-9]/.test(plain) && !taken.has(plain) ? plain : `${plain}_${table.id}`
    taken.add(name)
    return { table, name, slug: name.toLowerCase().replaceAll('_', '-') }
  })
}

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

/** The paths of one table under `/api/v1/db/data` (wire §14). */
function pathsV1(table: DocumentedTable): Paths {
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

/**
 * The schema name of a view’s records. Titles may differ only in characters that names cannot have, so these use the
 * id.
 */
const viewSchemaName = (table: string, view: View): string =>
  `${table}${/^\w+$/.test(view.title) ? view.title : view.id}GridResponse`

function describe(title: string, prefix: string, tag = title) {
  return (verb: string, operation: string): Pick<Operation, 'tags' | 'summary' | 'operationId'> => ({
    tags: [tag],
    summary: `${verb} ${title} records`,
    operationId: `${prefix}-${operation}`,
  })
}

/** The paths of one table under `/api/v2/tables` (wire §16). */
function pathsV2(table: DocumentedTable): Paths {
  const { model, name, slug } = table
  const path = `/api/v2/tables/${model.table.id}/records`
  const tags = [model.table.title]
  const record = ref(`${name}Response`)
  const values = ref(`${name}Request`)
  const key = keySchema(model)
  const keyed = { allOf: [key, values] }
  const oneOrMany = (schema: object) => ({ oneOf: [schema, listOf({ ...schema })] })
  const about = (summary: string, verb: string) => ({
    tags,
    summary,
    operationId: `${slug}-db-table-row-${verb}`,
  })
  return {
    [path]: {
      get: {
        ...about(`List ${model.table.title} records`, 'list'),
        parameters: [parameter('viewId'), ...LIST_PARAMETERS],
        responses: ok(pageOf(record)),
      },
      post: {
        ...about(`Create ${model.table.title} records`, 'create'),
        requestBody: jsonBody(oneOrMany(values)),
        responses: ok(oneOrMany(key), 'The id of each new record, in the order of the request'),
      },
      patch: {
        ...about(`Update ${model.table.title} records`, 'update'),
        requestBody: jsonBody(oneOrMany(keyed)),
        responses: ok(oneOrMany(key)),
      },
      delete: {
        ...about(`Delete ${model.table.title} records`, 'delete'),
        requestBody: jsonBody(oneOrMany(key)),
        responses: ok(oneOrMany(key)),
      },
    },
    [`${path}/{recordId}`]: {
      get: {
        ...about(`Read a ${model.table.title} record`, 'read'),
        parameters: [pathParameter('recordId', 'Id of the record'), parameter('fields')],
        responses: ok(record),
      },
    },
    [`${path}/count`]: {
      get: {
        ...about(`Count ${model.table.title} records`, 'count'),
        parameters: [parameter('viewId'), parameter('where')],
        responses: ok({ type: 'object', properties: { count: { type: 'integer' } } }),
      },
    },
    ...linkPathsV2(table),
  }
}
