import { trimCharacters } from '../trim-characters.ts'
import type { Build, Value } from './build.ts'

const NUMBER = /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,2})?$/

/** Longest text that is read as a number. */
const MAX_NUMBER_TEXT = 40

/** The number that a text reads as, such as ` -1.5e3 `; null where it is none. */
export function readNumber(written: string): number | null {
  const text = trimCharacters(written, ' ')
  return text.length <= MAX_NUMBER_TEXT && NUMBER.test(text) ? Number(text) : null
}

/** The same as SQL. */
export function compileReadNumber<S>(text: Value<S>, build: Build<S>): S {
  const { words } = build
  return build.bind(words.trim(text.sql), 'text', (trimmed) =>
    words.choose(
      [
        [
          words.compare('<=', words.length(trimmed), build.constant(MAX_NUMBER_TEXT)),
          words.readNumber(trimmed),
        ],
      ],
      words.nothing('number'),
    ),
  )
}
