import { trimTrailing } from '../../../src/core/trim-characters.ts'
import { titleKey } from '../model/index.ts'

const MAX_TITLE = 255

/** How names of the database become titles: as they are, or in the manner of `FirstName`. */
export type Inflection = 'none' | 'camelize'

/**
 * A name of the database as a title, which may not hold everything that a name may.
 *
 * @example titleOf('first_name', 'camelize', 'field') // 'FirstName'
 */
export function titleOf(name: string, inflection: Inflection, kind: 'table' | 'field'): string {
  const plain = name
    .toWellFormed()
    .normalize('NFC')
    .replace(/\p{Cc}/gu, ' ')
  // Both mean something in the addresses that REST clients build from the titles of tables.
  const allowed = kind === 'table' ? plain.replace(/[./]/g, '_') : plain
  const title = inflection === 'camelize' ? camelize(allowed) : allowed
  return title.trim().slice(0, MAX_TITLE).toWellFormed() || `(${kind})`
}

function camelize(name: string): string {
  const words = name.split(/[\s_-]+/).filter((word) => word !== '')
  return words.length === 0
    ? name
    : words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

/** Gives titles that are free: as wished, or with the next free number behind. */
export function createTitles(taken: Iterable<string> = []) {
  const used = new Set([...taken].map(titleKey))
  // Without it, a thousand tables of one name would each count from the start.
  const next = new Map<string, number>()
  return (wish: string): string => {
    const key = titleKey(wish)
    let title = wish
    for (let number = next.get(key) ?? 1; used.has(titleKey(title)); number++) {
      const suffix = `_${number}`
      title = wish.slice(0, MAX_TITLE - suffix.length).toWellFormed() + suffix
      next.set(key, number + 1)
    }
    used.add(titleKey(title))
    return title
  }
}

/** The column's name without what says that it holds a key: `author_id`, `authorId` give `author`. */
export function withoutKeyWord(columnName: string): string {
  const parted = /[_\s-](?:id|fk|key)$/i.exec(columnName)
  const found = parted ?? /(?<=[A-Za-z0-9])(?:Id|ID|Fk|FK)$/.exec(columnName)
  const bare = columnName.slice(0, found?.index ?? 0)
  return trimTrailing(bare, '_- \t\n') || columnName
}
