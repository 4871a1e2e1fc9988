import type { SQL } from 'drizzle-orm'
import { storageOf } from '../../../../src/core/fields/field.ts'
import type { ComputedKind } from '../../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../../src/core/fields/index.ts'
import { ROLLUP_FUNCTIONS } from '../../../../src/core/fields/rollup.ts'
import type { Field } from '../../../../src/core/model.ts'
import { formulaExpression } from './formula.ts'
import { linkExpression, lookupExpression } from './linked.ts'
import { countedRows, follow, pathOf, stepOf } from './path.ts'
import {
  addSize,
  type Expression,
  type Form,
  fieldsIndexedBy,
  type ReadContext,
  type Scope,
  storedIn,
  valueIn,
  valueStorage,
  wholeOf,
} from './scope.ts'

/** A QR code or barcode: the value of the field that it encodes. */
const codeExpression: Expression = (field, scope, form) => {
  const shown = scope.model.field(String(field.options.valueFieldId ?? ''))
  return shown ? scope.of(shown, scope, form) : null
}

/** The number of linked records. */
const countExpression: Expression = (field, scope) => {
  const step = stepOf(scope.model, field.options.relationFieldId, scope.models)
  return step && scope.dialect.related.count(countedRows(scope, step))
}

/** One value computed over a field of the linked records. */
const rollupExpression: Expression = (field, scope) => {
  const name = ROLLUP_FUNCTIONS.find((known) => known === field.options.function)
  const path = name && pathOf(scope.model, field, scope.models)
  if (!path) return null
  const { rows, end } = follow(scope, path.steps)
  return scope.dialect.related.rollup(rows, name, valueIn(end, path.target))
}

/**
 * A field of the scope’s record as an expression: its column, or for a computed field a scalar subquery or formula. A
 * broken field gives NULL.
 */
export function expressionOf(field: Field, scope: Scope, form: Form): SQL {
  const kind = fieldType(field.type).computed
  if (kind === undefined) return storedIn(scope, field)
  if (field.error !== null) return nothing(scope, field, form)
  addSize(scope)
  return EXPRESSIONS[kind](field, scope, form) ?? nothing(scope, field, form)
}

/** NULL, with the type of the field. */
const nothing = ({ dialect }: Scope, field: Field, form: Form): SQL =>
  dialect.related.nothing(form === 'value' ? valueStorage(field) : storageOf(field))

/** The scope of a statement's own table, under its own name. */
export const rootScope = ({ model, whole, models, dialect, moment, indexes }: ReadContext): Scope => ({
  models,
  dialect,
  moment,
  indexed: fieldsIndexedBy(indexes),
  model: wholeOf({ model, whole }),
  alias: model.table.tableName,
  of: expressionOf,
  state: { size: 0, aliases: 0, dependsOnNow: false },
})

const EXPRESSIONS: Record<ComputedKind, Expression> = {
  link: linkExpression,
  lookup: lookupExpression,
  rollup: rollupExpression,
  count: countExpression,
  formula: formulaExpression,
  code: codeExpression,
  button: formulaExpression,
}
