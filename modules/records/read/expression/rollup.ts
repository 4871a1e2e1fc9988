import { ROLLUP_FUNCTIONS } from '../../../../src/core/fields/rollup-functions.ts'
import { countedRows, follow, pathOf, stepOf } from './path.ts'
import { valueIn } from './related-value.ts'
import type { Expression } from './scope.ts'

/** A number of linked records, or one value worked out over what they hold. */
export const rollupExpression: Expression = (field, scope) => {
  const words = scope.dialect.related
  if (field.type === 'Count') {
    const step = stepOf(scope.model, field.options.relationFieldId, scope.models)
    return step && words.count(countedRows(scope, step))
  }
  const name = ROLLUP_FUNCTIONS.find((known) => known === field.options.function)
  const path = name && pathOf(scope.model, field, scope.models)
  if (!path) return null
  const { rows, end } = follow(scope, path.steps)
  return words.rollup(rows, name, valueIn(end, path.target))
}
