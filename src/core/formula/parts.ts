import type { Build, Value } from './build.ts'
import { argument, charactersOf } from './functions/common.ts'
import type { Datum } from './functions/define.ts'
import { wholeArg } from './rounding.ts'
import { MAX_PLACE, whole } from './semantics.ts'

/** Characters of a text from a place on: to its end, or so many. */
export function partOf([text, from, count]: Datum[]): string | null {
  if (text === null || from === null || count === null) return null
  const start = whole(Number(from), 1, MAX_PLACE) - 1
  const length = count === undefined ? MAX_PLACE : whole(Number(count), 0, MAX_PLACE)
  return charactersOf(String(text))
    .slice(start, start + length)
    .join('')
}

/** The same as SQL. */
export function compilePart<S>(args: Value<S>[], build: Build<S>): S {
  const from = wholeArg(argument(args, 1, build, 'number'), build, 1, MAX_PLACE)
  const count = args[2] ? wholeArg(args[2], build, 0, MAX_PLACE).sql : build.constant(MAX_PLACE)
  return build.words.part(argument(args, 0, build, 'text').sql, from.sql, count)
}
