import type { Expression, FormulaField } from './ast.ts'
import { limitWithin } from './conversions.ts'
import { FAILED, operationOf } from './operators.ts'

/*
 * Errors in formulas. No step of a formula raises an error in the database: one that fails, such as a division by 0,
 * gives null. ISERROR and IFERROR therefore look at a condition next to the value, made of the same expression: that
 * one of its steps which can fail has no result although all of its arguments have values, or that ERROR() is reached. Of a
 * formula field, which is read as a value, it is the condition of that field's formula.
 */

const RANGE = { max: 1, min: 0 }
export const truth = (value: boolean): Expression => ({
  kind: 'literal',
  type: 'boolean',
  value,
  range: RANGE,
})

const call = (name: string, args: Expression[]): Expression => ({
  kind: 'call',
  name,
  args,
  type: 'boolean',
  range: RANGE,
})

const isConstant = (expression: Expression, value: boolean): boolean =>
  expression.kind === 'literal' && expression.value === value

/** Each condition once: those of a formula field that is read several times are the same expressions. */
function anyOf(conditions: Expression[]): Expression {
  const all = conditions.flatMap((condition) =>
    condition.kind === 'call' && condition.name === 'OR' ? condition.args : [condition],
  )
  const possible = [...new Set(all)].filter((condition) => !isConstant(condition, false))
  const [first] = possible
  if (!first || possible.some((condition) => isConstant(condition, true))) return truth(first !== undefined)
  return possible.length === 1 ? first : call('OR', possible)
}

/** The failure of a formula field, by its formula. */
type FieldFailure = (field: FormulaField) => Expression

/** A condition that is true where the expression has no value because of an error. Never null. */
export function failureOf(expression: Expression, ofField: FieldFailure): Expression {
  switch (expression.kind) {
    case 'literal':
      return truth(false)
    case 'field':
      return ofField(expression.field)
    case 'convert': {
      const { from, to } = expression
      const own = to === 'limit' || to === 'datetime' ? call(FAILED, [expression, from]) : truth(false)
      return anyOf([failureOf(from, ofField), own])
    }
    case 'call':
      return failureOfCall(expression, ofField)
  }
}

function failureOfCall(expression: Extract<Expression, { kind: 'call' }>, ofField: FieldFailure): Expression {
  const { name, args } = expression
  const { failure } = operationOf(name)
  const failureOfPart = (part: Expression) => failureOf(part, ofField)
  if (failure === 'always') return truth(true)
  if (failure === 'never') return truth(false)
  if (typeof failure === 'function')
    return failure(args, { failureOf: failureOfPart, anyOf, otherwise: truth(false), call })
  const own = failure === 'possible' ? call(FAILED, [expression, ...args]) : truth(false)
  return anyOf([...args.map(failureOfPart), own])
}

/**
 * Arguments of ISERROR and IFERROR, behind the condition that the first one has failed. A number that has left the range
 * of formulas is an error.
 */
export function watchedArguments([watched, ...rest]: Expression[], ofField: FieldFailure): Expression[] {
  if (!watched) return []
  const value = watched.type === 'number' ? limitWithin(watched) : watched
  return [failureOf(value, ofField), value, ...rest]
}
