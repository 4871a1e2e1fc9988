import type { Filter } from '../../../src/core/filters/index.ts'
import type { TableModel } from '../../schema/index.ts'
import { keyFieldsOf, keyValues, parseRecordId } from '../table/index.ts'
import { listed } from './listed.ts'

/**
 * The filter of the records whose ids a parameter lists by commas (`pks=1,2`, `pks=a___1`); null where it lists none.
 *
 * @throws INVALID_PK_VALUE, RECORD_NOT_FOUND for what cannot be an id of the table
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
