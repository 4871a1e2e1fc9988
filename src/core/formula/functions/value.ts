import { trimCharacters } from '../../trim-characters.ts'
import type { Build, Value } from '../build.ts'
import { argument } from './common.ts'
import { defineFunction, NO_VALUE } from './define.ts'

const NUMBER = /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,2})?$/

/** The number that the text reads as, such as -1.5 or 2e3; empty where it is none. */
export const value = defineFunction({
  name: 'VALUE',
  syntax: 'VALUE(text)',
  help: 'Converts text such as -1.5 or 2e3 to a number. Empty if it is not a number.',
  examples: { 'VALUE("12.50")': 12.5, 'VALUE(" -1e3 ")': -1000, 'VALUE("12 kg")': null },
  args: ['text'],
  min: 1,
  max: 1,
  unavailable: NO_VALUE,
  returns: 'number',
  range: () => ({ max: 140, min: -140 }),
  evaluate: ([value]) => {
    const text = trimCharacters(String(value ?? ''), ' ')
    return text.length <= 40 && NUMBER.test(text) ? Number(text) : null
  },
  compile<S>(args: Value<S>[], build: Build<S>): S {
    return build.once([argument(args, 0, build, 'text')], (text) =>
      build.bind(build.words.trim(text), 'text', (trimmed) =>
        build.words.choose(
          [
            [
              build.words.compare('<=', build.words.length(trimmed), build.constant(40)),
              build.words.readNumber(trimmed),
            ],
          ],
          build.words.nothing('number'),
        ),
      ),
    )
  },
})
