import { type SQL, sql } from 'drizzle-orm'
import { AppError } from '../core/errors.ts'
import { m } from '../messages.gen.ts'

/** https://sqlite.org/limits.html#max_like_pattern_length, for GLOB as well. */
const MAX_PATTERN_BYTES = 50_000

/**
 * True where the text fits a `like` pattern in any case of its letters. SQLite's LIKE knows only the
 * case of A to Z; with any other letter in the pattern its GLOB is asked, which tells case, for each letter in both.
 *
 * @throws INVALID_FILTER for a pattern that is longer than SQLite takes
 */
export function sqliteLike(text: SQL, pattern: string): SQL {
  const isPlain = /^[\0-\x7f]*$/.test(pattern)
  const sent = isPlain ? pattern : asGlob(pattern)
  if (Buffer.byteLength(sent) > MAX_PATTERN_BYTES) {
    throw new AppError('INVALID_FILTER', m.request_error_search_length())
  }
  // LIKE has no default escape character in SQLite: without one, "50%" would match "500".
  return isPlain ? sql`${text} like ${sent} escape '\\'` : sql`${text} glob ${sent}`
}

/** The same pattern in GLOB's signs: `Ü%` becomes `[üÜ]*`. */
function asGlob(pattern: string): string {
  const characters = [...pattern]
  let glob = ''
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] ?? ''
    if (character === '%') glob += '*'
    else if (character === '_') glob += '?'
    else glob += literal(character === '\\' ? (characters[++at] ?? '\\') : character)
  }
  return glob
}

function literal(character: string): string {
  if ('*?['.includes(character)) return `[${character}]`
  const cases = [...new Set([character, character.toLowerCase(), character.toUpperCase()])]
  // "ß" in capitals is two letters, which a class cannot hold.
  const single = cases.filter((variant) => [...variant].length === 1)
  return single.length > 1 ? `[${single.join('')}]` : character
}

/**
 * A value as text, numbers as JavaScript prints them: a whole one without a point, of a fraction the fewest
 * digits that read back as the same number. Of the numbers that need all 17, one in a hundred has another last
 * digit; below 0.0001 SQLite writes an exponent where JavaScript does so from 0.000001.
 */
export const sqlitePrinted = (value: SQL): SQL =>
  sql`iif(typeof(${value}) <> 'real', ${value}, ${printedReal(value)})`

function printedReal(value: SQL): SQL {
  const digits = (count: number) => sql.raw(`printf('%!.${count}g', n)`)
  const reads = (count: number) => sql`when cast(${digits(count)} as real) = n then ${digits(count)}`
  // Worked out once: it may be a rollup over many records.
  return sql`(select case when n is null then null
    when n = cast(n as integer) then cast(cast(n as integer) as text)
    when length(cast(n as text)) < 15 then cast(n as text)
    ${reads(15)} ${reads(16)} else ${digits(17)} end from (select ${value} as n))`
}
