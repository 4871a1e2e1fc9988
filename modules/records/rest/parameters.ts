import { AppError, badRequest, notFound } from '../../../src/core/errors.ts'
import { describeValue } from '../../../src/core/fields/field-type.ts'
import { allOf, type Filter } from '../../../src/core/filters/index.ts'
import { parseJsonText } from '../../../src/core/json-text.ts'
import type { Field, Sort } from '../../../src/core/model.ts'
import { m } from '../../../src/messages.gen.ts'
import { parseFilterArray } from '../../../src/wire/filters.ts'
import { isItemOf, listed, parseSort, readLimit } from '../../../src/wire/lists.ts'
import { parseWhere } from '../../../src/wire/where.ts'
import type { TableModel } from '../../schema/index.ts'
import { keyFieldsOf, keyValues, parseRecordId } from '../table/index.ts'

/** The parsed query string of a list. */
export interface ListParameters {
  fields: Field[] | null
  filter: Filter | null
  sorts: Sort[] | undefined
  limit: number
  offset: number
  isShuffled: boolean
}

/** The value of a parameter by its long or short name. */
const read = (query: URLSearchParams, name: string, alias: string): string | null =>
  query.get(name) ?? query.get(alias)

/**
 * Parses the query string of a list. Invalid page sizes fall back to the default, as clients expect; unknown names
 * and invalid filters are rejected.
 *
 * @param sortable finds what `sort` names: by default, a field
 * @throws FIELD_NOT_FOUND; 422 with the wording of the `where` grammar
 */
export function readListParameters(
  model: TableModel,
  query: URLSearchParams,
  sortable: Sortable = (name) => findField(model, name),
): ListParameters {
  const limit = readLimit(read(query, 'limit', 'l'))
  return {
    fields: readFields(model, query),
    filter: allOf([readFilter(model, query), readKeyFilter(model, query, 'pks')]),
    sorts: readSorts(model, query, sortable),
    limit,
    offset: readOffset(query, limit),
    isShuffled: query.get('shuffle') === '1' || query.get('r') === '1',
  }
}

/** A whole number from 1 to `max`; undefined if the parameter is missing. @throws BAD_REQUEST for other values */
export function readInteger(query: URLSearchParams, name: string, max: number): number | undefined {
  const text = query.get(name)
  if (text === null) return undefined
  const value = Number(text)
  if (Number.isSafeInteger(value) && value >= 1 && value <= max) return value
  throw badRequest(m.records_error_number_parameter({ name, max }))
}

/** The offset of `page`, which counts before `offset` as in every list. @throws INVALID_OFFSET_VALUE beyond 2^53 */
export function readOffset(query: URLSearchParams, limit: number): number {
  const page = Math.trunc(Number(query.get('page')))
  if (page > 0 && Number.isSafeInteger(page * limit)) return (page - 1) * limit
  const text = read(query, 'offset', 'o') ?? '0'
  const offset = Math.trunc(Number(text))
  if (!Number.isFinite(offset) || offset < 0) return 0
  if (!Number.isSafeInteger(offset)) throw invalidOffset(text)
  return offset
}

export const invalidOffset = (offset: number | string): AppError =>
  new AppError('INVALID_OFFSET_VALUE', `Offset value '${offset}' is invalid`)

/** The names in `fields`. Items of a list are complete titles, which may contain commas. */
export function readNames(query: URLSearchParams): string[] {
  const { items, isParted } = listed(query, 'fields', 'f')
  const names = isParted ? items : items.flatMap((item) => item.split(','))
  return names.map((name) => name.trim()).filter((name) => name !== '')
}

/** The fields in `fields=A,B` or a list, by title or id; null for all. */
export function readFields(model: TableModel, query: URLSearchParams): Field[] | null {
  const wanted = readNames(query)
  if (wanted.length === 0 || wanted.includes('*')) return null
  return [...new Set(wanted)].map((name) => {
    const field = findField(model, name)
    if (!field) throw notFound('Field', name)
    return field
  })
}

/** A field by title, then by id. */
export const findField = (model: TableModel, name: string): Field | undefined =>
  model.byTitle(name) ?? model.field(name)

/**
 * @throws 422 with the wording of the `where` grammar, also for a list of `where` parameters, as their conjunction is
 *   undefined
 */
export function readFilter(model: TableModel, query: URLSearchParams): Filter | null {
  const { items, isParted } = listed(query, 'where', 'w')
  if (isParted || items.length > 1)
    throw new AppError('INVALID_FILTER', 'Invalid filter format.', undefined, 'msg')
  const [where] = items
  const list = query.get('filterArrJson')
  return allOf([
    where ? parseWhere(where, (title) => model.byTitle(title)) : null,
    list ? parseFilterArray(list, (fieldId) => model.field(fieldId)) : null,
  ])
}

type Sortable = (name: string) => { id: string } | undefined

function readSorts(model: TableModel, query: URLSearchParams, sortable: Sortable): Sort[] | undefined {
  const { items, isParted } = listed(query, 'sort', 's')
  if (items.some((item) => item !== '')) return parseSort(isParted ? items : items.join(','), sortable)
  const list = readJsonList(query.get('sortArrJson'))
  if (list.length === 0) return undefined
  return list.map((item) => {
    const { fk_column_id: fieldId, direction } = item as { fk_column_id?: unknown; direction?: unknown }
    const field = typeof fieldId === 'string' ? model.field(fieldId) : undefined
    if (!field) throw notFound('Field', describeValue(fieldId))
    return { fieldId: field.id, direction: direction === 'desc' ? 'desc' : 'asc' }
  })
}

/** A JSON list in a parameter; other text counts as absent, as clients expect. */
export function readJsonList(text: string | null): object[] {
  if (!text) return []
  let value: unknown
  try {
    value = parseJsonText(text)
  } catch {
    return []
  }
  if (!Array.isArray(value)) return []
  if (value.length > 500) throw badRequest(m.records_error_sort_list())
  return value.filter((item) => typeof item === 'object' && item !== null)
}

/** The raw query string without its question mark. */
export function queryOf(request: Request): string {
  const start = request.url.indexOf('?')
  return start === -1 ? '' : request.url.slice(start + 1)
}

/** True if a query string has nested parameters. */
export const hasNested = (search: string): boolean => /(^|&)nested(\[|%5B)/i.test(search)

/** Removes parameters from a query string, in any encoding. */
export function dropParameters(query: URLSearchParams, ...names: string[]): void {
  for (const key of [...query.keys()])
    if (names.some((name) => key === name || isItemOf(key, name))) query.delete(key)
}

/**
 * A filter for the comma-separated ids in a parameter (`pks=1,2`, `pks=a___1`); null without ids.
 *
 * @throws INVALID_PK_VALUE, RECORD_NOT_FOUND for impossible ids
 */
export function readKeyFilter(model: TableModel, query: URLSearchParams, name: string): Filter | null {
  const texts = listed(query, name).items.flatMap((item) => item.split(','))
  const ids = texts.map((text) => text.trim()).filter((text) => text !== '')
  if (ids.length === 0) return null
  const fields = keyFieldsOf(model)
  const keys = ids.map((id) => keyValues(model, parseRecordId(model, id)))
  const [single] = fields
  if (single && fields.length === 1) return { fieldId: single.id, operator: 'in', value: keys.flat() }
  const children = keys.map(
    (key): Filter => ({
      join: 'and',
      children: fields.map(({ id }, at) => ({ fieldId: id, operator: 'eq', value: key[at] ?? null })),
    }),
  )
  return { join: 'or', children }
}
