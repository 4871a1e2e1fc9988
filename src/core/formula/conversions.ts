import { makeDay } from '../dates.ts'
import { isJson } from '../json-text.ts'
import { type Conversion, type Expression, isListType, type ScalarType } from './ast.ts'
import { type ArgKind, commonType } from './functions/define.ts'
import { readDate } from './semantics.ts'

/** Powers of ten of `LIMIT` and `TINY`. */
const LIMITED = 35

/** The expression as an argument of that kind; null where its type does not do. */
export function convertTo(expression: Expression, kind: ArgKind): Expression | null {
  if (kind === 'list') return asList(expression)
  return kind === 'holidays' ? asHolidays(expression) : convertScalar(asScalar(expression), kind)
}

function convertScalar(expression: Expression, kind: ArgKind): Expression | null {
  switch (kind) {
    case 'number':
      return asNumber(expression)
    case 'text':
      return asText(expression)
    case 'joined':
      return convert(asText(expression), 'joined', 'text')
    case 'condition':
      return convert(expression, 'truth', 'boolean')
    case 'truth':
      return ['boolean', 'number', 'null'].includes(expression.type)
        ? convert(expression, 'truth', 'boolean')
        : null
    case 'date':
      return asDate(expression)
    case 'json':
      return isJsonText(expression) ? expression : null
    case 'instant': {
      const date = asDate(expression)
      return date && toType(date, 'datetime')
    }
    default:
      return expression
  }
}

/** Values that are compared: text and numbers stay what they are, all else is brought to one type. */
export function joinCompared(compared: Expression[]): Expression[] {
  const expressions = compared.map(asScalar)
  const types = new Set(expressions.map(({ type }) => type))
  if (!types.has('text') || !types.has('number') || types.has('date') || types.has('datetime')) {
    return joinTypes(expressions)
  }
  return expressions.map((expression) =>
    expression.type === 'number' ? expression : toType(expression, 'text'),
  )
}

/** Values that are compared, or of which one is the result, brought to one type. */
export function joinTypes(results: Expression[]): Expression[] {
  const expressions = results.map(asScalar)
  const hasDate = expressions.some(({ type }) => type === 'date' || type === 'datetime')
  const read = expressions.map((expression) =>
    hasDate ? (writtenDate(expression) ?? expression) : expression,
  )
  const common = commonType(read.map(({ type }) => type))
  return read.map((expression) => toType(expression, common))
}

/**
 * Arguments in one zone: that of the first instant with its own. Dates written in the formula and days that become
 * instants are read in it.
 */
export function shareZone(args: Expression[]): { args: Expression[]; zone?: string } {
  const zone = args.find((arg) => arg.type === 'datetime' && arg.zone !== undefined)?.zone
  if (zone === undefined) return { args }
  const hasNone = (arg: Expression) =>
    arg.type === 'datetime' &&
    arg.zone === undefined &&
    (arg.kind === 'literal' || (arg.kind === 'convert' && arg.to === 'datetime'))
  return { zone, args: args.map((arg) => (hasNone(arg) ? { ...arg, zone } : arg)) }
}

/** The zone in which an expression is converted; undefined for the formula's. */
export const zoneOfConversion = ({ zone, from }: Extract<Expression, { kind: 'convert' }>) =>
  zone ?? (from.type === 'datetime' ? from.zone : undefined)

function toType(expression: Expression, type: ScalarType): Expression {
  if (expression.type === type) return expression
  if (expression.type === 'null') return convert(expression, 'nothing', type)
  if (type === 'text') return asText(expression)
  if (type === 'number') return convert(expression, 'number', 'number')
  return convert(expression, 'datetime', 'datetime')
}

function asNumber(expression: Expression): Expression | null {
  if (expression.type === 'number') return expression
  if (expression.type === 'boolean') return convert(expression, 'number', 'number')
  return expression.type === 'null' ? convert(expression, 'nothing', 'number') : null
}

function asText(expression: Expression): Expression {
  if (expression.type === 'text') return expression
  return convert(expression.type === 'number' ? limitWithin(expression) : expression, 'text', 'text')
}

const isJsonText = (expression: Expression): boolean =>
  (expression.kind === 'field' && expression.field.isJson === true) ||
  (expression.kind === 'literal' && (typeof expression.value !== 'string' || isJson(expression.value)))

/** A list as its text; anything else as it is. */
export const asScalar = (expression: Expression): Expression =>
  isListType(expression.type) ? asText(expression) : expression

/** The values of a field with several, or a list of the one value. */
function asList(expression: Expression): Expression {
  if (isListType(expression.type)) return expression
  if (expression.type === 'null') return convert(expression, 'nothing', 'texts')
  if (expression.kind === 'field') {
    const { form, isNumeric, separator } = expression.field
    const { range } = expression
    const isList = form === 'list' || form === 'linkTitles'
    const list: Expression = isList ? { ...expression, type: isNumeric ? 'numbers' : 'texts' } : expression
    if (separator === undefined) {
      if (isList) return list
    } else {
      const literal: Expression = { kind: 'literal', type: 'text', value: separator, range }
      // The texts of a lookup each hold several values: together they are one such text.
      const text: Expression = isList
        ? { kind: 'call', name: 'ARRAYJOIN', type: 'text', args: [list, literal], range }
        : expression
      return { kind: 'call', name: 'SPLIT', type: 'texts', args: [text, literal], range }
    }
  }
  return convert(asText(expression), 'list', expression.type === 'number' ? 'numbers' : 'texts')
}

/** Days in a text, and those of a list one behind the other, as a text with commas between them. */
function asHolidays(expression: Expression): Expression | null {
  const { type, range } = expression
  if (type === 'number' || type === 'boolean' || type === 'numbers') return null
  if (type === 'null') return convert(expression, 'nothing', 'text')
  const list = asList(expression)
  if (list.type === 'numbers') return null
  if (list.kind === 'convert') return asText(expression)
  const comma: Expression = { kind: 'literal', type: 'text', value: ',', range }
  return { kind: 'call', name: 'ARRAYJOIN', type: 'text', args: [list, comma], range }
}

function asDate(expression: Expression): Expression | null {
  if (expression.type === 'date' || expression.type === 'datetime') return expression
  if (expression.type === 'null') return convert(expression, 'nothing', 'date')
  return writtenDate(expression)
}

/** Text that the formula's author wrote, as the date that it reads as. */
function writtenDate(expression: Expression): Expression | null {
  if (expression.kind !== 'literal' || typeof expression.value !== 'string') return null
  const date = readWrittenDate(expression.value)
  return date && { kind: 'literal', type: date.type, value: date.ms, range: { max: 15, min: 0 } }
}

/** A number that has left the range of formulas becomes null; one that cannot have is as it was. */
export function limitWithin(expression: Expression): Expression {
  const { type, range } = expression
  if (type !== 'number' || (range.max <= LIMITED && range.min >= -100)) return expression
  return { kind: 'convert', to: 'limit', from: expression, type, range: { max: LIMITED, min: -LIMITED } }
}

function convert(from: Expression, to: Conversion, type: Expression['type']): Expression {
  return { kind: 'convert', to, from, type, range: { max: 1, min: 0 } }
}

const DATE_FORM =
  /^(\d{1,4})([-/ ])(\d{1,2})\2(\d{1,4})(?:[T ](\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,3}))?)?)?$/

/** A date written in a formula: milliseconds of its day, or of its wall time. */
interface WrittenDate {
  type: 'date' | 'datetime'
  ms: number
}

/**
 * Reads a date as spec §5 lists the forms: year first, or day or month first (`03/04/2024` is the third of April),
 * parted by `-`, `/` or spaces, with or without a time. Null for anything else.
 */
function readWrittenDate(text: string): WrittenDate | null {
  const match = DATE_FORM.exec(text.trim())
  if (!match) return null
  const [, first = '', , second = '', third = '', hour, minute = '0', seconds = '0', fraction = '0'] = match
  const day = readDay(first, second, third)
  const ms = day === null ? null : readDate(day)
  if (ms === null) return null
  if (hour === undefined) return { type: 'date', ms }
  if (Number(hour) > 23 || Number(minute) > 59 || Number(seconds) > 59) return null
  const time = (Number(hour) * 60 + Number(minute)) * 60_000 + Number(seconds) * 1000
  return { type: 'datetime', ms: ms + time + Number(fraction.padEnd(3, '0')) }
}

function readDay(first: string, second: string, third: string): string | null {
  if (first.length === 4 && third.length <= 2) return makeDay(Number(first), Number(second), Number(third))
  if (third.length !== 4 || first.length > 2) return null
  const [a, b, year] = [Number(first), Number(second), Number(third)]
  return makeDay(year, b, a) ?? makeDay(year, a, b)
}
