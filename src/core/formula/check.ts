import { isTimeZone } from '../dates.ts'
import {
  type Expression,
  type FormulaField,
  isListType,
  type Problem,
  type Range,
  type ScalarType,
  type SyntaxNode,
  type ValueType,
} from './ast.ts'
import { asScalar, convertTo, joinCompared, joinTypes, limitWithin, shareZone } from './conversions.ts'
import { firstDay, isUnit } from './date-arithmetic.ts'
import { dateFormatOf } from './date-format.ts'
import { watchedArguments } from './failures.ts'
import { typeOfForm } from './fields.ts'
import type { ArgKind, FormulaFunction } from './functions/define.ts'
import { findFunction } from './functions/index.ts'
import { readJsonPath } from './json-path.ts'
import { measureFormula, TOO_LONG } from './measure.ts'
import { NEGATION, operationOf } from './operators.ts'
import { parseFormula } from './parse.ts'
import { matchesEmpty, readPattern } from './pattern.ts'
import { isTooLarge, ReadFormulas } from './read-formulas.ts'
import { CELL_LIMIT } from './semantics.ts'
import { shownFormatOf } from './show-date.ts'
import { readHolidays } from './workdays.ts'

/** The table and database that a formula is checked for. */
export interface CheckContext {
  /** The fields of its table. */
  fields: readonly FormulaField[]
  /** Further fields, which the formulas of these name: their own names count only there. Default: none. */
  indirect?: readonly FormulaField[]
  /** The database's client, e.g. `sqlite3`: not every function is for every one. */
  client: string
  /** The field that has the formula, if it is there already. */
  selfId?: string
  /** Ids of the fields from which a computed field of the same table takes its value, for finding circles. */
  referencesOf?: (fieldId: string) => readonly string[]
}

/** A field that a formula names, and where. */
interface FoundReference {
  field: FormulaField
  from: number
  to: number
}

/** Checks the nodes of one formula and collects problems. */
interface NodeChecker {
  /** The formulas of the fields that it names. */
  readonly formulas: ReadFormulas
  /** Null for a node that has a problem. */
  check(node: SyntaxNode): Expression | null
  /** Notes a problem at a node. */
  refuse(node: SyntaxNode, type: Problem['type'], message: string): null
}

/** A formula that can be computed, or all that is wrong with it, the first problem first. */
export type CheckedFormula =
  | {
      ok: true
      expression: Expression
      /** `null` for a formula that only gives null; a list is given as text. */
      type: ScalarType
      /** Ids of the fields that it names, each once. */
      references: string[]
      tree: SyntaxNode
      /** The types of the tree's nodes. */
      types: ReadonlyMap<SyntaxNode, ValueType>
    }
  | { ok: false; problems: Problem[] }

/**
 * Reads and checks a formula, with `{Title}` or `{{fieldId}}` references, in the words of spec §5 and §8. Never
 * throws, whatever the text.
 */
export function checkFormula(text: string, context: CheckContext): CheckedFormula {
  const parsed = parseFormula(text)
  if (!parsed.ok) return parsed
  const checker = new FormulaChecker(context)
  const expression = checker.check(parsed.tree)
  const problems = [...checker.problems, ...checkCircle(checker.references, context)]
  if (expression === null || problems.length > 0) return { ok: false, problems }
  const finished = limitWithin(asScalar(expression))
  const tooLarge = isTooLarge(finished) ? TOO_LONG : measureFormula(finished)
  if (tooLarge)
    return { ok: false, problems: [{ type: 'NOT_SUPPORTED', message: tooLarge, from: 0, to: text.length }] }
  return {
    ok: true,
    expression: finished,
    type: isListType(expression.type) ? 'text' : expression.type,
    references: [...new Set(checker.references.map(({ field }) => field.id))],
    tree: parsed.tree,
    types: checker.types,
  }
}

/** Settles names and types from the leaves up. A null has a problem already. */
class FormulaChecker implements NodeChecker {
  readonly problems: Problem[] = []
  readonly references: FoundReference[] = []
  readonly types = new Map<SyntaxNode, ValueType>()
  private readonly byId: Map<string, FormulaField>
  private readonly byTitle: Map<string, FormulaField>

  readonly formulas: ReadFormulas

  constructor(
    private readonly context: CheckContext,
    formulas?: ReadFormulas,
  ) {
    this.formulas = formulas ?? new ReadFormulas((formula) => this.readFormula(formula))
    this.byId = new Map(context.fields.map((field) => [field.id, field]))
    this.byTitle = new Map(context.fields.map((field) => [field.title, field]))
  }

  check(node: SyntaxNode): Expression | null {
    const expression = this.checkNode(node)
    if (expression) this.types.set(node, expression.type)
    return expression
  }

  /** The formula of another field; null for one with a problem. */
  private readFormula(formula: string): Expression | null {
    const { fields, indirect = [], client } = this.context
    const parsed = parseFormula(formula)
    if (!parsed.ok) return null
    const checker = new FormulaChecker({ fields: [...fields, ...indirect], client }, this.formulas)
    const expression = checker.check(parsed.tree)
    return checker.problems.length === 0 ? expression : null
  }

  /** Notes a problem at a node. */
  refuse(node: SyntaxNode, type: Problem['type'], message: string): null {
    this.problems.push({ type, message, from: node.from, to: node.to })
    return null
  }

  private checkNode(node: SyntaxNode): Expression | null {
    switch (node.kind) {
      case 'literal':
        return this.literal(node)
      case 'reference':
        return this.reference(node)
      case 'unary':
        return this.unary(node)
      case 'call':
        return this.call(node)
      case 'binary':
        return this.binary(node)
    }
  }

  private literal(node: SyntaxNode & { kind: 'literal' }): Expression | null {
    const { value } = node
    if (value === null) return { kind: 'literal', type: 'null', value, range: NO_RANGE }
    if (typeof value === 'string') return { kind: 'literal', type: 'text', value, range: NO_RANGE }
    if (typeof value === 'boolean') return { kind: 'literal', type: 'boolean', value, range: NO_RANGE }
    if (!(Math.abs(value) < CELL_LIMIT)) {
      return this.refuse(node, 'INVALID_ARG_VALUE', `The number ${node.raw} is too large`)
    }
    const power = value === 0 ? 0 : Math.floor(Math.log10(Math.abs(value)))
    if (power < -30) return { kind: 'literal', type: 'number', value: 0, range: NO_RANGE }
    return { kind: 'literal', type: 'number', value, range: { max: power + 1, min: power - 1 } }
  }

  private reference(node: SyntaxNode & { kind: 'reference' }): Expression | null {
    const field = node.isId
      ? this.byId.get(node.name)
      : (this.byTitle.get(node.name) ?? this.byId.get(node.name))
    if (!field) {
      return this.refuse(node, 'INVALID_COLUMN', `Invalid column name/id ${node.name} in formula`)
    }
    this.references.push({ field, from: node.from, to: node.to })
    const type = typeOfForm(field.form)
    if (field.isBroken) return { kind: 'literal', type, value: null, range: NO_RANGE }
    const zone = type === 'datetime' ? field.zone : undefined
    return { kind: 'field', type, field, range: { max: 30, min: -30 }, ...(zone !== undefined && { zone }) }
  }

  private call(node: SyntaxNode & { kind: 'call' }): Expression | null {
    const found = findFunction(node.name)
    const message = `Function ${node.name} is not available`
    if (!found) return this.refuse(node, 'INVALID_FUNCTION_NAME', message)
    if (found.unavailable?.includes(this.context.client)) return this.refuse(node, 'NOT_AVAILABLE', message)
    return checkCall(node, found, this)
  }

  private unary(node: SyntaxNode & { kind: 'unary' }): Expression | null {
    if (node.operator !== '-') {
      return this.refuse(node, 'NOT_SUPPORTED', `Unary expression '${node.operator}' is not supported`)
    }
    const operand = this.check(node.operand)
    if (!operand) return null
    const number = convertTo(operand, 'number')
    if (!number) return this.refuse(node.operand, 'TYPE_MISMATCH', 'Numeric type is expected')
    return { kind: 'call', name: NEGATION, type: 'number', args: [number], range: number.range }
  }

  private binary(node: SyntaxNode & { kind: 'binary' }): Expression | null {
    const [left, right] = [this.check(node.left), this.check(node.right)]
    if (!left || !right) return null
    const { args: kinds, returns, range } = operationOf(node.operator)
    if (kinds[0] === 'match') {
      const shared = shareZone(joinCompared([left, right]))
      return { kind: 'call', name: node.operator, type: 'boolean', range: NO_RANGE, ...shared }
    }
    const sides = [
      { side: left, node: node.left },
      { side: right, node: node.right },
    ]
    const converted = sides.map(({ side, node: at }) => {
      const expression = convertTo(side, kinds[0] ?? 'any')
      return expression ?? this.refuse(at, 'TYPE_MISMATCH', 'Numeric type is expected')
    })
    let args = converted.filter((arg) => arg !== null)
    if (args.length < 2) return null
    const type =
      typeof returns === 'string'
        ? returns
        : returns(
            args.map((arg) => arg.type),
            args,
          )
    if (!range) return { kind: 'call', name: node.operator, type, args, range: NO_RANGE }
    let result = range(args.map((arg) => arg.range))
    if (result.max > SAFE || result.min < -SAFE) {
      args = args.map((arg) => limitWithin(arg))
      result = range(args.map((arg) => arg.range))
    }
    return { kind: 'call', name: node.operator, type, args, range: result }
  }
}

const NO_RANGE = { max: 0, min: 0 }
/** Powers of ten that a double holds with room for one more step. */
const SAFE = 250

type Call = SyntaxNode & { kind: 'call' }

/** Type names for error messages and REST clients. */
export const TYPE_NAMES: Record<ValueType, string> = {
  number: 'numeric',
  text: 'string',
  boolean: 'boolean',
  date: 'date',
  datetime: 'date',
  null: 'null',
  texts: 'string',
  numbers: 'string',
}

/** Checks the arguments of a call and brings them to the types that the function wants. */
function checkCall(node: Call, definition: FormulaFunction, checker: NodeChecker): Expression | null {
  const counted = countProblem(node.args.length, definition)
  if (counted) return checker.refuse(node, counted.type, counted.message)
  const kinds = kindsOf(node.args.length, definition)
  const args = node.args.map((arg, index) => {
    const expression = checker.check(arg)
    return expression && checkArgument(arg, index, expression, kinds[index] ?? 'any', definition, checker)
  })
  const checked = args.filter((arg) => arg !== null)
  if (checked.length < args.length) return null
  const shared = shareZone(joinKind(joinKind(checked, kinds, 'result'), kinds, 'match'))
  if (shared.args.some(isTooLarge)) return checker.refuse(node, 'NOT_SUPPORTED', TOO_LONG)
  const joined = definition.watchesErrors
    ? watchedArguments(shared.args, (field) => checker.formulas.failureOf(field))
    : shared.args
  const zone = definition.zoneOf?.(joined) ?? shared.zone
  const { returns, range } = definition
  const types = joined.map(({ type }) => type)
  const rangeOf = (exact: Expression[]) => {
    const ranges = exact.filter(({ type }) => type === 'number').map((arg) => arg.range)
    return range ? range(ranges) : usualRange(ranges)
  }
  let computed = joined
  let result = rangeOf(joined)
  if (result.max > SAFE || result.min < -SAFE) {
    computed = joined.map((arg) => (arg.type === 'number' ? limitWithin(arg) : arg))
    result = rangeOf(computed)
  }
  return {
    kind: 'call',
    name: definition.name,
    args: computed,
    type: typeof returns === 'string' ? returns : returns(types, computed),
    range: result,
    ...(zone !== undefined && { zone }),
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
  if (isLiteralKind(kind)) {
    if (written !== null && isLiteralOf(kind, written)) return expression
    return checker.refuse(node, 'INVALID_ARG_VALUE', specialMessage(definition, kind, index) ?? '')
  }
  if (kind === 'holidays' && written !== null && readHolidays(written) === null)
    return checker.refuse(node, 'INVALID_ARG_VALUE', specialMessage(definition, kind, index) ?? '')
  if (kind === 'pattern') return checkPattern(node, written, expression, definition, checker)
  const takesList = kind === 'list' || kind === 'holidays'
  const converted = convertTo(takesList ? checker.formulas.listOf(expression) : expression, kind)
  if (converted) return converted
  const special = specialMessage(definition, kind, index)
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

/** Arguments that must be written as text in the formula. */
const LITERAL_KINDS = ['unit', 'weekday', 'format', 'zone', 'shownFormat', 'order', 'jsonPath'] as const
type LiteralKind = (typeof LITERAL_KINDS)[number]

const isLiteralKind = (kind: ArgKind): kind is LiteralKind => LITERAL_KINDS.some((known) => known === kind)

const MAX_ZONE_NAME = 64

function isLiteralOf(kind: LiteralKind, written: string): boolean {
  switch (kind) {
    case 'unit':
      return isUnit(written)
    case 'weekday':
      return firstDay(written) >= 0
    case 'format':
      return dateFormatOf(written) !== null
    case 'zone':
      return written.length <= MAX_ZONE_NAME && isTimeZone(written)
    case 'shownFormat':
      return shownFormatOf(written) !== null
    case 'jsonPath':
      return readJsonPath(written) !== null
    case 'order':
      return /^(?:asc|desc)$/i.test(written)
  }
}

const PLACES = ['First', 'Second', 'Third']

/** The message of spec §8 for an argument of a date function; null where the general one applies. */
function specialMessage(
  { name, namesArguments, units = [] }: FormulaFunction,
  kind: ArgKind,
  index: number,
): string | null {
  const start = `${PLACES[index]} parameter of ${name} should be`
  switch (kind) {
    case 'weekday':
      return `${start} day of week string`
    case 'format':
      return `${start} a date format such as 'DD.MM.YYYY' or 'YYYY-MM-DD HH:mm'`
    case 'zone':
      return `${start} a time zone such as 'Europe/Berlin'`
    case 'shownFormat':
      return `${start} a date format such as 'DD.MM.YYYY' or 'dddd, MMMM D, h:mm A'`
    case 'json':
      return `${start} a JSON field or JSON text`
    case 'jsonPath':
      return `${start} a path such as '.size.width' or '.items[0]'`
    case 'order':
      return `${start} 'asc' or 'desc'`
    case 'holidays':
      return `${start} days such as '2024-12-25, 2024-12-26'`
    case 'unit':
      return `${start} one of ${units.map((unit) => `'${unit}'`).join(', ')}`
    case 'instant':
      return `${start} a date`
    case 'date':
    case 'number':
      return namesArguments ? `${start} a ${kind}` : null
    default:
      return null
  }
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

/** A problem for each reference that leads back to the formula's own field. */
function checkCircle(references: FoundReference[], context: CheckContext): Problem[] {
  const { selfId, referencesOf = () => [] } = context
  if (selfId === undefined) return []
  const titles = new Map(context.fields.map(({ id, title }) => [id, title]))
  const problems: Problem[] = []
  for (const { field, from, to } of references) {
    const path = pathTo(field.id, selfId, referencesOf)
    if (!path) continue
    problems.push({
      type: 'CIRCULAR_REFERENCE',
      message: 'Circular reference detected',
      from,
      to,
      path: [selfId, ...path].map((id) => titles.get(id) ?? id),
    })
  }
  return problems
}

/** Ids from one field to another along what they refer to, each field looked at once. */
function pathTo(
  start: string,
  goal: string,
  referencesOf: (fieldId: string) => readonly string[],
): string[] | null {
  const cameFrom = new Map<string, string | null>([[start, null]])
  for (const id of cameFrom.keys()) {
    if (id === goal) return trace(id, cameFrom)
    for (const next of referencesOf(id)) if (!cameFrom.has(next)) cameFrom.set(next, id)
  }
  return null
}

function trace(goal: string, cameFrom: Map<string, string | null>): string[] {
  const path: string[] = []
  for (let id: string | null | undefined = goal; id; id = cameFrom.get(id)) path.unshift(id)
  return path
}
