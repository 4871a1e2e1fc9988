import type { SQL } from 'drizzle-orm'
import type { ComputedKind } from '../../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../../src/core/fields/index.ts'
import { storageOf } from '../../../../src/core/fields/result.ts'
import type { Field } from '../../../../src/core/model.ts'
import { codeExpression } from './code.ts'
import { formulaExpression } from './formula.ts'
import { linkExpression } from './link.ts'
import { lookupExpression } from './lookup.ts'
import { valueStorage } from './related-value.ts'
import { rollupExpression } from './rollup.ts'
import { type Scope, spend, storedIn } from './scope.ts'

/**
 * What is wanted of a field: what its `cell` shows, or the `value` that it is filtered, sorted, grouped
 * and summed up by. They differ for what holds several: a link counts (or is its record's name), a list
 * is the text of its values. `records` is a cell that lists as many linked records as REST clients get,
 * `whole` one that lists all of them, `first` the first value of a list.
 */
export type Form = 'cell' | 'value' | 'records' | 'whole' | 'first'

/** How one kind of computed field is worked out; null where something it needs is gone. */
export type Expression = (field: Field, scope: Scope, form: Form) => SQL | null

/** Looked up when it is used: each of these builds on `expressionOf` in turn. */
const expressions = (): Record<ComputedKind, Expression> => ({
  link: linkExpression,
  lookup: lookupExpression,
  rollup: rollupExpression,
  formula: formulaExpression,
  code: codeExpression,
  button: formulaExpression,
})

/**
 * A field of the record that a scope speaks of, as an expression: its column, or for a computed field
 * a scalar subquery or formula. A broken field gives NULL.
 */
export function expressionOf(field: Field, scope: Scope, form: Form): SQL {
  const kind = fieldType(field.type).computed
  if (kind === undefined) return storedIn(scope, field)
  if (field.error !== null) return nothing(scope, field, form)
  spend(scope)
  return expressions()[kind](field, scope, form) ?? nothing(scope, field, form)
}

/** What a broken field gives. */
const nothing = ({ dialect }: Scope, field: Field, form: Form): SQL =>
  dialect.related.nothing(form === 'value' ? valueStorage(field) : storageOf(field))
