import type { Build, Value } from '../build.ts'
import { argument } from './common.ts'
import { defineFunction } from './define.ts'

/** The second value where the condition holds, else the third. */
export const ifFunction = defineFunction({
  name: 'IF',
  syntax: 'IF(condition, then, [else])',
  help: 'Returns the second value if the condition is true, otherwise the third.',
  examples: { 'IF(1 < 2, "yes", "no")': 'yes', 'IF("", 1)': null },
  args: ['condition', 'result', 'result'],
  min: 2,
  max: 3,
  returns: (types) => types[1] ?? 'null',
  evaluate: ([condition, yes, no]) => (condition === true ? (yes ?? null) : (no ?? null)),
  compile<S>(args: Value<S>[], build: Build<S>): S {
    const yes = argument(args, 1, build, 'null')
    return build.words.choose(
      [[argument(args, 0, build, 'boolean').sql, yes.sql]],
      argument(args, 2, build, yes.type).sql,
    )
  },
})
