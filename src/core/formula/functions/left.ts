import type { Build, Value } from '../build.ts'
import { wholeArg } from '../rounding.ts'
import { MAX_PLACE, whole } from '../semantics.ts'
import { argument, charactersOf } from './common.ts'
import { defineFunction } from './define.ts'

/** The first characters of the text. */
export const left = defineFunction({
  name: 'LEFT',
  syntax: 'LEFT(text, count)',
  help: 'The first characters of a text.',
  examples: { 'LEFT("abcdef", 2)': 'ab', 'LEFT("a", -1)': '' },
  args: ['text', 'number'],
  min: 2,
  max: 2,
  returns: 'text',
  evaluate: ([text, count]) =>
    text === null || count === null
      ? null
      : charactersOf(String(text))
          .slice(0, whole(Number(count), 0, MAX_PLACE))
          .join(''),
  compile<S>(args: Value<S>[], build: Build<S>): S {
    return build.words.part(
      argument(args, 0, build, 'text').sql,
      build.constant(1),
      wholeArg(argument(args, 1, build, 'number'), build, 0, MAX_PLACE).sql,
    )
  },
})
