import { type SQL, sql } from 'drizzle-orm'
import { CELL_LIMIT, CELL_TINY } from '../core/formula/semantics.ts'
import type { FormulaWords } from '../core/formula/words.ts'
import { indexedWords, literalText, NotIndexedError, PLAIN_WORDS, refuseList } from './indexed-formula.ts'
import { sqliteFormula } from './sqlite-formula.ts'

/** Numbers of more digits may be read differently by versions of SQLite. */
const MAX_DIGITS = 15

const { cell, constant } = sqliteFormula

function limited(value: SQL, most: number, least: number): SQL {
  const [top, bottom] = [constant(most), constant(-most)]
  return sql`case when abs(${value}) < ${constant(least)} then 0.0
    else nullif(nullif(min(max(${value}, ${bottom}), ${top}), ${top}), ${bottom}) end`
}

/**
 * The vocabulary of formulas that an index of SQLite can hold. Without functions of ours: other programs could no longer
 * write to the file. Without LN, EXP and POWER, whose last digit depends on the mathematical library of the program.
 */
export const sqliteIndexedFormula: FormulaWords<SQL> = indexedWords(
  sqliteFormula,
  [...PLAIN_WORDS, 'dateText'],
  {
    number(value) {
      if (String(value).replace(/e.*|\D/g, '').length > MAX_DIGITS) throw new NotIndexedError()
      return constant(value)
    },
    text: literalText,
    limited,
    cell(column, form, name) {
      refuseList(form)
      if (name !== null && (form === 'integer' || form === 'real'))
        return limited(column, CELL_LIMIT, CELL_TINY)
      const value = cell(column, form, null)
      // Of the text `now`, written by another program, SQLite refuses to index the date.
      const isDate = name === null && (form === 'date' || form === 'datetime')
      return isDate ? sql`case when ${column} < ':' then ${value} end` : value
    },
    among(what, values) {
      const all = values.map((value) => value.sql)
      const [first, ...others] = all
      if (what === 'median' || !first) throw new NotIndexedError()
      if (what === 'count') {
        const filled = all.map((value) => sql`(${value} is not null)`)
        return sql`((${sql.join(filled, sql` + `)}) * 1.0)`
      }
      if (others.length === 0) return first
      // Of several values SQLite's functions give NULL where one is NULL: each gives way to the others.
      const given = all.map(
        (_, at) => sql`coalesce(${sql.join([...all.slice(at), ...all.slice(0, at)], sql`, `)})`,
      )
      return sql`${sql.raw(what)}(${sql.join(given, sql`, `)})`
    },
  },
)
