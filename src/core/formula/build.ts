import type { ValueType } from './ast.ts'
import type { FormulaWords } from './words.ts'

/** A compiled subexpression. */
export interface Value<S> {
  sql: S
  type: ValueType
  /** True for a column or a literal, which the SQL may repeat at no cost. */
  isSimple: boolean
  /** The value of a literal, with which functions can generate simpler SQL. */
  constant?: number | string
}

/** Compilation context of functions: the engine's SQL vocabulary and values known at compile time. */
export interface Build<S> {
  words: FormulaWords<S>
  now: number
  zone: string
  /** The record's id as text. */
  recordId: S
  /** When the record was created and last changed, as instants. */
  createdTime: S
  modifiedTime: S
  /** An alias that the statement does not use yet. */
  freshName(): string
  /** A number that the function’s own SQL needs, e.g. 2, not one from the formula. */
  constant(value: number): S
  /** Passes aliases of the values to `use`, so that its SQL computes each value only once. */
  once(values: Value<S>[], use: (...values: S[]) => S): S
  /** As `once` for an intermediate result. */
  bind(sql: S, type: ValueType, use: (value: S) => S): S
}

/** A `Build` for one formula. Its aliases are `prefix` and a number. */
export function createBuild<S>(
  words: FormulaWords<S>,
  context: Pick<Build<S>, 'now' | 'zone' | 'recordId' | 'createdTime' | 'modifiedTime'> & { prefix: string },
): Build<S> {
  let count = 0
  const freshName = () => `${context.prefix}${++count}`
  const bindAll = (values: Value<S>[], use: (...values: S[]) => S): S => {
    const complex = values.filter(({ isSimple }) => !isSimple)
    if (complex.length === 0) return use(...values.map(({ sql }) => sql))
    const names = complex.map(freshName)
    return words.once(complex, names, (bound) => {
      const rest = [...bound]
      return use(...values.map((value) => (value.isSimple ? value.sql : (rest.shift() ?? value.sql))))
    })
  }
  return {
    ...context,
    words,
    freshName,
    constant: (value) => words.constant(value),
    once: bindAll,
    bind: (sql, type, use) => bindAll([{ sql, type, isSimple: false }], use),
  }
}
