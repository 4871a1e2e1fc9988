import { type Filter, isGroup } from '../../src/core/filters/index.ts'
import { byId } from './filter-fields.ts'

/** A filter in short: `T eq x`, `(… and …)`, `not (…)`. */
export function short(filter: Filter | null): string {
  if (filter === null) return 'all'
  if (!isGroup(filter)) {
    const { fieldId, operator, operand, value } = filter
    const title = byId(fieldId)?.title
    return [title, operator, operand, value === null ? null : JSON.stringify(value)]
      .filter((part) => part != null)
      .join(' ')
  }
  const joined = filter.children.map(short).join(` ${filter.join} `)
  return filter.not ? `not (${joined})` : `(${joined})`
}
