import type { CellValue } from '../../fields/field-type.ts'
import type { LocalizedText } from '../../message.ts'
import { type Expression, isListType, type Range, type ScalarType, type ValueType } from '../ast.ts'
import type { Build, Value } from '../build.ts'

/**
 * Accepted arguments and their conversion:
 * `number` (booleans count as 1 or 0), `text` (anything, as text), `joined` (the same, null as empty text),
 * `condition` (anything, as a two-valued boolean), `truth` (a boolean or number, as a condition), `date` (a day or
 * an instant, or a literal that can be parsed as one), `result` and `match` (anything; all arguments of the kind are
 * converted to one type), `any` (unchanged), and literals: `pattern` (a regular expression), `unit`, `weekday`,
 * `format` (of a date),
 * `zone` (`Europe/Berlin`), `shownFormat` (of text that shows a date), `order` (`asc` or `desc`),
 * `jsonPath`. `json` is a JSON field, or a literal that can be parsed. `instant` is a `date`, a
 * day as its midnight. `holidays` are days such as `2024-12-25, 2024-12-26` in a text, or a list of such texts or of dates. `list` is the values of a field with several, a list, or anything else as a list of this one value.
 */
export type ArgKind =
  | 'number'
  | 'text'
  | 'joined'
  | 'condition'
  | 'truth'
  | 'date'
  | 'result'
  | 'match'
  | 'any'
  | 'pattern'
  | 'unit'
  | 'weekday'
  | 'format'
  | 'holidays'
  | 'instant'
  | 'zone'
  | 'shownFormat'
  | 'order'
  | 'json'
  | 'jsonPath'
  | 'list'

/** An argument's value in memory: as in `CellValue`, but days and instants as milliseconds. Lists are JSON text (`lists.ts`). */
export type Datum = CellValue

/** Context of an evaluation. */
export interface Moment {
  /** Milliseconds since 1970. */
  now: number
  /** IANA name of the time zone that determines the day and time of an instant. */
  zone: string
  recordId: string | number | null
  /** When the record was created and last changed: stored instants, null where the table does not keep them. */
  createdTime?: string | null
  modifiedTime?: string | null
}

/** A formula function: defined in its family's file in this folder and registered by a line in `index.ts`. */
export interface FormulaFunction {
  name: string
  /** As the editor shows it: `ROUND(number, [digits])`. */
  syntax: string
  help: LocalizedText
  /** Formulas and their results; days and instants as text. Shown as help, and tested on every engine. */
  examples: Record<string, CellValue>
  /** Kinds of the arguments, in order; `rest` repeats for further arguments. */
  args: readonly ArgKind[]
  rest?: readonly ArgKind[]
  /** Minimum and maximum number of arguments; if both are equal, any other number is "Required arguments missing". */
  min: number
  max: number
  /** True if the result depends on the current time: SQL that calls it is not cached. */
  readsClock?: true
  /** True if errors name the argument: `First parameter of DATEADD should be a date` (spec §8). */
  namesArguments?: true
  /** Time zone of the result, if the arguments determine it. */
  zoneOf?(args: readonly Expression[]): string | undefined
  /**
   * When the function fails, apart from failures of its arguments (`failures.ts`): `possible` if it may return null
   * for arguments with values. A callback returns the whole condition instead, for functions that use only some arguments.
   */
  failure?: 'possible' | 'always' | 'never' | ((args: Expression[], tools: FailureTools) => Expression)
  /** True if the compiler passes a further first argument: the condition that the original first one has failed. */
  watchesErrors?: true
  /** Names of units for the error message about an argument of kind `unit`. */
  units?: readonly string[]
  /** Database clients that do not support the function. */
  unavailable?: readonly string[]
  /** Result type for the converted arguments and their types. */
  returns: ValueType | ((types: ValueType[], args: readonly Expression[]) => ValueType)
  /** Bounds of a result that may exceed the arguments and `LIMIT`. */
  range?: (args: Range[]) => Range
  evaluate(args: Datum[], moment: Moment, types: ValueType[]): Datum
  compile<S>(args: Value<S>[], build: Build<S>): S
}

/** Context for building the condition under which a call fails. */
export interface FailureTools {
  failureOf(expression: Expression): Expression
  anyOf(conditions: Expression[]): Expression
  /** The condition that is never true. */
  otherwise: Expression
  call(name: string, args: Expression[]): Expression
}

/** A function that takes exactly its `args`, or any number where `rest` is set, unless `min` and `max` differ. */
export const defineFunction = (
  definition: Omit<FormulaFunction, 'min' | 'max'> & Partial<Pick<FormulaFunction, 'min' | 'max'>>,
): FormulaFunction => ({
  min: definition.args.length,
  max: definition.rest ? Number.POSITIVE_INFINITY : definition.args.length,
  ...definition,
})

/** The arguments as numbers; null where one is null. */
export function numbers(args: Datum[]): number[] | null {
  return args.some((arg) => arg === null) ? null : args.map(Number)
}

/** The arguments as texts; null where one is null. */
export function texts(args: Datum[]): string[] | null {
  return args.some((arg) => arg === null) ? null : args.map(String)
}

/** The common type of values other than null; text if they differ. */
export function commonType(types: ValueType[]): ScalarType {
  const kinds = new Set(
    types.map((type) => (isListType(type) ? 'text' : type)).filter((type) => type !== 'null'),
  )
  const [only = 'null'] = kinds
  if (kinds.size <= 1) return only
  if (kinds.size === 2 && kinds.has('date') && kinds.has('datetime')) return 'datetime'
  if (kinds.size === 2 && kinds.has('number') && kinds.has('boolean')) return 'number'
  return 'text'
}

/** Clients without XOR and regular expressions. */
export const NO_REGEX: readonly string[] = ['mssql', 'snowflake']
/** Clients that cannot parse text as numbers and dates. */
export const NO_READING: readonly string[] = ['mssql', 'snowflake']
/** Clients without ROUNDUP and ROUNDDOWN. */
export const NO_ROUNDING: readonly string[] = ['mssql']

/** The argument at an index; a NULL of the type if it is omitted. */
export function argument<S>(args: Value<S>[], index: number, build: Build<S>, type: ValueType): Value<S> {
  return args[index] ?? { sql: build.words.nothing(type), type, isSimple: true }
}

/** Characters of a text, as databases count them. */
export const charactersOf = (text: string): string[] => [...text]

/** The least or greatest number that is not null. */
export function extreme(args: Datum[], pick: (...values: number[]) => number): number | null {
  const values = args.filter((arg) => arg !== null).map(Number)
  return values.length === 0 ? null : pick(...values)
}

/** True if a formula considers the values equal: the same, or both empty. */
export const isSame = (left: Datum, right: Datum): boolean => (left ?? '') === (right ?? '')
