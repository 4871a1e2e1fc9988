import { notFound } from '../errors.ts'
import type { Sort } from '../model.ts'

/** More sorts than this have no effect that anyone could see. */
const MAX_SORTS = 50

/**
 * Reads REST's `sort` parameter: `A,-B`, or the list `A`, `-B`, is A ascending, then B descending. A field named
 * twice counts where it stands first.
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
