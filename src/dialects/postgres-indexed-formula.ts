import { type SQL, sql } from 'drizzle-orm'
import { CELL_LIMIT, CELL_TINY } from '../core/formula/semantics.ts'
import type { FormulaWords } from '../core/formula/words.ts'
import { indexedWords, literalText, NotIndexedError, PLAIN_WORDS, refuseList } from './indexed-formula.ts'
import { postgresFormula, toMs, wallClock } from './postgres-formula.ts'

const { cell, constant } = postgresFormula

function limited(value: SQL, most: number, least: number): SQL {
  const [top, bottom] = [constant(most), constant(-most)]
  return sql`case when abs(${value}) < ${constant(least)} then 0::float8
    else nullif(nullif(least(greatest(${value}, ${bottom}), ${top}), ${top}), ${bottom}) end`
}

/** Bytes that the expressions of an index may take in a row of the catalog, which has a page of 8 KiB for all. */
const MAX_STORED = 6_500

/**
 * False if the expressions are too large for an index. PostgreSQL stores them parsed and compressed, which takes about a
 * byte for a character, and more for what does not repeat itself.
 */
export function fitPostgresIndex(expressions: readonly string[]): boolean {
  const text = expressions.join(' ')
  return text.length + 8 * Bun.deflateSync(Buffer.from(text)).length <= MAX_STORED
}

/** A part of a wall time in digits. */
const digitsOf = (part: string, time: SQL, length: number): SQL =>
  sql`lpad((extract(${sql.raw(part)} from ${time}))::int::text, ${sql.raw(String(length))}, '0')`

/** The vocabulary of formulas that an index of PostgreSQL can hold: immutable functions only. */
export const postgresIndexedFormula: FormulaWords<SQL> = indexedWords(
  postgresFormula,
  [...PLAIN_WORDS, 'power', 'ln', 'exp', 'readNumber'],
  {
    number: constant,
    text: (value) => sql`${literalText(value)}::text collate "C"`,
    limited,
    cell(column, form, name) {
      refuseList(form)
      if (name !== null && (form === 'integer' || form === 'real'))
        return limited(column, CELL_LIMIT, CELL_TINY)
      // A column of eight bytes, all of whose values are far from the limits.
      if (form === 'integer') return sql`(${column})::float8`
      if (form === 'real')
        return sql`case when abs(${column}) < ${constant(CELL_TINY)} then 0::float8 when abs(${column}) < ${constant(CELL_LIMIT)} then ${column} end`
      if (form !== 'datetime') return cell(column, form, null)
      // The epoch of an instant is not immutable, that of its wall time is.
      return sql`case when ${column} >= '0001-01-01' and ${column} < '10000-01-01'
        then ${toMs(sql`(${column} at time zone 'UTC')`)} end`
    },
    among(what, values) {
      const list = sql.join(
        values.map((value) => value.sql),
        sql`, `,
      )
      if (what === 'median') throw new NotIndexedError()
      if (what === 'count') return sql`num_nonnulls(${list})::float8`
      return sql`${sql.raw(what === 'min' ? 'least' : 'greatest')}(${list})`
    },
    // `to_char` is not immutable: the words of some of its formats depend on the session.
    dateText(ms, withTime) {
      const time = withTime ? wallClock(sql`floor(${ms} / 1000) * 1000`) : wallClock(ms)
      const day = sql`${digitsOf('year', time, 4)} || '-' || ${digitsOf('month', time, 2)} || '-' || ${digitsOf('day', time, 2)}`
      if (!withTime) return sql`((${day}) collate "C")`
      return sql`((${day} || ' ' || ${digitsOf('hour', time, 2)} || ':' || ${digitsOf('minute', time, 2)} || ':'
        || ${digitsOf('second', time, 2)}) collate "C")`
    },
    regexMatch: (text, pattern) => sql`(${text} ~ ${literalText(pattern)})`,
  },
)
