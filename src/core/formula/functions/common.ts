import type { ValueType } from '../ast.ts'
import type { Build, Value } from '../build.ts'
import type { Datum } from './define.ts'

/** The value at a place of the arguments; NULL of the type where the formula gives fewer. */
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

/** True for what a formula takes as equal: alike, or both empty. */
export const isSame = (left: Datum, right: Datum): boolean => (left ?? '') === (right ?? '')
