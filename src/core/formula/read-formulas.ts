import { type Expression, type FormulaField, isListType } from './ast.ts'
import { asScalar, limitWithin } from './conversions.ts'
import { failureOf, truth } from './failures.ts'

/** Most parts of an expression with the formulas in it: `MAX_WORDS` of `measure.ts`, as each part is at least one word of SQL. */
const MAX_PARTS = 40_000

/**
 * The formulas of the formula fields that another formula names. A reference to such a field reads its value, a single one; its
 * list and its errors are those of its formula, which therefore stands in place of the reference.
 */
export class ReadFormulas {
  private readonly expressions = new Map<string, Expression | null>()
  private readonly failures = new Map<string, Expression>()

  /** @param check reads a formula; null for one with a problem */
  constructor(private readonly check: (formula: string) => Expression | null) {}

  /** An expression whose list can be taken apart: of a formula field that gives a list, its formula. */
  listOf(expression: Expression): Expression {
    const passed = new Set<Expression>()
    let read: Expression | null = expression
    while (read?.kind === 'field' && !passed.has(read)) {
      passed.add(read)
      read = this.expressionOf(read.field) ?? read
    }
    const isList = isListType(read.type) || (read.kind === 'field' && hasSeveral(read.field))
    return isList ? read : expression
  }

  /** The condition that a formula field has no value because of an error. Never null. */
  failureOf(field: FormulaField): Expression {
    const known = this.failures.get(field.id)
    if (known) return known
    // A circle, which is refused elsewhere, ends here.
    this.failures.set(field.id, truth(false))
    const expression = this.expressionOf(field)
    const failure = expression
      ? failureOf(limitWithin(asScalar(expression)), (inner) => this.failureOf(inner))
      : truth(false)
    this.failures.set(field.id, failure)
    return failure
  }

  private expressionOf({ id, formula, isBroken }: FormulaField): Expression | null {
    if (formula === undefined || isBroken) return null
    const known = this.expressions.get(id)
    if (known !== undefined) return known
    this.expressions.set(id, null)
    const checked = this.check(formula)
    const expression = checked && isTooLarge(checked) ? null : checked
    this.expressions.set(id, expression)
    return expression
  }
}

const hasSeveral = ({ form, separator }: FormulaField): boolean =>
  form === 'list' || form === 'linkTitles' || separator !== undefined

/** True for an expression that is too large to be measured, counting the formulas that stand in it. */
export const isTooLarge = (expression: Expression): boolean => countParts(expression) > MAX_PARTS

/** What was counted before: a formula may stand in many expressions. */
const counted = new WeakMap<Expression, number>()

function countParts(expression: Expression): number {
  const known = counted.get(expression)
  if (known !== undefined) return known
  const parts =
    expression.kind === 'call' ? expression.args : expression.kind === 'convert' ? [expression.from] : []
  const count = parts.reduce((sum, part) => sum + countParts(part), 1)
  counted.set(expression, count)
  return count
}
