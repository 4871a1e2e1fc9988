import type { SQL } from 'drizzle-orm'
import type { QueryDialect } from '../../../../src/dialects/dialect.ts'

/** Most options by which sets are told apart; each is a comparison per record. With more, cells group as they are. */
export const MAX_SET_OPTIONS = 200

/** A comma list with its titles in the order given: those of `red,blue` and `blue,red` are one set. */
export function inOrder({ formula, hasOption }: QueryDialect, cell: SQL, titles: readonly string[]): SQL {
  const set = (list: SQL): SQL => {
    const parts = titles.map((title) =>
      formula.choose([[hasOption(list, title), formula.text(`,${title}`)]], formula.text('')),
    )
    return formula.part(formula.concat(parts), formula.constant(2), formula.constant(MAX_LENGTH))
  }
  return formula.once([{ sql: cell, type: 'text' }], ['set_cell'], ([list = cell]) =>
    formula.once([{ sql: set(list), type: 'text' }], ['set_sorted'], ([sorted = list]) =>
      // One that holds more than these titles stays as it is, or it would look like another.
      formula.choose([[formula.compare('=', formula.length(sorted), formula.length(list)), sorted]], list),
    ),
  )
}

/** Text by which sets stand in the order of their options: `{a}`, `{a, b}`, `{b}`. NULL for none. */
export function setRank(
  { formula, hasOption, isNull }: QueryDialect,
  cell: SQL,
  titles: readonly string[],
): SQL {
  return formula.once([{ sql: cell, type: 'text' }], ['rank_cell'], ([list = cell]) => {
    const places = titles.map((title, index) =>
      formula.choose(
        [[hasOption(list, title), formula.text(String(index).padStart(3, '0'))]],
        formula.text(''),
      ),
    )
    return formula.choose([[isNull(list), formula.nothing('text')]], formula.concat(places))
  })
}

const MAX_LENGTH = 1_000_000
