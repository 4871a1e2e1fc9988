import type { Actor } from '../../../src/core/actor.ts'
import { AppError, badRequest, notFound } from '../../../src/core/errors.ts'
import { describeValue } from '../../../src/core/fields/field-type.ts'
import { isSingleLink, linkOf } from '../../../src/core/fields/link-options.ts'
import type { Filter } from '../../../src/core/filters/index.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
import type { Right } from '../../../src/core/roles.ts'
import type { SchemaReader, TableModel } from '../../schema/index.ts'
import type { OpenedLink } from '../links/index.ts'
import type { RecordsService } from '../service.ts'
import { parseRecordId } from '../table/index.ts'
import { readRefs } from './body.ts'
import type { RestList, RestLists } from './list.ts'
import type { RestOperations } from './operations.ts'
import { findField, readFilter, readListParameters, readNames } from './parameters.ts'
import { defaultFields } from './present.ts'

type Row = Record<string, unknown>

/** A record's link, as a path names it. */
export interface LinkPlace {
  tableId: string
  /** The field's id; in the v1 API its title too. */
  column: string
  recordId: string
}

/** Links as the v1 and the v2 adapter share them. */
export function createRestLinks(
  records: RecordsService,
  schema: Pick<SchemaReader, 'load'>,
  operations: RestOperations,
  lists: Pick<RestLists, 'listOpened'>,
) {
  /**
   * The link field of a path, for someone who holds the right.
   *
   * @throws TABLE_NOT_FOUND, FIELD_NOT_FOUND; 400 `Column is not LTAR` for a field that is no link
   */
  async function enter(
    actor: Actor,
    right: Right,
    place: LinkPlace,
    find: (model: TableModel, name: string) => Field | undefined = (model, name) => model.field(name),
  ) {
    const model = await operations.enter(actor, right, place.tableId)
    const field = find(model, place.column)
    if (!field) throw notFound('Field', place.column.slice(0, 255))
    const options = linkOf(field)
    if (!options) throw badRequest('Column is not LTAR')
    return { model, field, options, recordId: parseRecordId(model, place.recordId) }
  }

  /** By title or id, as v1 paths name fields. */
  const enterByName = (actor: Actor, right: Right, place: LinkPlace) => enter(actor, right, place, findField)

  /** The linked records of the v2 API: their key and name unless `fields` asks for others. */
  async function read(actor: Actor, place: LinkPlace, query: URLSearchParams): Promise<RestList | Row> {
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

  /** The linked or linkable records of the v1 API, whole. */
  async function list(
    actor: Actor,
    place: LinkPlace,
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

  /** The linked records by a public link to a view: their keys and names. @throws FIELD_NOT_FOUND, RECORD_NOT_FOUND */
  async function listShared(
    actor: Actor,
    place: LinkPlace,
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

  /** The records that a public form offers for one of its links: their keys and names. @throws FIELD_NOT_FOUND */
  async function listOffered(
    actor: Actor,
    { tableId, column }: Omit<LinkPlace, 'recordId'>,
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

  /** Links the records of a body to one, or takes the links away. @throws 404 naming those that are not there */
  async function write(
    actor: Actor,
    place: LinkPlace,
    kind: 'link' | 'unlink',
    body: unknown,
  ): Promise<void> {
    const { model, field, options, recordId } = await enter(actor, 'record.update', place)
    const targets = readRefs(await schema.load(options.relatedTableId), body)
    await apply(actor, model, { kind, fieldId: field.id, id: recordId, targets })
  }

  /**
   * As `write`, for the one record of a v1 path.
   *
   * @throws DATABASE_ERROR for a record that is not there, or a pair that is
   */
  async function writeOne(
    actor: Actor,
    place: LinkPlace,
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

  /** Gives one record exactly the links that another has: what the grid's copy and paste of a cell asks for. */
  async function paste(actor: Actor, tableId: string, column: string, body: unknown) {
    await enter(actor, 'record.update', { tableId, column, recordId: '0' })
    const [from, to] = ['copy', 'paste'].map((operation) => readClip(body, operation, column))
    if (!from || !to) throw badRequest('Expected a copy and a paste operation')
    const source = await enter(actor, 'record.list', { tableId, ...from })
    const target = await enter(actor, 'record.update', { tableId, ...to })
    if (source.options.relatedTableId !== target.options.relatedTableId) {
      throw badRequest(`"${source.field.title}" and "${target.field.title}" link different tables`)
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

/** `fields` of a linked list: unknown ones are left out. */
function fieldsOf(model: TableModel, query: URLSearchParams): Field[] {
  const names = readNames(query)
  if (names.length === 0) return [...new Set([model.primaryKey, model.displayField])]
  const known = names.map((name) => findField(model, name)).filter((field) => field !== undefined)
  const shown = new Set(defaultFields(model))
  return [...new Set(known)].filter((field) => shown.has(field))
}

/** A filter that cannot be read counts as none here, as clients of the v2 links know it. */
function tolerantFilter(model: TableModel, query: URLSearchParams): Filter | null {
  try {
    return readFilter(model, query)
  } catch (error) {
    if (error instanceof AppError) return null
    throw error
  }
}

/** The parameters of a page without those that linked lists do not heed. */
function pageOnly(query: URLSearchParams): URLSearchParams {
  const names = ['limit', 'l', 'offset', 'o', 'page']
  return new URLSearchParams([...query].filter(([name]) => names.includes(name)))
}

function readClip(body: unknown, operation: string, column: string): Omit<LinkPlace, 'tableId'> | null {
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
