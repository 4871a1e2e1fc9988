import type { Expression, Problem, Range, SyntaxNode, ValueType } from './ast.ts'
import type { NodeChecker } from './check-context.ts'
import { convertTo, joinCompared, joinTypes } from './conversions.ts'
import { dateFormatOf } from './date-format.ts'
import type { ArgKind, FormulaFunction } from './functions/define.ts'
import { matchesEmpty, readPattern } from './pattern.ts'
import { DIFFERENCE_UNITS, differenceUnit, firstDay, STEP_UNITS, stepOf } from './units.ts'

type Call = SyntaxNode & { kind: 'call' }

/** What people call the types. */
const TYPE_NAMES: Record<ValueType, string> = {
  number: 'numeric',
  text: 'string',
  boolean: 'boolean',
  date: 'date',
  datetime: 'date',
  null: 'null',
}

/** Checks the arguments of a call and brings them to the types that the function wants. */
export function checkCall(node: Call, definition: FormulaFunction, checker: NodeChecker): Expression | null {
  const counted = countProblem(node.args.length, definition)
  if (counted) return checker.refuse(node, counted.type, counted.message)
  const kinds = kindsOf(node.args.length, definition)
  const args = node.args.map((arg, index) => {
    const expression = checker.check(arg)
    return expression && checkArgument(arg, index, expression, kinds[index] ?? 'any', definition, checker)
  })
  const checked = args.filter((arg) => arg !== null)
  if (checked.length < args.length) return null
  const joined = joinKind(joinKind(checked, kinds, 'result'), kinds, 'match')
  const { returns, range } = definition
  const types = joined.map(({ type }) => type)
  const ranges = joined.filter(({ type }) => type === 'number').map((arg) => arg.range)
  return {
    kind: 'call',
    name: definition.name,
    args: joined,
    type: typeof returns === 'string' ? returns : returns(types, joined),
    range: range ? range(ranges) : usualRange(ranges),
  }
}

/** Functions give at most a sum of what they are given, and at least what rounding leaves of it. */
const usualRange = (ranges: Range[]): Range => ({
  max: Math.max(35, ...ranges.map(({ max }) => max + 4)),
  min: Math.min(-35, ...ranges.map(({ min }) => min - 20)),
})

function countProblem(
  count: number,
  { min, max }: FormulaFunction,
): Pick<Problem, 'type' | 'message'> | null {
  if (count >= min && count <= max) return null
  if (min === max) return { type: 'INVALID_ARG_COUNT', message: 'Required arguments missing' }
  return count < min
    ? { type: 'MIN_ARG', message: 'Minimum arguments required' }
    : { type: 'MAX_ARG', message: 'Maximum arguments missing' }
}

/** The kind of each argument that is given. Of an odd one behind SWITCH's pairs the last is its "else". */
function kindsOf(count: number, { args, rest = [] }: FormulaFunction): ArgKind[] {
  const kinds = Array.from({ length: count }, (_, index): ArgKind => {
    return args[index] ?? rest[(index - args.length) % rest.length] ?? 'any'
  })
  const isElse = rest.length === 2 && (count - args.length) % 2 === 1
  if (isElse) kinds[count - 1] = 'result'
  return kinds
}

/** Brings all arguments of a kind to types that go together. */
function joinKind(args: Expression[], kinds: ArgKind[], kind: 'result' | 'match'): Expression[] {
  const ofKind = args.filter((_, index) => kinds[index] === kind)
  const joined = kind === 'match' ? joinCompared(ofKind) : joinTypes(ofKind)
  return args.map((arg, index) => (kinds[index] === kind ? (joined.shift() ?? arg) : arg))
}

function checkArgument(
  node: SyntaxNode,
  index: number,
  expression: Expression,
  kind: ArgKind,
  definition: FormulaFunction,
  checker: NodeChecker,
): Expression | null {
  const written = node.kind === 'literal' && typeof node.value === 'string' ? node.value : null
  if (kind === 'unit' || kind === 'weekday') {
    return isKnown(written, kind, definition.name)
      ? expression
      : checker.refuse(node, 'INVALID_ARG_VALUE', specialMessage(definition.name, index) ?? '')
  }
  if (kind === 'format') {
    if (written !== null && dateFormatOf(written) !== null) return expression
    return checker.refuse(node, 'INVALID_ARG_VALUE', specialMessage(definition.name, index) ?? '')
  }
  if (kind === 'pattern') return checkPattern(node, written, expression, definition, checker)
  const converted = convertTo(expression, kind)
  if (converted) return converted
  const special = specialMessage(definition.name, index)
  if (special) return checker.refuse(node, 'INVALID_ARG_TYPE', special)
  return checker.refuse(node, 'TYPE_MISMATCH', mismatch(expression, kind, index, definition.name))
}

function mismatch(expression: Expression, kind: ArgKind, index: number, name: string): string {
  const expected = kind === 'number' ? 'numeric' : kind === 'date' ? 'date' : 'boolean'
  if (expression.kind === 'field') {
    const found = TYPE_NAMES[expression.type]
    return `Field ${expression.field.title} with ${found} type is found but ${expected} type is expected`
  }
  if (kind === 'number') return `${name} requires a numeric at position ${index + 1}`
  return kind === 'date' ? 'Date type is expected' : 'Boolean type is expected'
}

function isKnown(written: string | null, kind: 'unit' | 'weekday', name: string): boolean {
  if (written === null) return false
  if (kind === 'weekday') return firstDay(written) >= 0
  return name === 'DATEADD' ? stepOf(written) !== null : differenceUnit(written) !== null
}

const PLACES = ['First', 'Second', 'Third']

/** Spec §8 words what the functions of dates want. */
function specialMessage(name: string, index: number): string | null {
  const start = `${PLACES[index]} parameter of ${name} should be`
  if (name === 'WEEKDAY') return index === 0 ? `${start} a date` : `${start} day of week string`
  if (name === 'DATETIME_PARSE') return `${start} a date format such as 'DD.MM.YYYY' or 'YYYY-MM-DD HH:mm'`
  if (name !== 'DATEADD' && name !== 'DATETIME_DIFF') return null
  if (index === 2) {
    const units = name === 'DATEADD' ? STEP_UNITS : DIFFERENCE_UNITS
    return `${start} one of ${units.map((unit) => `'${unit}'`).join(', ')}`
  }
  return name === 'DATEADD' && index === 1 ? `${start} a number` : `${start} a date`
}

function checkPattern(
  node: SyntaxNode,
  written: string | null,
  expression: Expression,
  { name }: FormulaFunction,
  checker: NodeChecker,
): Expression | null {
  if (written === null) return checker.refuse(node, 'INVALID_ARG_TYPE', 'String type is expected')
  const read = readPattern(written)
  if (!read.ok) return checker.refuse(node, 'INVALID_ARG_VALUE', read.message)
  if (name === 'REGEX_REPLACE' && matchesEmpty(written)) {
    return checker.refuse(node, 'INVALID_ARG_VALUE', 'The regular expression matches the empty text')
  }
  return expression
}
