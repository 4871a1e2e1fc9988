import type { Build, Value } from '../build.ts'
import { areSame, compileSame } from '../comparing.ts'
import { defineFunction } from './define.ts'

/** The result behind the first case that equals the value, else the last one. */
export const switchFunction = defineFunction({
  name: 'SWITCH',
  syntax: 'SWITCH(value, case, result, …, [else])',
  help: 'Returns the result of the first matching case, otherwise the default.',
  examples: { 'SWITCH(2, 1, "one", 2, "two", "many")': 'two', 'SWITCH("x", "y", 1)': null },
  args: ['match'],
  rest: ['match', 'result'],
  min: 3,
  max: Number.POSITIVE_INFINITY,
  returns: (types) => types[2] ?? 'null',
  evaluate: ([value = null, ...rest], _moment, types) => {
    for (let at = 0; at + 1 < rest.length; at += 2) {
      if (areSame(value, rest[at] ?? null, [types[0], types[at + 1]])) return rest[at + 1] ?? null
    }
    return rest.length % 2 === 1 ? (rest[rest.length - 1] ?? null) : null
  },
  compile<S>(args: Value<S>[], build: Build<S>): S {
    const [value, ...rest] = args
    const { words } = build
    if (!value) return words.nothing('null')
    return build.once([value], (subject) => {
      const cases: [S, S][] = []
      for (let at = 0; at + 1 < rest.length; at += 2) {
        const [match, result] = [rest[at], rest[at + 1]]
        if (match && result)
          cases.push([compileSame({ ...value, sql: subject, isSimple: true }, match, build), result.sql])
      }
      const last = rest.length % 2 === 1 ? rest[rest.length - 1] : undefined
      return words.choose(cases, last?.sql ?? words.nothing(rest[1]?.type ?? 'null'))
    })
  },
})
