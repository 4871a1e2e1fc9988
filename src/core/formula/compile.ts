import { type Conversion, type Expression, type FormulaField, isListType, type ValueType } from './ast.ts'
import { type Build, createBuild, type Value } from './build.ts'
import { zoneOfConversion } from './conversions.ts'
import { compileDateOrNull, compileFromWall, fromWallMs } from './instants.ts'
import { operationOf } from './operators.ts'
import { LIMIT, TINY } from './semantics.ts'
import { compileText } from './text-of.ts'
import type { FormulaWords, ListedValues } from './words.ts'

/** Everything that compiling a formula needs. */
export interface FormulaCompileContext<S> {
  words: FormulaWords<S>
  /** The field’s qualified column, or the expression that computes it, as a stored value. */
  column(fieldId: string): S
  /** The record's primary key. */
  recordId: S
  /** Columns with the time of the record’s creation and last change, as stored instants; null if the table has none. */
  createdTime?: S | null
  modifiedTime?: S | null
  /** Milliseconds since 1970. */
  now: number
  /** IANA name; see `resolveZone` for `local`. */
  zone: string
  /** Prefix of aliases in the SQL; unique for each nested formula. Default: `f`. */
  prefix?: string
}

/**
 * Compiles a checked formula to an SQL expression. Its result is a stored value: a number as a double; `words.finish`
 * defines the form of booleans, days and instants. What the formula's author wrote is bound, or a literal
 * (`FormulaWords.text`). The expression raises no error, whatever the values of a row.
 */
export function compileFormula<S>(expression: Expression, context: FormulaCompileContext<S>): S {
  const { words } = context
  const recordId = words.cell(context.recordId, 'text', null)
  const instant = (column: S | null | undefined) =>
    column === null || column === undefined ? words.nothing('datetime') : words.cell(column, 'datetime', null)
  const build = createBuild(words, {
    ...context,
    recordId,
    createdTime: instant(context.createdTime),
    modifiedTime: instant(context.modifiedTime),
    prefix: context.prefix ?? 'f',
  })
  const compileWith = (known: ReadonlyMap<string, S>) => compile(expression, build, { ...context, known }).sql
  const repeated = repeatedFields(expression)
  if (repeated.length === 0) return words.finish(compileWith(new Map()), expression.type)
  // Computed once: repeating a computed field’s SQL would grow exponentially with formulas that refer to formulas.
  const values = repeated.map(({ field, type }) => ({
    sql: readColumn(field, type, build.freshName(), build, context),
    type,
    isSimple: false,
  }))
  const whole = build.once(values, (...bound) =>
    compileWith(new Map(repeated.map(({ field, type }, index) => [readKey(field, type), bound[index]!]))),
  )
  return words.finish(whole, expression.type)
}

/** The context, with the aliases of fields that the statement already computes, by `readKey`. */
interface Compiling<S> extends FormulaCompileContext<S> {
  known: ReadonlyMap<string, S>
}

type FieldNode = Extract<Expression, { kind: 'field' }>

/** A field may be read both as a list and as text. */
const readKey = (field: FormulaField, type: ValueType): string =>
  isListType(type) ? `${field.id} as list` : field.id

function readColumn<S>(
  field: FormulaField,
  type: ValueType,
  name: string | null,
  build: Build<S>,
  { column }: FormulaCompileContext<S>,
): S {
  const { id, form } = field
  const { words } = build
  if (form !== 'list' && form !== 'linkTitles') return words.cell(column(id), form, name)
  const values = listedValues(field, build)
  if (isListType(type)) return words.cellList(column(id), form, values, name)
  if (values === 'text') return words.cell(column(id), form, name)
  return words.joinList(words.cellList(column(id), form, values, name), words.text(', '))
}

/** Numbers in JSON depend on the engine and on the type of their column: 7, 7.0 and 7.00. Instants are shown in the field's zone. */
function listedValues<S>({ isNumeric, hasInstants, zone }: FormulaField, build: Build<S>): ListedValues<S> {
  if (!hasInstants) return isNumeric ? 'number' : 'text'
  return (sql) => compileText({ sql, type: 'datetime', isSimple: false }, inZone(build, zone))
}

/** The computed fields that a formula refers to more than once. */
function repeatedFields(expression: Expression): FieldNode[] {
  const found = new Map<string, { node: FieldNode; times: number }>()
  const visit = (part: Expression): void => {
    if (part.kind === 'convert') visit(part.from)
    else if (part.kind === 'call') for (const arg of part.args) visit(arg)
    else if (part.kind === 'field' && part.field.isComputed) {
      const key = readKey(part.field, part.type)
      found.set(key, { node: part, times: (found.get(key)?.times ?? 0) + 1 })
    }
  }
  visit(expression)
  return [...found.values()].flatMap(({ node, times }) => (times > 1 ? [node] : []))
}

function compile<S>(expression: Expression, build: Build<S>, context: Compiling<S>): Value<S> {
  const { type } = expression
  switch (expression.kind) {
    case 'literal':
      return { ...literal(expression.value, type, inZone(build, expression.zone)), type, isSimple: true }
    case 'field':
      return fieldValue(expression.field, type, build, context)
    case 'convert': {
      const from = compile(expression.from, build, context)
      const zoned = inZone(build, zoneOfConversion(expression))
      return { sql: convert(from, expression.to, type, zoned), type, isSimple: false }
    }
    case 'call': {
      const args = expression.args.map((arg) => compile(arg, build, context))
      const zoned = inZone(build, expression.zone)
      return { sql: operationOf(expression.name).compile(args, zoned), type, isSimple: false }
    }
  }
}

const inZone = <S>(build: Build<S>, zone: string | undefined): Build<S> =>
  zone === undefined ? build : { ...build, zone }

function literal<S>(
  value: Datum,
  type: ValueType,
  { words, zone }: Build<S>,
): Pick<Value<S>, 'sql' | 'constant'> {
  if (value === null) return { sql: words.nothing(type) }
  if (typeof value === 'boolean') return { sql: words.truth(value) }
  if (typeof value === 'string') return { sql: words.text(value), constant: value }
  const number = type === 'datetime' ? fromWallMs(value, zone) : value
  return { sql: words.number(number), constant: number }
}

type Datum = string | number | boolean | null

function fieldValue<S>(
  field: FormulaField,
  type: ValueType,
  build: Build<S>,
  context: Compiling<S>,
): Value<S> {
  const value = context.known.get(readKey(field, type))
  if (value !== undefined) return { sql: value, type, isSimple: true }
  const name = field.isComputed ? build.freshName() : null
  // Text is read from the column as it is; numbers and dates are validated first.
  const isSimple = !field.isComputed && (type === 'text' || type === 'boolean')
  return { sql: readColumn(field, type, name, build, context), type, isSimple }
}

function convert<S>(from: Value<S>, to: Conversion, type: ValueType, build: Build<S>): S {
  const { words, constant } = build
  switch (to) {
    case 'text':
      return compileText(from, build)
    case 'joined':
      return words.coalesce(from.sql, words.text(''))
    case 'number':
      return words.truthNumber(from.sql)
    case 'truth':
      return truth(from, build)
    case 'datetime':
      return compileDateOrNull(compileFromWall(from.sql, build), build)
    case 'list':
      return words.listOf(from.sql)
    case 'limit':
      if (words.limited) return words.limited(from.sql, LIMIT, TINY)
      return build.once([from], (number) =>
        words.choose(
          [
            [words.compare('>=', words.abs(number), constant(LIMIT)), words.nothing('number')],
            [words.compare('<', words.abs(number), constant(TINY)), constant(0)],
          ],
          number,
        ),
      )
    case 'nothing':
      return words.nothing(type)
  }
}

function truth<S>(from: Value<S>, { words, constant }: Build<S>): S {
  const isFalse = words.truth(false)
  switch (from.type) {
    case 'boolean':
      return words.coalesce(from.sql, isFalse)
    case 'number':
      return words.coalesce(words.compare('!=', from.sql, constant(0)), isFalse)
    case 'text':
      return words.coalesce(words.compareText('!=', from.sql, words.text('')), isFalse)
    case 'null':
      return isFalse
    default:
      return words.not(words.isNull(from.sql))
  }
}
