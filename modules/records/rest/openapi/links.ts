import type { Schema } from '../../../../src/core/fields/json-schema.ts'
import { isSingleLink, linkOf } from '../../../../src/core/fields/link-options.ts'
import type { Field } from '../../../../src/core/model.ts'
import { jsonBody, listOf, ok } from '../../../../src/wire/openapi.ts'
import {
  type DocumentedTable,
  type Operation,
  type Paths,
  pageOf,
  parameter,
  pathParameter,
} from './parts.ts'

const RECORD: Schema = { type: 'object', additionalProperties: true }
const REFERENCES: Schema = {
  oneOf: [listOf(RECORD), RECORD],
  description: 'The records by their keys, such as `[{"Id":1}]`',
}
const MESSAGE: Schema = { type: 'object', properties: { msg: { type: 'string' } } }
const PAGE = ['where', 'limit', 'offset'].map(parameter)

const linksOf = ({ model }: DocumentedTable): Field[] =>
  model.fields.filter((field) => !field.isSystem && field.error === null && linkOf(field) !== null)

/** Link operations of a table under `/api/v2/tables` (wire §16.1). */
export function linkPathsV2(table: DocumentedTable): Paths {
  const { table: own } = table.model
  return Object.fromEntries(
    linksOf(table).map((field) => {
      const about = describe(table, field)
      const options = linkOf(field)
      const answer = options && isSingleLink(options) ? RECORD : pageOf(RECORD)
      const rowId = pathParameter('recordId', 'Id of the record')
      const done: Schema = { type: 'boolean' }
      return [
        `/api/v2/tables/${own.id}/links/${field.id}/records/{recordId}`,
        {
          get: {
            ...about('List', 'list'),
            parameters: [rowId, parameter('fields'), ...PAGE],
            responses: ok(answer),
          },
          post: {
            ...about('Link', 'link'),
            parameters: [rowId],
            requestBody: jsonBody(REFERENCES),
            responses: created(done),
          },
          delete: {
            ...about('Unlink', 'unlink'),
            parameters: [rowId],
            requestBody: jsonBody(REFERENCES),
            responses: ok(done),
          },
        },
      ]
    }),
  )
}

/** The same under `/api/v1/db/data` (wire §14.2). */
export function linkPathsV1(table: DocumentedTable, path: string): Paths {
  const entries = linksOf(table).flatMap((field) => {
    const about = describe(table, field)
    const kind = linkOf(field)?.kind ?? 'mm'
    const place = `${path}/{rowId}/${kind}/${encodeURIComponent(field.title)}`
    const rowId = pathParameter('rowId', 'Id of the record')
    const refId = pathParameter('refId', 'Id of the linked record')
    const list = {
      get: { ...about('List', 'list'), parameters: [rowId, ...PAGE], responses: ok(pageOf(RECORD)) },
    }
    const candidates = {
      get: {
        ...about('List linkable', 'exclude'),
        parameters: [rowId, ...PAGE],
        responses: ok(pageOf(RECORD)),
      },
    }
    const one = {
      post: { ...about('Link', 'link'), parameters: [rowId, refId], responses: ok(MESSAGE) },
      delete: { ...about('Unlink', 'unlink'), parameters: [rowId, refId], responses: ok(MESSAGE) },
    }
    const paths: [string, Paths[string]][] = [
      [`${place}/exclude`, candidates],
      [`${place}/{refId}`, one],
    ]
    // Single links are part of the record.
    return kind === 'hm' || kind === 'mm' ? [[place, list] as [string, Paths[string]], ...paths] : paths
  })
  return Object.fromEntries(entries)
}

function created(schema: Schema): Record<string, Schema> {
  const { 200: answer = {}, ...refusals } = ok(schema)
  return { 201: answer, ...refusals }
}

function describe({ model, slug }: DocumentedTable, field: Field) {
  return (verb: string, operation: string): Pick<Operation, 'tags' | 'summary' | 'operationId'> => ({
    tags: [model.table.title],
    summary: `${verb} records by ${field.title}`,
    // Titles may contain any character; ids are unique.
    operationId: `${slug}-${field.id}-${operation}`,
  })
}
