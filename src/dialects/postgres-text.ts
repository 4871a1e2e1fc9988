import { type SQL, sql } from 'drizzle-orm'
import type { StorageKind } from '../core/fields/field-type.ts'
import { escapeLike } from '../core/filters/dialect-words.ts'

/** Number of `double precision` among PostgreSQL's types. */
const DOUBLE = sql.raw('701')

/** True where the text of a column, whatever it holds, fits a `like` pattern in any case of its letters. */
export const postgresLike = (expression: SQL, pattern: string): SQL => fits(printed(expression), pattern)

/** True where the text of a column of this kind holds the words, in any case. */
export function postgresSearch(expression: SQL, storage: StorageKind, text: string): SQL {
  // A checkbox shows no text.
  if (storage === 'boolean') return sql`false`
  const pattern = `%${escapeLike(text)}%`
  if (storage === 'real') return fits(printed(expression), pattern)
  const shown = sql`(${expression})::text`
  // Nobody looks for the zone, and "00" would be in every moment.
  return fits(storage === 'datetime' ? sql`regexp_replace(${shown}, '[+]00$', '')` : shown, pattern)
}

/**
 * As JavaScript prints it: from 1e15 on PostgreSQL would write a double with an exponent. A text of a formula's own is
 * read as a number by the planner, whatever its type, unless what it looks like rules that out.
 */
const printed = (expression: SQL): SQL =>
  sql`(case when pg_typeof(${expression})::oid = ${DOUBLE} and (${expression})::text ~ '^-?[0-9.]+e[+-]?[0-9]+$'
    then (${expression})::text::numeric::text else (${expression})::text end)`

/**
 * Byte order, in which our columns stand, knows the case of A to Z only. With any other letter in the
 * pattern a regular expression is asked, which names each letter in both cases.
 */
function fits(text: SQL, pattern: string): SQL {
  const isPlain = /^[\0-\x7f]*$/.test(pattern)
  return isPlain ? sql`${text} ilike ${pattern}` : sql`${text} ~ ${asRegularExpression(pattern)}`
}

/** The same pattern in the signs of a regular expression: `Ü%` becomes `^(?:ü|Ü).*$`. */
function asRegularExpression(pattern: string): string {
  const characters = [...pattern]
  let expression = ''
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] ?? ''
    if (character === '%') expression += '.*'
    else if (character === '_') expression += '.'
    else expression += literal(character === '\\' ? (characters[++at] ?? '\\') : character)
  }
  return `^${expression}$`
}

function literal(character: string): string {
  const cases = [...new Set([character, character.toLowerCase(), character.toUpperCase()])]
  // "ß" in capitals is two letters, which are another text.
  const single = cases.filter((variant) => [...variant].length === 1).map(escaped)
  return single.length > 1 ? `(?:${single.join('|')})` : (single[0] ?? '')
}

const escaped = (character: string): string => character.replace(/[\\^$.|?*+()[\]{}-]/, '\\$&')
