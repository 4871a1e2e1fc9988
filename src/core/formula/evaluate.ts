import type { CellValue } from '../fields/field-type.ts'
import { readLinks, readList } from '../fields/list-value.ts'
import { type Conversion, type Expression, type FormulaField, isListType, type ValueType } from './ast.ts'
import { zoneOfConversion } from './conversions.ts'
import type { Datum, Moment } from './functions/define.ts'
import { fromWallMs } from './instants.ts'
import { listOf } from './lists.ts'
import { operationOf } from './operators.ts'
import { CELL_LIMIT, CELL_TINY, dateOrNull, limited, readDate, writeDate } from './semantics.ts'
import { textOf } from './text-of.ts'

/** A record as formulas see it, and what they know of the moment. */
export interface EvaluateContext extends Moment {
  /** The value of a field of this record. */
  cell(fieldId: string): CellValue
}

/**
 * Evaluates a checked formula for one record; the result has the stored form of its field type. The tests compare every
 * database with it (`tests/formula`, `tests/dialects/linked.test.ts`); the product computes formulas in the database only.
 */
export function evaluateFormula(expression: Expression, context: EvaluateContext): CellValue {
  const value = evaluate(expression, context)
  if (value === null) return null
  if (expression.type === 'date' || expression.type === 'datetime')
    return writeDate(Number(value), expression.type)
  return value === 0 ? 0 : value
}

function evaluate(expression: Expression, context: EvaluateContext): Datum {
  switch (expression.kind) {
    case 'literal':
      return expression.type === 'datetime'
        ? fromWallMs(Number(expression.value), expression.zone ?? context.zone)
        : expression.value
    case 'field':
      return readCell(expression.field, expression.type, context)
    case 'convert':
      return convert(evaluate(expression.from, context), expression.to, expression.from.type, {
        ...context,
        zone: zoneOfConversion(expression) ?? context.zone,
      })
    case 'call': {
      const args = expression.args.map((arg) => evaluate(arg, context))
      const types = expression.args.map(({ type }) => type)
      const { zone = context.zone } = expression
      return operationOf(expression.name).evaluate(args, { ...context, zone }, types)
    }
  }
}

function readCell(field: FormulaField, type: ValueType, context: EvaluateContext): Datum {
  const value = context.cell(field.id)
  if (field.form === 'linkCount') return readLinks(value).count
  if (value === null) return null
  if (field.form === 'linkTitles' || field.form === 'list') {
    const values =
      field.form === 'list' ? readList(value) : readLinks(value).records.map(({ title }) => title)
    const zone = field.zone ?? context.zone
    const shown = (entry: unknown) =>
      field.hasInstants ? textOf(readDate(String(entry)), 'datetime', zone) : String(entry)
    const texts = values.flatMap((entry) => (entry === null ? [] : (shown(entry) ?? [])))
    return isListType(type) ? listOf(texts) : texts.length === 0 ? null : texts.join(', ')
  }
  if (type === 'number') {
    const number = Number(value)
    if (!(Math.abs(number) < CELL_LIMIT)) return null
    return Math.abs(number) < CELL_TINY ? 0 : number
  }
  if (type === 'date' || type === 'datetime') return readDate(String(value))
  return type === 'boolean' ? Boolean(value) : String(value)
}

function convert(value: Datum, to: Conversion, from: ValueType, { zone }: EvaluateContext): Datum {
  switch (to) {
    case 'text':
      return textOf(value, from, zone)
    case 'joined':
      return value ?? ''
    case 'list':
      return value === null ? null : listOf([String(value)])
    case 'number':
      return value === null ? null : Number(value)
    case 'truth':
      return from === 'date' || from === 'datetime' ? value !== null : Boolean(value)
    case 'datetime':
      return value === null ? null : dateOrNull(fromWallMs(Number(value), zone))
    case 'limit':
      return value === null ? null : limited(Number(value))
    case 'nothing':
      return null
  }
}
