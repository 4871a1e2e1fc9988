import { ROLLUP_FUNCTIONS } from '../../../../src/core/fields/rollup.ts'
import { countedRows, follow, pathOf, stepOf } from './path.ts'
import { valueIn } from './related-value.ts'
import type { Expression } from './scope.ts'

/** The number of linked records. */
export const countExpression: Expression = (field, scope) => {
  const step = stepOf(scope.model, field.options.relationFieldId, scope.models)
  return step && scope.dialect.related.count(countedRows(scope, step))
}

/** One value computed over a field of the linked records. */
export const rollupExpression: Expression = (field, scope) => {
  const name = ROLLUP_FUNCTIONS.find((known) => known === field.options.function)
  const path = name && pathOf(scope.model, field, scope.models)
  if (!path) return null
  const { rows, end } = follow(scope, path.steps)
  return scope.dialect.related.rollup(rows, name, valueIn(end, path.target))
}
