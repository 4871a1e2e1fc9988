import {
  type FormulaToken,
  formulaTokens,
  MAX_FORMULA_LENGTH,
  readReference,
  readString,
} from '../../../src/core/formula/index.ts'
import { m } from '../../../src/messages.gen.ts'
import type { AirtableField } from './airtable-types.ts'

/** A formula of Airtable in the language of `src/core/formula`. */
export interface TranslatedFormula {
  /** The text, with `{{id}}` for each field. */
  formula(idOf: (fieldId: string) => string): string
  /** Fields of the source that it reads. */
  fieldIds: string[]
  readsClock: boolean
}

type Node =
  | { kind: 'literal'; text: string }
  | { kind: 'field'; field: AirtableField }
  | { kind: 'call'; name: string; args: Node[] }
  | { kind: 'binary'; operator: string; left: Node; right: Node }
  | { kind: 'minus'; operand: Node }

/** Deepest nesting of a formula that is translated. */
const MAX_NESTING = 200

/** Why a formula cannot be translated, for the report. */
class Untranslatable extends Error {}

/**
 * Translates a formula of Airtable. What Airtable computes differently is written so that ours gives the same: an empty
 * number counts as 0, percentages are fractions, weeks start on Sunday. Results are compared with the source afterwards.
 *
 * @param fields the fields of the formula's table, which it names by id or title
 */
export function translateFormula(
  text: string,
  fields: readonly AirtableField[],
): TranslatedFormula | { problem: string } {
  try {
    if (text.trim() === '') throw new Untranslatable(m.base_imports_reason_no_formula())
    if (text.length > MAX_FORMULA_LENGTH) throw new Untranslatable(m.base_imports_reason_long_formula())
    const parsed = parse(text, fields)
    const read = new Map<string, AirtableField>()
    const names = new Set<string>()
    visit(parsed, (node) => {
      if (node.kind === 'field') read.set(node.field.id, node.field)
      if (node.kind === 'call') names.add(node.name)
    })
    // Translated once here, so that it fails before anything is created.
    write(parsed, (id) => id)
    return {
      formula: (idOf) => write(parsed, idOf),
      fieldIds: [...read.keys()],
      readsClock: [...names].some((name) => CLOCK_FUNCTIONS.has(name)),
    }
  } catch (error) {
    if (error instanceof Untranslatable) return { problem: error.message }
    throw error
  }
}

const CLOCK_FUNCTIONS = new Set(['NOW', 'TODAY', 'FROMNOW', 'TONOW'])

function visit(node: Node, see: (node: Node) => void): void {
  see(node)
  if (node.kind === 'call') for (const arg of node.args) visit(arg, see)
  if (node.kind === 'minus') visit(node.operand, see)
  if (node.kind === 'binary') {
    visit(node.left, see)
    visit(node.right, see)
  }
}

/** Binary operators by how tightly they bind. */
const BINDING: Record<string, number> = {
  '=': 1,
  '!=': 1,
  '<': 1,
  '<=': 1,
  '>': 1,
  '>=': 1,
  '&': 2,
  '+': 3,
  '-': 3,
  '*': 4,
  '/': 4,
}

function parse(text: string, fields: readonly AirtableField[]): Node {
  const tokens = formulaTokens(text).filter(({ kind }) => kind !== 'space')
  const byId = new Map(fields.map((field) => [field.id, field]))
  const byTitle = new Map(fields.map((field) => [field.name, field]))
  let at = 0

  const unreadable = (token: FormulaToken | undefined): Untranslatable =>
    new Untranslatable(
      m.base_imports_reason_unreadable({ text: (token?.text ?? text.slice(-20)).slice(0, 40) }),
    )

  function take(kind: FormulaToken['kind']): FormulaToken {
    const token = tokens[at]
    if (token?.kind !== kind) throw unreadable(token)
    at += 1
    return token
  }

  function binary(least: number, depth: number): Node {
    if (depth > MAX_NESTING) throw new Untranslatable(m.base_imports_reason_long_formula())
    let left = unary(depth)
    for (;;) {
      const token = tokens[at]
      const binding = token?.kind === 'operator' ? BINDING[token.text] : undefined
      if (token === undefined || binding === undefined || binding < least) return left
      at += 1
      left = { kind: 'binary', operator: token.text, left, right: binary(binding + 1, depth + 1) }
    }
  }

  function unary(depth: number): Node {
    const token = tokens[at]
    if (token?.kind !== 'operator' || (token.text !== '-' && token.text !== '+')) return primary(depth)
    at += 1
    const operand = unary(depth + 1)
    return token.text === '-' ? { kind: 'minus', operand } : operand
  }

  function primary(depth: number): Node {
    const token = tokens[at]
    at += 1
    switch (token?.kind) {
      case 'number':
      case 'string':
        return { kind: 'literal', text: token.text }
      case 'literal':
        return { kind: 'literal', text: token.text.toLowerCase() }
      case 'reference':
      case 'name': {
        const { name } = readReference(token.text)
        const field = byId.get(name) ?? byTitle.get(name)
        if (!field)
          throw new Untranslatable(m.base_imports_reason_unknown_field({ field: name.slice(0, 100) }))
        return { kind: 'field', field }
      }
      case 'open': {
        const inner = binary(1, depth + 1)
        take('close')
        return inner
      }
      case 'function':
        return { kind: 'call', name: token.text.toUpperCase(), args: argumentsOf(depth + 1) }
      default:
        throw unreadable(token)
    }
  }

  function argumentsOf(depth: number): Node[] {
    take('open')
    const args: Node[] = []
    if (tokens[at]?.kind === 'close') {
      at += 1
      return args
    }
    for (;;) {
      args.push(binary(1, depth))
      const token = tokens[at]
      at += 1
      if (token?.kind === 'close') return args
      if (token?.kind !== 'comma') throw unreadable(token)
    }
  }

  const whole = binary(1, 0)
  if (at < tokens.length) throw unreadable(tokens[at])
  return whole
}

type IdOf = (fieldId: string) => string
/** Writes a call from its arguments. `text` writes an argument, `number` one that counts as 0 if it is empty. */
type CallWriter = (args: Node[], write: { text(node: Node): string; number(node: Node): string }) => string

function write(node: Node, idOf: IdOf): string {
  const text = (inner: Node) => write(inner, idOf)
  const number = (inner: Node) => orZero(inner, idOf)
  switch (node.kind) {
    case 'literal':
      return node.text
    case 'field':
      return writeField(node.field, idOf)
    case 'minus':
      return `(0 - ${number(node.operand)})`
    case 'binary': {
      const isArithmetic = '+-*/'.includes(node.operator)
      const operand = isArithmetic ? number : text
      return `(${operand(node.left)} ${node.operator} ${operand(node.right)})`
    }
    case 'call': {
      const writer = CALLS[node.name]
      if (!writer)
        throw new Untranslatable(m.base_imports_reason_function({ function: node.name.slice(0, 60) }))
      return writer(node.args, { text, number })
    }
  }
}

const isNumeric = (type: unknown): boolean =>
  ['number', 'percent', 'currency', 'rating', 'duration', 'count', 'autoNumber'].includes(String(type))

const resultOf = ({ options }: AirtableField): { type?: unknown } =>
  (options?.result ?? {}) as { type?: unknown }

/** A field as its values are there: a percentage as a fraction, a looked-up number as a number. */
function writeField(field: AirtableField, idOf: IdOf): string {
  const reference = `{{${idOf(field.id)}}}`
  const result = resultOf(field)
  const isLookup = field.type === 'multipleLookupValues'
  const value = isLookup && isNumeric(result.type) ? `VALUE(${reference})` : reference
  const isPercent =
    field.type === 'percent' || ((isLookup || field.type === 'rollup') && result.type === 'percent')
  return isPercent ? `(${value} / 100)` : value
}

/** An operand of arithmetic: an empty one counts as 0. */
function orZero(node: Node, idOf: IdOf): string {
  const text = write(node, idOf)
  const mayBeEmpty =
    node.kind === 'field' || (node.kind === 'call' && ['IF', 'SWITCH', 'BLANK', 'VALUE'].includes(node.name))
  if (!mayBeEmpty) return text
  if (node.kind === 'field' && node.field.type === 'checkbox') return `IF(${text}, 1, 0)`
  return `IF(ISBLANK(${text}), 0, ${text})`
}

/** A call with the same arguments. */
const same =
  (name: string): CallWriter =>
  (args, { text }) =>
    `${name}(${args.map(text).join(', ')})`

const numeric =
  (name: string): CallWriter =>
  (args, { number }) =>
    `${name}(${args.map(number).join(', ')})`

/** The text of a literal argument. */
function literalText(node: Node | undefined): string | null {
  return node?.kind === 'literal' && /^["']/.test(node.text) ? readString(node.text) : null
}

/** Rounds to multiples of a number. */
const multiples =
  (name: string): CallWriter =>
  ([value, step], { number }) => {
    if (!value) throw wrongArguments(name)
    return step === undefined
      ? `${name}(${number(value)})`
      : `(${name}(${number(value)} / ${number(step)}) * ${number(step)})`
  }

const wrongArguments = (name: string): Untranslatable =>
  new Untranslatable(m.base_imports_reason_arguments({ function: name }))

function required(args: Node[], count: number, name: string): Node[] {
  if (args.length < count) throw wrongArguments(name)
  return args
}

/** Steps of DATEADD: ours are days, weeks, months and years. */
const STEPS: Record<string, readonly [unit: string, factor: number]> = {
  d: ['day', 1],
  day: ['day', 1],
  w: ['week', 1],
  week: ['week', 1],
  month: ['month', 1],
  quarter: ['month', 3],
  q: ['month', 3],
  y: ['year', 1],
  year: ['year', 1],
}

/** Units of differences by the names that Airtable takes; `M` is months, `m` minutes. */
const UNITS: Record<string, string> = {
  ms: 'milliseconds',
  millisecond: 'milliseconds',
  s: 'seconds',
  second: 'seconds',
  m: 'minutes',
  minute: 'minutes',
  h: 'hours',
  hour: 'hours',
  d: 'days',
  day: 'days',
  w: 'weeks',
  week: 'weeks',
  M: 'months',
  month: 'months',
  q: 'quarters',
  Q: 'quarters',
  quarter: 'quarters',
  y: 'years',
  year: 'years',
}

const unitKey = (text: string): string => (text.length <= 2 ? text : text.toLowerCase().replace(/s$/, ''))

function unitOf(node: Node | undefined, name: string): string {
  const text = literalText(node)
  const unit = text === null ? undefined : UNITS[unitKey(text)]
  if (unit === undefined) throw new Untranslatable(m.base_imports_reason_unit({ function: name }))
  return `"${unit}"`
}

const fromSunday =
  (name: string): CallWriter =>
  (args, { text }) => {
    const [date, start] = required(args, 1, name)
    const day = start === undefined ? 'sunday' : literalText(start)?.toLowerCase()
    if (day === undefined) throw wrongArguments(name)
    return `${name}(${text(date!)}, "${day}")`
  }

const unsupported =
  (reason: () => string): CallWriter =>
  () => {
    throw new Untranslatable(reason())
  }

/** Airtable's functions. Those with the same name, arguments and meaning are listed by name. */
const CALLS: Record<string, CallWriter> = {
  ...Object.fromEntries(
    [
      'AND',
      'OR',
      'XOR',
      'IF',
      'SWITCH',
      'TRUE',
      'FALSE',
      'BLANK',
      'ERROR',
      'ISERROR',
      'TRIM',
      'UPPER',
      'LOWER',
      'LEN',
      'LEFT',
      'RIGHT',
      'MID',
      'FIND',
      'VALUE',
      'ENCODE_URL_COMPONENT',
      'REGEX_MATCH',
      'REGEX_EXTRACT',
      'REGEX_REPLACE',
      'ARRAYJOIN',
      'ARRAYUNIQUE',
      'ARRAYCOMPACT',
      'ARRAYFLATTEN',
      'ARRAYSLICE',
      'COUNT',
      'COUNTA',
      'COUNTALL',
      'NOW',
      'TODAY',
      'YEAR',
      'MONTH',
      'DAY',
      'HOUR',
      'MINUTE',
      'SECOND',
      'DATESTR',
      'DATETIME_FORMAT',
      'DATETIME_PARSE',
      'SET_TIMEZONE',
      'IS_BEFORE',
      'IS_AFTER',
      'WORKDAY',
      'WORKDAY_DIFF',
      'FROMNOW',
    ].map((name) => [name, same(name)]),
  ),
  ...Object.fromEntries(
    ['ABS', 'SQRT', 'EXP', 'POWER', 'MOD', 'INT', 'EVEN', 'ODD', 'ROUND', 'ROUNDUP', 'ROUNDDOWN'].map(
      (name) => [name, numeric(name)],
    ),
  ),
  SUM: same('ADD'),
  AVERAGE: same('AVG'),
  MAX: same('MAX'),
  MIN: same('MIN'),
  CEILING: multiples('CEILING'),
  FLOOR: multiples('FLOOR'),
  LOG([value, base], { number }) {
    if (!value) throw wrongArguments('LOG')
    return `LOG(${base === undefined ? '10' : number(base)}, ${number(value)})`
  },
  CONCATENATE: same('CONCAT'),
  REPT: same('REPEAT'),
  T: ([value], { text }) => (value ? `CONCAT(${text(value)})` : '""'),
  NOT: ([value], { text }) => (value ? `IF(${text(value)}, FALSE(), TRUE())` : 'TRUE()'),
  TONOW: same('FROMNOW'),
  TIMESTR: ([date], { text }) => `DATETIME_FORMAT(${date ? text(date) : 'BLANK()'}, "HH:mm:ss")`,
  SUBSTITUTE(args, { text }) {
    const [whole, find, replacement, index] = required(args, 3, 'SUBSTITUTE')
    if (index !== undefined) throw wrongArguments('SUBSTITUTE')
    return `REPLACE(${text(whole!)}, ${text(find!)}, ${text(replacement!)})`
  },
  REPLACE(args, { text, number }) {
    const [whole, start, count, replacement] = required(args, 4, 'REPLACE')
    const [head, tail] = [`${number(start!)} - 1`, `${number(start!)} + ${number(count!)}`]
    return `CONCAT(LEFT(${text(whole!)}, ${head}), ${text(replacement!)}, SUBSTR(${text(whole!)}, ${tail}))`
  },
  // Empty where FIND gives 0.
  SEARCH(args, { text }) {
    required(args, 2, 'SEARCH')
    const found = `FIND(${args.map(text).join(', ')})`
    return `IF(${found} = 0, BLANK(), ${found})`
  },
  DATEADD(args, { text, number }) {
    const [date, count, unit] = required(args, 3, 'DATEADD')
    const name = literalText(unit)
    const step = name === null ? undefined : STEPS[unitKey(name)]
    if (!step) throw new Untranslatable(m.base_imports_reason_unit({ function: 'DATEADD' }))
    const [ours, factor] = step
    const steps = factor === 1 ? number(count!) : `${number(count!)} * ${factor}`
    return `DATEADD(${text(date!)}, ${steps}, "${ours}")`
  },
  DATETIME_DIFF(args, { text }) {
    const [first, last, unit] = required(args, 2, 'DATETIME_DIFF')
    const ours = unit === undefined ? '"seconds"' : unitOf(unit, 'DATETIME_DIFF')
    return `DATETIME_DIFF(${text(first!)}, ${text(last!)}, ${ours})`
  },
  IS_SAME(args, { text }) {
    const [first, last, unit] = required(args, 2, 'IS_SAME')
    const ours = unit === undefined ? '' : `, ${unitOf(unit, 'IS_SAME')}`
    return `IS_SAME(${text(first!)}, ${text(last!)}${ours})`
  },
  WEEKDAY: fromSunday('WEEKDAY'),
  WEEKNUM: fromSunday('WEEKNUM'),
  CREATED_TIME: () => 'CREATED_TIME()',
  RECORD_ID: unsupported(() => m.base_imports_reason_record_id()),
  LAST_MODIFIED_TIME: unsupported(() => m.base_imports_reason_last_modified()),
  SET_LOCALE: unsupported(() => m.base_imports_reason_function({ function: 'SET_LOCALE' })),
}
