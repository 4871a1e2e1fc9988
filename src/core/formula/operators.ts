import type { Expression, Range, ValueType } from './ast.ts'
import type { Build, Value } from './build.ts'
import { compareValues, compileComparison } from './comparing.ts'
import { type ArgKind, argument, type Datum, type FormulaFunction, numbers } from './functions/define.ts'
import { findFunction } from './functions/index.ts'
import { compileRemainder, remainder } from './numbers.ts'
import type { Comparison } from './words.ts'

/** An operator is checked, evaluated and compiled like a function; its name is its symbol. */
type Operation = Pick<
  FormulaFunction,
  'name' | 'args' | 'rest' | 'returns' | 'range' | 'readsClock' | 'failure' | 'evaluate' | 'compile'
>

const arithmetic = (
  name: '+' | '-' | '*',
  compute: (left: number, right: number) => number,
  range: (left: Range, right: Range) => Range,
): Operation => ({
  name,
  args: ['number', 'number'],
  returns: 'number',
  range: ([left = NONE, right = NONE]) => range(left, right),
  evaluate: (args) => {
    const values = numbers(args)
    return values ? compute(values[0] ?? 0, values[1] ?? 0) : null
  },
  compile: <S>(args: Value<S>[], build: Build<S>): S => {
    const [left, right] = both(args, build, 'number')
    return build.words.arithmetic(name, left.sql, right.sql)
  },
})

const NONE: Range = { max: 0, min: 0 }

/** The least digit of what is left may be the last of 17. */
const sumRange = (left: Range, right: Range): Range => ({
  max: Math.max(left.max, right.max) + 1,
  min: Math.min(left.min, right.min) - 17,
})

const comparison = (name: Comparison): Operation => ({
  name,
  args: ['match', 'match'],
  returns: 'boolean',
  evaluate: ([left = null, right = null]: Datum[], _moment, types) => compareValues(name, left, right, types),
  compile: <S>(args: Value<S>[], build: Build<S>): S => {
    const [left, right] = both(args, build, 'null')
    return compileComparison(name, left, right, build)
  },
})

/** The name of the condition that the first operand is null although the others have values. */
export const FAILED = 'failed'

/** The name of the minus in front of one operand, in expressions. */
export const NEGATION = 'negate'

const JOINED: readonly ArgKind[] = ['joined', 'joined']

const OPERATIONS: Operation[] = [
  arithmetic('+', (left, right) => left + right, sumRange),
  arithmetic('-', (left, right) => left - right, sumRange),
  arithmetic(
    '*',
    (left, right) => left * right,
    (left, right) => ({ max: left.max + right.max, min: left.min + right.min }),
  ),
  {
    name: NEGATION,
    args: ['number'],
    returns: 'number',
    range: ([operand = NONE]) => operand,
    // Taken from 0, so that 0 stays what it is: engines print a negative 0 differently.
    evaluate: ([value = null]) => (value === null ? null : 0 - Number(value)),
    compile: <S>(args: Value<S>[], build: Build<S>): S =>
      build.words.arithmetic('-', build.constant(0), argument(args, 0, build, 'number').sql),
  },
  {
    name: '/',
    args: ['number', 'number'],
    failure: 'possible',
    returns: 'number',
    range: ([left = NONE, right = NONE]) => ({ max: left.max - right.min, min: left.min - right.max }),
    evaluate: (args) => {
      const values = numbers(args)
      return values && values[1] !== 0 ? (values[0] ?? 0) / (values[1] ?? 1) : null
    },
    compile: <S>(args: Value<S>[], build: Build<S>): S => {
      const [left, right] = both(args, build, 'number')
      return build.words.divide(left.sql, right.sql)
    },
  },
  {
    name: '%',
    args: ['number', 'number'],
    failure: 'possible',
    returns: 'number',
    range: ([left = NONE, right = NONE]) => ({
      max: Math.max(left.max, right.max, left.max - right.min) + 1,
      min: Math.min(left.min, right.min, left.min - right.max) - 17,
    }),
    evaluate: (args) => {
      const values = numbers(args)
      return values ? remainder(values[0] ?? 0, values[1] ?? 0) : null
    },
    compile: <S>(args: Value<S>[], build: Build<S>): S =>
      compileRemainder(...both(args, build, 'number'), build),
  },
  {
    name: '&',
    args: JOINED,
    returns: 'text',
    evaluate: (args) => args.map((arg) => arg ?? '').join(''),
    compile: <S>(args: Value<S>[], build: Build<S>): S => build.words.concat(args.map(({ sql }) => sql)),
  },
  {
    name: FAILED,
    args: [],
    rest: ['any'],
    returns: 'boolean',
    // A cleared cell may hold an empty text, which looks the same as none.
    evaluate: ([result = null, ...args]) =>
      result === null && args.every((arg) => arg !== null && arg !== ''),
    compile: <S>([result, ...args]: Value<S>[], { words }: Build<S>): S =>
      result
        ? words.and([
            words.isNull(result.sql),
            ...args.flatMap(({ sql, type }) => [
              words.not(words.isNull(sql)),
              ...(type === 'text' ? [words.compareText('!=', sql, words.text(''))] : []),
            ]),
          ])
        : words.truth(false),
  },
  ...(['=', '!=', '<', '<=', '>', '>='] as const).map(comparison),
]

const both = <S>(args: Value<S>[], build: Build<S>, type: ValueType): [Value<S>, Value<S>] => [
  argument(args, 0, build, type),
  argument(args, 1, build, type),
]

const BY_SIGN = new Map(OPERATIONS.map((operation) => [operation.name, operation]))

/**
 * The operator or function of that name.
 * @throws Error for a name that no checked formula has
 */
export function operationOf(name: string): Operation {
  const found = BY_SIGN.get(name) ?? findFunction(name)
  if (!found) throw new Error(`Unknown operation ${name}`)
  return found
}

/** True if the value of a formula changes with the present moment, as that of NOW() does. */
export function readsClock(expression: Expression): boolean {
  if (expression.kind === 'convert') return readsClock(expression.from)
  if (expression.kind !== 'call') return false
  return operationOf(expression.name).readsClock === true || expression.args.some(readsClock)
}
