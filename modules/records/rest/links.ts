import { Elysia } from 'elysia'
import type { Actor } from '../../../src/core/actor.ts'
import { AppError, badRequest, notFound } from '../../../src/core/errors.ts'
import { describeValue } from '../../../src/core/fields/field-type.ts'
import { isSingleLink, linkOf } from '../../../src/core/fields/link-options.ts'
import type { Filter } from '../../../src/core/filters/index.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
import type { Right } from '../../../src/core/roles.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import { scalar } from '../../../src/wire/answer.ts'
import { restBase } from '../../../src/wire/rest-base.ts'
import type { AuthService } from '../../auth/index.ts'
import type { SchemaReader, TableModel } from '../../schema/index.ts'
import type { OpenedLink } from '../links/index.ts'
import type { RecordsService } from '../service.ts'
import { parseRecordId } from '../table/index.ts'
import { readRefs } from './body.ts'
import type { RestList, RestLists } from './list.ts'
import type { RestOperations } from './operations.ts'
import { findField, queryOf, readFilter, readListParameters, readNames } from './parameters.ts'
import { defaultFields } from './present.ts'
import type { Target } from './v1.ts'

type Row = Record<string, unknown>

/** A record’s link in a path. */
export interface LinkRef {
  tableId: string
  /** The field’s id, in v1 also its title. */
  column: string
  recordId: string
}

/** Link operations of the v1 and v2 adapters. */
export function createRestLinks(
  records: RecordsService,
  schema: Pick<SchemaReader, 'load'>,
  operations: RestOperations,
  lists: Pick<RestLists, 'listOpened'>,
) {
  /**
   * Resolves the link field of a path, after the access check.
   *
   * @throws TABLE_NOT_FOUND, FIELD_NOT_FOUND; 400 `Column is not LTAR` for a field that is no link
   */
  async function enter(
    actor: Actor,
    right: Right,
    place: LinkRef,
    find: (model: TableModel, name: string) => Field | undefined = (model, name) => model.field(name),
  ) {
    const model = await operations.enter(actor, right, place.tableId)
    const field = find(model, place.column)
    if (!field) throw notFound('Field', place.column.slice(0, 255))
    const options = linkOf(field)
    if (!options) throw badRequest('Column is not LTAR')
    return { model, field, options, recordId: parseRecordId(model, place.recordId) }
  }

  /** By title or id, as in v1 paths. */
  const enterByName = (actor: Actor, right: Right, place: LinkRef) => enter(actor, right, place, findField)

  /** Linked records in v2: key and name, unless `fields` names others. */
  async function read(actor: Actor, place: LinkRef, query: URLSearchParams): Promise<RestList | Row> {
    const { field, options, recordId } = await enter(actor, 'record.list', place)
    const opened = await records.openLinked(
      actor,
      { tableId: place.tableId, fieldId: field.id, recordId },
      'linked',
    )
    const fields = fieldsOf(opened.model, query)
    if (isSingleLink(options)) {
      const { ids } = await records.page(opened, { tableId: opened.model.table.id, limit: 1, offset: 0 }, [])
      return (await operations.rowsOf(opened, ids, fields))[0] ?? {}
    }
    return listOf(opened, query, tolerantFilter(opened.model, query), fields)
  }

  /** Linked or linkable records in v1, with all fields. */
  async function list(
    actor: Actor,
    place: LinkRef,
    relation: string,
    query: URLSearchParams,
    which: 'linked' | 'linkable',
  ): Promise<RestList> {
    const { field, options, recordId } = await enterByName(actor, 'record.list', place)
    if (options.kind !== relation) {
      throw badRequest(`Column '${field.title}' has relation type ${options.kind}, not ${relation}`)
    }
    const opened = await records.openLinked(
      actor,
      { tableId: place.tableId, fieldId: field.id, recordId },
      which,
    )
    return listOf(opened, query, readFilter(opened.model, query), defaultFields(opened.model))
  }

  /** Linked records for visitors of a view: their keys and names. @throws FIELD_NOT_FOUND, RECORD_NOT_FOUND */
  async function listShared(
    actor: Actor,
    place: LinkRef,
    relation: string,
    query: URLSearchParams,
  ): Promise<RestList> {
    const { model } = await records.open(actor, place.tableId)
    const field = findField(model, place.column)
    if (!field) throw notFound('Field', place.column.slice(0, 255))
    if (linkOf(field)?.kind !== relation)
      throw badRequest(`Column '${field.title}' is not a relation of this type`)
    const recordId = parseRecordId(model, place.recordId)
    return listOpened(
      await records.openLinked(actor, { tableId: place.tableId, fieldId: field.id, recordId }, 'linked'),
      query,
    )
  }

  /** The records that a public form offers for a link: their keys and names. @throws FIELD_NOT_FOUND */
  async function listOffered(
    actor: Actor,
    { tableId, column }: Omit<LinkRef, 'recordId'>,
    query: URLSearchParams,
  ): Promise<RestList> {
    const place = { tableId, fieldId: column.slice(0, 255), recordId: null }
    return listOpened(await records.openLinked(actor, place, 'linkable'), query)
  }

  const listOpened = (opened: OpenedLink, query: URLSearchParams): Promise<RestList> =>
    listOf(opened, query, readFilter(opened.model, query), defaultFields(opened.model))

  function listOf(
    opened: OpenedLink,
    query: URLSearchParams,
    filter: Filter | null,
    fields: Field[],
  ): Promise<RestList> {
    const { limit, offset } = readListParameters(opened.model, pageOnly(query))
    return lists.listOpened(opened, { fields, filter, limit, offset })
  }

  /** Links or unlinks the records in a body. @throws 404 naming those that do not exist */
  async function write(actor: Actor, place: LinkRef, kind: 'link' | 'unlink', body: unknown): Promise<void> {
    const { model, field, options, recordId } = await enter(actor, 'record.update', place)
    const targets = readRefs(await schema.load(options.relatedTableId), body)
    await apply(actor, model, { kind, fieldId: field.id, id: recordId, targets })
  }

  /**
   * As `write`, for the one record of a v1 path.
   *
   * @throws DATABASE_ERROR for a record that does not exist, or a link that does
   */
  async function writeOne(
    actor: Actor,
    place: LinkRef,
    kind: 'link' | 'unlink',
    refId: string,
  ): Promise<void> {
    const { model, field, options, recordId } = await enterByName(actor, 'record.update', place)
    const target = parseRecordId(await schema.load(options.relatedTableId), refId)
    const at = { tableId: place.tableId, fieldId: field.id, recordId }
    if (kind === 'link' && options.kind === 'mm') {
      const opened = await records.openLinked(actor, at, 'linked')
      if ((await records.countOpened(opened, { recordIds: [target] })) > 0)
        throw new AppError('DATABASE_ERROR', 'This record already exists.')
    }
    try {
      await apply(actor, model, { kind, fieldId: field.id, id: recordId, targets: [target] })
    } catch (error) {
      const isTarget = error instanceof AppError && error.details?.tableId === options.relatedTableId
      if (isTarget && error.code === 'RECORD_NOT_FOUND') {
        throw new AppError('DATABASE_ERROR', error.message, error.details)
      }
      throw error
    }
  }

  /** Sets a record’s links to those of another: copy and paste of a cell in the grid. */
  async function paste(actor: Actor, tableId: string, column: string, body: unknown) {
    await enter(actor, 'record.update', { tableId, column, recordId: '0' })
    const [from, to] = ['copy', 'paste'].map((operation) => readClip(body, operation, column))
    if (!from || !to) throw badRequest(m.records_error_copy_paste())
    const source = await enter(actor, 'record.list', { tableId, ...from })
    const target = await enter(actor, 'record.update', { tableId, ...to })
    if (source.options.relatedTableId !== target.options.relatedTableId) {
      throw badRequest(
        m.records_error_different_tables({ source: source.field.title, target: target.field.title }),
      )
    }
    const idsAt = ({ field, recordId }: { field: Field; recordId: RecordId }) =>
      records.linkedIds(actor, { tableId, fieldId: field.id, recordId })
    const [wanted, standing] = [await idsAt(source), await idsAt(target)]
    const values = { [target.field.id]: wanted.length > 0 ? JSON.stringify(wanted) : null }
    const rows = [{ id: target.recordId, values }]
    const { baseId } = target.model.table
    await records.apply(actor, { baseId, operations: [{ kind: 'update', tableId, rows }] })
    const [has, had] = [new Set(wanted.map(String)), new Set(standing.map(String))]
    return { link: [...has.difference(had)], unlink: [...had.difference(has)] }
  }

  const apply = (
    actor: Actor,
    { table }: TableModel,
    operation: { kind: 'link' | 'unlink'; fieldId: string; id: RecordId; targets: RecordId[] },
  ) => records.apply(actor, { baseId: table.baseId, operations: [{ ...operation, tableId: table.id }] })

  return { read, list, listShared, listOffered, write, writeOne, paste }
}

export type RestLinks = ReturnType<typeof createRestLinks>

/** The `fields` of a linked list; unknown ones are ignored. */
function fieldsOf(model: TableModel, query: URLSearchParams): Field[] {
  const names = readNames(query)
  if (names.length === 0) return [...new Set([model.primaryKey, model.displayField])]
  const known = names.map((name) => findField(model, name)).filter((field) => field !== undefined)
  const shown = new Set(defaultFields(model))
  return [...new Set(known)].filter((field) => shown.has(field))
}

/** Invalid filters are ignored, as in the reference’s v2 links. */
function tolerantFilter(model: TableModel, query: URLSearchParams): Filter | null {
  try {
    return readFilter(model, query)
  } catch (error) {
    if (error instanceof AppError) return null
    throw error
  }
}

/** The paging parameters; linked lists ignore the others. */
function pageOnly(query: URLSearchParams): URLSearchParams {
  const names = ['limit', 'l', 'offset', 'o', 'page']
  return new URLSearchParams([...query].filter(([name]) => names.includes(name)))
}

function readClip(body: unknown, operation: string, column: string): Omit<LinkRef, 'tableId'> | null {
  const items: unknown[] = Array.isArray(body) ? body : []
  const found = items.find(
    (item): item is { rowId: unknown; columnId?: unknown } =>
      typeof item === 'object' && item !== null && 'operation' in item && item.operation === operation,
  )
  if (found?.rowId === undefined) return null
  return {
    recordId: typeof found.rowId === 'string' ? found.rowId : describeValue(found.rowId),
    column: typeof found.columnId === 'string' ? found.columnId : column,
  }
}

export interface Deps {
  auth: AuthService
  links: RestLinks
  resolve(actor: Actor, params: { base: string; table: string; view?: string }): Promise<Target>
}

export interface Call {
  actor: Actor
  params: object
  request: Request
}

export interface Params {
  base: string
  table: string
  view?: string
  recordId: string
  relation: string
  column: string
  refId?: string
}

/** Relations whose linked records can be listed; single links are part of the record. */
export const LISTED = ['hm', 'mm']

export const RELATIONS = [...LISTED, 'bt', 'oo']

/** Links over `/api/v1/db/data/{orgs}/{base}/{table}/{id}/{relation}/{column}`, also through a view (wire §14.2). */
export const linksV1 = (kernel: Kernel, deps: Deps) =>
  new Elysia()
    .use(v1Routes(kernel, deps, '/api/v1/db/data/:orgs/:base/:table/views/:view'))
    .use(v1Routes(kernel, deps, '/api/v1/db/data/:orgs/:base/:table'))

function v1Routes(kernel: Kernel, { auth, links, resolve }: Deps, prefix: string) {
  async function enter({ actor, params: given, request }: Call, known: string[]) {
    const params = given as Params
    const { tableId } = await resolve(actor, params)
    if (!known.includes(params.relation)) {
      const { pathname } = new URL(request.url)
      throw new AppError('NOT_FOUND', `Cannot ${request.method} ${pathname}`, undefined, 'msg')
    }
    const place: LinkRef = { tableId, column: params.column, recordId: params.recordId }
    return { params, place, query: new URLSearchParams(queryOf(request)) }
  }

  return new Elysia({ prefix, tags: ['Links v1'] })
    .use(restBase(kernel, auth))
    .get('/:recordId/:relation/:column', async (call) => {
      const { params, place, query } = await enter(call, LISTED)
      return links.list(call.actor, place, params.relation, query, 'linked')
    })
    .get('/:recordId/:relation/:column/exclude', async (call) => {
      const { params, place, query } = await enter(call, RELATIONS)
      return links.list(call.actor, place, params.relation, query, 'linkable')
    })
    .post('/:recordId/:relation/:column/:refId', async (call) => {
      const { params, place } = await enter(call, RELATIONS)
      await links.writeOne(call.actor, place, 'link', params.refId ?? '')
      return { msg: 'The relation data has been created successfully' }
    })
    .delete('/:recordId/:relation/:column/:refId', async (call) => {
      const { params, place } = await enter(call, RELATIONS)
      await links.writeOne(call.actor, place, 'unlink', params.refId ?? '')
      return { msg: 'The relation data has been deleted successfully' }
    })
}

export const placeOf = ({ tableId, linkFieldId, recordId }: Record<string, string>): LinkRef => ({
  tableId: tableId ?? '',
  column: linkFieldId ?? '',
  recordId: recordId ?? '',
})

/** Links over `/api/v2/tables/{tableId}/links/{linkFieldId}/records` (wire §16.1). */
export const linksV2 = (kernel: Kernel, { auth, links }: Pick<Deps, 'auth' | 'links'>) =>
  new Elysia({ prefix: '/api/v2/tables/:tableId/links/:linkFieldId/records', tags: ['Links'] })
    .use(restBase(kernel, auth))
    .get(
      '/:recordId',
      ({ actor, params, request }) =>
        links.read(actor, placeOf(params), new URLSearchParams(queryOf(request))),
      { detail: { summary: 'List linked records' } },
    )
    .post(
      '/:recordId',
      async ({ actor, params, body }) => {
        await links.write(actor, placeOf(params), 'link', body)
        return scalar(true, 201)
      },
      { detail: { summary: 'Link records' } },
    )
    .delete(
      '/:recordId',
      async ({ actor, params, body }) => {
        await links.write(actor, placeOf(params), 'unlink', body)
        return scalar(true)
      },
      { detail: { summary: 'Unlink records' } },
    )
    .post(
      '/',
      async ({ actor, params, body, set }) => {
        set.status = 201
        return links.paste(actor, params.tableId, params.linkFieldId, body)
      },
      { detail: { summary: 'Copy the links of one record to another' } },
    )
