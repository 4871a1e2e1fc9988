import type { Build, Value } from '../build.ts'
import { argument, charactersOf } from './common.ts'
import { defineFunction } from './define.ts'

/** At which character the other text begins, counted from 1; 0 where it does not occur. */
export const search = defineFunction({
  name: 'SEARCH',
  syntax: 'SEARCH(text, find)',
  help: 'The position of one text in another, counted from 1, or 0 if not found.',
  examples: { 'SEARCH("abcabc", "c")': 3, 'SEARCH("abc", "C")': 0, 'SEARCH(BLANK(), "a")': 0 },
  args: ['joined', 'joined'],
  min: 2,
  max: 2,
  returns: 'number',
  evaluate: (args) => {
    const [text = '', find = ''] = args.map(String)
    const at = text.indexOf(find)
    return at < 0 ? 0 : charactersOf(text.slice(0, at)).length + 1
  },
  compile<S>(args: Value<S>[], build: Build<S>): S {
    return build.words.position(argument(args, 0, build, 'text').sql, argument(args, 1, build, 'text').sql)
  },
})
