import { type SQL, sql } from 'drizzle-orm'
import { AppError } from '../core/errors.ts'
import { m } from '../messages.gen.ts'

/** https://sqlite.org/limits.html#max_like_pattern_length, for GLOB as well. */
const MAX_PATTERN_BYTES = 50_000

/**
 * Case-insensitive `like`. SQLite's LIKE folds only A to Z; patterns with other letters use GLOB, which is
 * case-sensitive, with each letter in both cases.
 *
 * @throws INVALID_FILTER for a pattern beyond SQLite's length limit
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

/** Converts a `like` pattern to GLOB: `Ü%` becomes `[üÜ]*`. */
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
  // "ß" is two letters in upper case, which a character class cannot contain.
  const single = cases.filter((variant) => [...variant].length === 1)
  return single.length > 1 ? `[${single.join('')}]` : character
}

/**
 * A value as text, with numbers as JavaScript prints them: integers without a point, others with the fewest
 * digits that parse back to the same number. Differences remain: one in a hundred numbers that need 17 digits
 * has another last digit, and SQLite writes exponents below 0.0001, JavaScript below 0.000001.
 */
export const sqlitePrinted = (value: SQL): SQL =>
  sql`iif(typeof(${value}) <> 'real', ${value}, ${printedReal(value)})`

function printedReal(value: SQL): SQL {
  const digits = (count: number) => sql.raw(`printf('%!.${count}g', n)`)
  const reads = (count: number) => sql`when cast(${digits(count)} as real) = n then ${digits(count)}`
  // Computed once: it may be a rollup over many records.
  return sql`(select case when n is null then null
    when n = cast(n as integer) then cast(cast(n as integer) as text)
    when length(cast(n as text)) < 15 then cast(n as text)
    ${reads(15)} ${reads(16)} else ${digits(17)} end from (select ${value} as n))`
}
