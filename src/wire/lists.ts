/** REST lists: page, sort and `pageInfo` (wire §1.4 and §1.6), and lists in query strings. */

import { notFound } from '../core/errors.ts'
import type { Sort } from '../core/model.ts'

/** Converts stored ISO text to REST's format `2026-11-20 09:01:05+00:00`. */
export const wireTime = (iso: string): string => `${iso.slice(0, 19).replace('T', ' ')}+00:00`

const DEFAULT_LIMIT = 25
const MAX_LIMIT = 1000

interface Page {
  limit: number
  offset: number
}

/** Reads a query's page. Values that are invalid or out of range mean the default. */
export function readPage(query: Record<string, string | undefined>): Page {
  const limit = readLimit(query.limit)
  const pageNumber = wholeNumber(query.page)
  const offset = pageNumber !== null && pageNumber > 0 ? (pageNumber - 1) * limit : wholeNumber(query.offset)
  return { limit, offset: Math.max(0, offset ?? 0) }
}

/** The page size that a `limit` means: at most 1000, and 25 for text that is no positive number. */
export function readLimit(text: string | null | undefined): number {
  const limit = Math.trunc(Number(text ?? DEFAULT_LIMIT))
  return Number.isFinite(limit) && limit > 0 ? Math.min(limit, MAX_LIMIT) : DEFAULT_LIMIT
}

// No list is longer, and engines count with at most 64 bits.
const wholeNumber = (text: string | undefined): number | null =>
  text !== undefined && /^-?\d{1,12}$/.test(text) ? Number(text) : null

/**
 * `pageInfo` of a list. For an offset that is no multiple of the page size, it holds the offset instead of a page
 * number.
 */
export function pageInfo(totalRows: number, { limit, offset }: Page): Record<string, number | boolean> {
  const isOnGrid = offset % limit === 0
  return {
    totalRows,
    ...(isOnGrid && { page: offset / limit + 1 }),
    pageSize: limit,
    isFirstPage: offset === 0,
    isLastPage: offset + limit >= totalRows,
    ...(!isOnGrid && { offset }),
  }
}

/** `pageInfo` of an unpaged list: one page, with page size 25 if it is empty. */
export const wholeListInfo = (length: number): Record<string, number | boolean> =>
  pageInfo(length, { limit: length || DEFAULT_LIMIT, offset: 0 })

/** Maximum number of sorts; further ones have no visible effect. */
const MAX_SORTS = 50

/**
 * Parses REST's `sort` parameter: `A,-B`, or the list `A`, `-B`, means A ascending, then B descending. Of a repeated
 * field, the first counts.
 *
 * @param resolve a field by title or id
 * @throws FIELD_NOT_FOUND
 */
export function parseSort(
  text: string | readonly string[],
  resolve: (titleOrId: string) => { id: string } | undefined | null,
): Sort[] {
  const sorts = new Map<string, Sort>()
  const items = typeof text === 'string' ? text.split(',', MAX_SORTS) : text.slice(0, MAX_SORTS)
  for (const item of items) {
    const name = item.trim().replace(/^[-+]/, '')
    if (name === '') continue
    const field = resolve(name)
    if (!field) throw notFound('Field', name.slice(0, 255))
    const direction = item.trim().startsWith('-') ? 'desc' : 'asc'
    if (!sorts.has(field.id)) sorts.set(field.id, { fieldId: field.id, direction })
  }
  return [...sorts.values()]
}

/**
 * The values of one parameter, however a client encodes lists: `a=1,2` (one item), `a=1&a=2`, `a[]=1&a[]=2` (axios
 * and the SDKs) or `a[0]=1&a[1]=2` (qs, and axios within objects).
 *
 * @param names the long name first; the first one present counts
 * @returns the items, and whether brackets separated them
 */
export function listed(query: URLSearchParams, ...names: string[]): { items: string[]; isParted: boolean } {
  for (const name of names) {
    const bracketed = [...query].flatMap(([key, value]) => (isItemOf(key, name) ? [value] : []))
    if (bracketed.length > 0) return { items: [...query.getAll(name), ...bracketed], isParted: true }
    if (query.has(name)) return { items: query.getAll(name), isParted: false }
  }
  return { items: [], isParted: false }
}

/** True for a key that is an item of a list: `name[]`, `name[0]`. */
export const isItemOf = (key: string, name: string): boolean =>
  key.startsWith(`${name}[`) && /^\[\d*\]$/.test(key.slice(name.length))
