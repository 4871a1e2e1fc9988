import type { ValueType } from './ast.ts'
import type { FormulaWords } from './words.ts'

/** A compiled value. */
export interface Value<S> {
  sql: S
  type: ValueType
  /** True where naming it twice costs nothing: a column or a literal. */
  isSimple: boolean
  /** A literal's value, from which simpler SQL can be made. */
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
  /** A name that nothing in the statement has. */
  freshName(): string
  /** A number of our own, e.g. 2. */
  constant(value: number): S
  /** `use` with the values under short names, each computed one time. */
  once(values: Value<S>[], use: (...values: S[]) => S): S
  /** As `once` for one value that is not an argument. */
  bind(sql: S, type: ValueType, use: (value: S) => S): S
}

/** A `Build` over the words; names are counted from its beginning, so they differ within one formula. */
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
