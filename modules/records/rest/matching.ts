import { AppError } from '../../../src/core/errors.ts'
import { allOf, type Filter, isComplete, isGroup } from '../../../src/core/filters/index.ts'
import { parseJsonText } from '../../../src/core/json-text.ts'
import type { Selection } from '../../../src/core/query.ts'
import type { TableModel } from '../../schema/index.ts'
import { readKeyFilter } from './key-filter.ts'
import { listed } from './listed.ts'
import { readFilter } from './parameters.ts'

/**
 * Which records a write to all that match means: those of `where`, `filterArrJson` and `pks`, within the view `viewId`,
 * but for those of `skipPks`; every record where the call names none of these. A list passes over a condition that
 * says nothing, and shows more than was meant; here that would change or delete it.
 *
 * @throws as `readFilter`; INVALID_FILTER for a condition without its value, a `filterArrJson` that is no list of
 * whole conditions, several views, and a `pks` that names no record; INVALID_PK_VALUE, RECORD_NOT_FOUND for what cannot
 * be an id
 */
export function readMatching(
  model: TableModel,
  query: URLSearchParams,
): Pick<Selection, 'tableId' | 'viewId' | 'filter'> {
  const views = listed(query, 'viewId').items
  if (views.length > 1) throw invalid('A request can name only one view')
  const chosen = readKeyFilter(model, query, 'pks')
  if (chosen === null && listed(query, 'pks').items.length > 0) throw invalid('pks names no record')
  const skipped = readKeyFilter(model, query, 'skipPks')
  const others: Filter | null = skipped && { join: 'and', not: true, children: [skipped] }
  const filter = allOf([readWhole(model, query), chosen, others])
  return { tableId: model.table.id, viewId: views[0], filter }
}

function readWhole(model: TableModel, query: URLSearchParams): Filter | null {
  // First, as it also refuses what is nested too deep to be looked at.
  const filter = readFilter(model, query)
  const list = query.get('filterArrJson')
  if (list && !isWhole(parse(list))) throw invalid('filterArrJson must be a list of complete filters')
  if (filter) refuseIncomplete(model, filter)
  return filter
}

const invalid = (message: string): AppError => new AppError('INVALID_FILTER', message)

function parse(json: string): unknown {
  try {
    return parseJsonText(json)
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/** True for a list of filter objects of which none is begun only, nor a group of nothing. */
function isWhole(items: unknown): boolean {
  return (
    Array.isArray(items) &&
    items.every((item) => {
      if (typeof item !== 'object' || item === null) return false
      if (item.is_group || Array.isArray(item.children))
        return item.children?.length > 0 && isWhole(item.children)
      return Boolean(item.fk_column_id && item.comparison_op)
    })
  )
}

function refuseIncomplete(model: TableModel, filter: Filter): void {
  if (isGroup(filter)) {
    for (const child of filter.children) refuseIncomplete(model, child)
    return
  }
  const field = model.field(filter.fieldId)
  if (field && !isComplete(filter, field)) throw invalid(`The condition on "${field.title}" has no value`)
}
