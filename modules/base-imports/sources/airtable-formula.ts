import { m } from '../../../src/messages.gen.ts'
import type { AirtableField } from './airtable-types.ts'
import {
  type CallWriter,
  type FormulaDialect,
  literalText,
  type Node,
  numeric,
  required,
  same,
  Untranslatable,
  unsupported,
  wrongArguments,
} from './formula-translator.ts'

/** Formulas of a table of Airtable: percentages are fractions, weeks start on Sunday. */
export function airtableDialect(fields: readonly AirtableField[]): FormulaDialect {
  const byId = new Map(fields.map((field) => [field.id, field]))
  const byTitle = new Map(fields.map((field) => [field.name, field]))
  return {
    fieldNamed: (name) => (byId.get(name) ?? byTitle.get(name))?.id,
    writeField: (fieldId, reference) => writeField(byId.get(fieldId)!, reference),
    isTruth: (fieldId) => byId.get(fieldId)?.type === 'checkbox',
    calls: AIRTABLE_FUNCTIONS,
    clockFunctions: new Set(['NOW', 'TODAY', 'FROMNOW', 'TONOW']),
  }
}

const isNumeric = (type: unknown): boolean =>
  ['number', 'percent', 'currency', 'rating', 'duration', 'count', 'autoNumber'].includes(String(type))

const resultOf = ({ options }: AirtableField): { type?: unknown } =>
  (options?.result ?? {}) as { type?: unknown }

/** A field as its values are there: a percentage as a fraction, a looked-up number as a number. */
function writeField(field: AirtableField, reference: string): string {
  const result = resultOf(field)
  const isLookup = field.type === 'multipleLookupValues'
  const value = isLookup && isNumeric(result.type) ? `VALUE(${reference})` : reference
  const isPercent =
    field.type === 'percent' || ((isLookup || field.type === 'rollup') && result.type === 'percent')
  return isPercent ? `(${value} / 100)` : value
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

/** Steps of DATEADD by the names that Airtable takes. */
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
  h: ['hour', 1],
  hour: ['hour', 1],
  m: ['minute', 1],
  minute: ['minute', 1],
  s: ['second', 1],
  second: ['second', 1],
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

/** Airtable's functions. Those with the same name, arguments and meaning are listed by name. */
export const AIRTABLE_FUNCTIONS: Record<string, CallWriter> = {
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
