import { linkPathsV2 } from './links.ts'
import {
  type DocumentedTable,
  jsonBody,
  keySchema,
  LIST_PARAMETERS,
  listOf,
  ok,
  type Paths,
  pageOf,
  parameter,
  pathParameter,
  ref,
} from './parts.ts'

/** The paths of one table under `/api/v2/tables` (wire reference §16). */
export function pathsV2(table: DocumentedTable): Paths {
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
