import { m } from '../../../src/messages.gen.ts'
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

/** A field that formulas name by its title. */
export interface BaserowFormulaField {
  id: string
  name: string
  isText: boolean
  isTruth: boolean
}

/**
 * Formulas of a table of Baserow (https://baserow.io/docs/tutorials/understanding-baserow-formulas). An empty number counts as 0 in
 * some of its versions and makes the result empty in others, so there are two dialects.
 */
export const baserowDialects = (fields: readonly BaserowFormulaField[]): FormulaDialect[] => {
  const byId = new Map(fields.map((field) => [field.id, field]))
  const byTitle = new Map(fields.map((field) => [field.name, field]))
  const dialect: FormulaDialect = {
    fieldNamed: (name) => byTitle.get(name)?.id,
    fieldFunction: 'FIELD',
    writeField: (_fieldId, reference) => reference,
    isTruth: (fieldId) => byId.get(fieldId)?.isTruth ?? false,
    isText: (fieldId) => byId.get(fieldId)?.isText ?? false,
    textFunctions: TEXT_FUNCTIONS,
    calls: CALLS,
    clockFunctions: new Set(['NOW', 'TODAY']),
  }
  return [dialect, { ...dialect, emptyIsZero: false }]
}

/** `lookup('Link', 'Title')`, alone or in a function: `sum(lookup('Link', 'Price'))`. */
export interface WholeLookup {
  aggregation: string | null
  linkTitle: string
  targetTitle: string
}

const WHOLE_LOOKUP =
  /^(?:(\w{1,20})\()?lookup\((?:'([^'\\]{1,255})'|"([^"\\]{1,255})"),\s{0,9}(?:'([^'\\]{1,255})'|"([^"\\]{1,255})")\)(\))?$/i

/** The lookup that makes up a whole formula; null for any other. */
export function readWholeLookup(formula: string): WholeLookup | null {
  const found = WHOLE_LOOKUP.exec(formula.trim().slice(0, 2000))
  if (!found) return null
  const [, aggregation, ...quoted] = found
  const isClosed = quoted.pop() !== undefined
  const [linkTitle, targetTitle] = quoted.filter((title) => title !== undefined)
  if (isClosed !== (aggregation !== undefined) || !linkTitle || !targetTitle) return null
  return { aggregation: aggregation?.toLowerCase() ?? null, linkTitle, targetTitle }
}

/** Texts, which hold no calls, and lookups with the function around them, if any. */
const INNER_LOOKUP =
  /'(?:[^'\\]|\\[\s\S])*'?|"(?:[^"\\]|\\[\s\S])*"?|\b(?:(count|sum|avg|max|min|join)\(\s{0,9})?lookup\(\s{0,9}('[^'\\]{1,255}'|"[^"\\]{1,255}")\s{0,9},\s{0,9}('[^'\\]{1,255}'|"[^"\\]{1,255}")\s{0,9}\)(\s{0,9}\))?/gi

/**
 * A formula whose lookups are references to fields: `sum(lookup('Orders', 'Total')) * 2` is `field('…') * 2`, and
 * `join(lookup('Orders', 'Ref'), ', ')` is `join(field('…'), ', ')`, with a field for the list of values.
 * @param nameOf the name of the field for a lookup; null leaves it as it is
 */
export const replaceLookups = (formula: string, nameOf: (lookup: WholeLookup) => string | null): string =>
  formula.replace(
    INNER_LOOKUP,
    (whole: string, aggregation?: string, link?: string, target?: string, close?: string) => {
      if (!link || !target) return whole
      const around = aggregation?.toLowerCase() ?? null
      const isList = around === null || around === 'join'
      if (!isList && close === undefined) return whole
      const name = nameOf({
        aggregation: around,
        linkTitle: link.slice(1, -1),
        targetTitle: target.slice(1, -1),
      })
      if (name === null) return whole
      return isList ? `${around === null ? '' : 'join('}field('${name}')${close ?? ''}` : `field('${name}')`
    },
  )

const TEXT_FUNCTIONS = new Set([
  'UPPER',
  'LOWER',
  'TRIM',
  'LEFT',
  'RIGHT',
  'CONCAT',
  'TOTEXT',
  'T',
  'JOIN',
  'REPLACE',
  'REGEX_REPLACE',
  'DATETIME_FORMAT',
  'ENCODE_URI_COMPONENT',
])

/** Parts of date formats, which are those of PostgreSQL. */
const FORMAT_PARTS: Record<string, string> = {
  HH24: 'HH',
  HH12: 'hh',
  MI: 'mm',
  SS: 'ss',
  Month: 'MMMM',
  Mon: 'MMM',
  FMMM: 'M',
  FMDD: 'D',
}

function dateFormat(node: Node | undefined, name: string): string {
  const text = literalText(node)
  if (text === null) throw wrongArguments(name)
  return JSON.stringify(
    text.replace(/HH24|HH12|FMMM|FMDD|Month|Mon|MI|SS/g, (part) => FORMAT_PARTS[part] ?? part),
  )
}

/** Units of `date_diff`. */
const UNITS: Record<string, string> = {
  yy: 'years',
  yyyy: 'years',
  year: 'years',
  qq: 'quarters',
  quarter: 'quarters',
  mm: 'months',
  month: 'months',
  wk: 'weeks',
  week: 'weeks',
  dd: 'days',
  day: 'days',
  hh: 'hours',
  hour: 'hours',
  mi: 'minutes',
  minute: 'minutes',
  ss: 'seconds',
  second: 'seconds',
}

/** A function of numbers with a pattern in which `@` is the argument. */
const ofNumber =
  (name: string, pattern: string): CallWriter =>
  (args, { number }) => {
    const [value] = required(args, 1, name)
    const text = number(value!)
    return pattern.replaceAll('@', () => text)
  }

const comparison =
  (operator: string): CallWriter =>
  (args, { text }) => {
    const [left, right] = required(args, 2, operator)
    return `(${text(left!)} ${operator} ${text(right!)})`
  }

const CALLS: Record<string, CallWriter> = {
  ...Object.fromEntries(
    [
      'UPPER',
      'LOWER',
      'TRIM',
      'LEFT',
      'RIGHT',
      'CONCAT',
      'REPLACE',
      'REGEX_REPLACE',
      'ISBLANK',
      'IF',
      'AND',
      'OR',
      'NOW',
      'TODAY',
      'DAY',
      'MONTH',
      'YEAR',
      'SECOND',
    ].map((name) => [name, same(name)]),
  ),
  ...Object.fromEntries(
    ['ROUND', 'ABS', 'SQRT', 'POWER', 'EXP', 'MOD', 'FLOOR'].map((name) => [name, numeric(name)]),
  ),
  CEIL: numeric('CEILING'),
  GREATEST: numeric('MAX'),
  LEAST: numeric('MIN'),
  INT: ofNumber('INT', 'ROUNDDOWN(@, 0)'),
  TRUNC: ofNumber('TRUNC', 'ROUNDDOWN(@, 0)'),
  EVEN: ofNumber('EVEN', '(MOD(@, 2) = 0)'),
  ODD: ofNumber('ODD', '(MOD(@, 2) != 0)'),
  SIGN: ofNumber('SIGN', 'IF(@ > 0, 1, IF(@ < 0, 0 - 1, 0))'),
  LN: ofNumber('LN', 'LOG(2.718281828459045, @)'),
  LOG(args, { number }) {
    const [value, base] = required(args, 2, 'LOG')
    return `LOG(${number(base!)}, ${number(value!)})`
  },
  ADD: (args, { number }) => `(${required(args, 2, 'ADD').map(number).join(' + ')})`,
  MINUS: (args, { number }) => `(${required(args, 2, 'MINUS').map(number).join(' - ')})`,
  MULTIPLY: (args, { number }) => `(${required(args, 2, 'MULTIPLY').map(number).join(' * ')})`,
  DIVIDE: (args, { number }) => `(${required(args, 2, 'DIVIDE').map(number).join(' / ')})`,
  EQUAL: comparison('='),
  NOT_EQUAL: comparison('!='),
  GREATER_THAN: comparison('>'),
  GREATER_THAN_OR_EQUAL: comparison('>='),
  LESS_THAN: comparison('<'),
  LESS_THAN_OR_EQUAL: comparison('<='),
  NOT: ([value], { text }) => (value ? `IF(${text(value)}, FALSE(), TRUE())` : 'TRUE()'),
  IS_NULL: same('ISBLANK'),
  WHEN_EMPTY(args, { text }) {
    const [value, fallback] = required(args, 2, 'WHEN_EMPTY')
    return `IF(ISBLANK(${text(value!)}), ${text(fallback!)}, ${text(value!)})`
  },
  ERROR_TO_NULL: ([value], { text }) => (value ? `IFERROR(${text(value)}, BLANK())` : 'BLANK()'),
  JOIN(args, { text }) {
    const [list, separator] = required(args, 2, 'JOIN')
    return `ARRAYJOIN(${text(list!)}, ${text(separator!)})`
  },
  LENGTH: same('LEN'),
  TOTEXT: same('CONCAT'),
  T: same('CONCAT'),
  TONUMBER: same('VALUE'),
  ENCODE_URI_COMPONENT: same('ENCODE_URL_COMPONENT'),
  CONTAINS(args, { text }) {
    const [whole, part] = required(args, 2, 'CONTAINS')
    return `(FIND(${text(part!)}, ${text(whole!)}) > 0)`
  },
  SEARCH(args, { text }) {
    const [whole, part] = required(args, 2, 'SEARCH')
    return `FIND(${text(part!)}, ${text(whole!)})`
  },
  DATETIME_FORMAT: ([date, format], { text }) =>
    `DATETIME_FORMAT(${date ? text(date) : 'BLANK()'}, ${dateFormat(format, 'DATETIME_FORMAT')})`,
  TODATE: ([value, format], { text }) =>
    `DATETIME_PARSE(${value ? text(value) : 'BLANK()'}, ${dateFormat(format, 'TODATE')})`,
  DATE_DIFF(args, { text }) {
    const [unit, from, to] = required(args, 3, 'DATE_DIFF')
    const ours = UNITS[literalText(unit)?.toLowerCase() ?? '']
    if (!ours) throw new Untranslatable(m.base_imports_reason_unit({ function: 'DATE_DIFF' }))
    return `DATETIME_DIFF(${text(to!)}, ${text(from!)}, "${ours}")`
  },
  ROW_ID: unsupported(() => m.base_imports_reason_record_id()),
}
