import { AppError, badRequest } from '../../../src/core/errors.ts'

const MAX_TITLE = 255
const MAX_PHYSICAL = 60

/** What PostgreSQL keeps of a name is 63 bytes; some room is left for a suffix and for index names. */
const MAX_SLUG = MAX_PHYSICAL - 6

/**
 * A title as it will be kept: without the spaces around it, in composed Unicode.
 *
 * @throws BAD_REQUEST naming what is wrong: empty, over 255 characters, control characters
 */
export function checkTitle(kind: 'table' | 'field' | 'view', input: string): string {
  const title = input.normalize('NFC').trim()
  if (title === '') throw badRequest(`A ${kind} needs a title`)
  if (title.length > MAX_TITLE) throw badRequest(`A ${kind} title can have up to ${MAX_TITLE} characters`)
  if (/[\p{Cc}\p{Cs}]/u.test(title)) throw badRequest(`A ${kind} title can’t contain control characters`)
  // Both stand for something else in the addresses that REST clients build from titles.
  const forbidden = kind === 'table' ? ['.', '/'].find((character) => title.includes(character)) : undefined
  if (forbidden) throw badRequest(`Following characters are not allowed "${forbidden}"`)
  return title
}

/** Titles are the same where they differ only in case. */
export const titleKey = (title: string): string => title.normalize('NFC').trim().toLowerCase()

/** True where one of the others has this title. */
export const isTitleTaken = (title: string, others: { title: string }[]): boolean =>
  others.some((other) => titleKey(other.title) === titleKey(title))

/** The title itself where it is free, else `Title_1`, `Title_2`, … (spec §5). */
export function uniqueTitle(title: string, others: { title: string }[]): string {
  const taken = new Set(others.map((other) => titleKey(other.title)))
  if (!taken.has(titleKey(title))) return title
  for (let number = 1; ; number++) {
    const suffix = `_${number}`
    // The cut may go through a character of two halves.
    const candidate = title.slice(0, MAX_TITLE - suffix.length).replace(/\p{Cs}$/u, '') + suffix
    if (!taken.has(titleKey(candidate))) return candidate
  }
}

/** `Duplicate table alias 'Country' at base 'p…'`, as REST clients know it. */
export const duplicateTable = (title: string, baseId: string): AppError =>
  new AppError('DUPLICATE_ALIAS', `Duplicate table alias '${title}' at base '${baseId}'`)

/** `Duplicate column alias 'Title' at table 'm…', base 'p…'`. */
export const duplicateField = (title: string, tableId: string, baseId: string): AppError =>
  new AppError('DUPLICATE_ALIAS', `Duplicate column alias '${title}' at table '${tableId}', base '${baseId}'`)

/**
 * A name for the database: ASCII letters, digits and `_` only, at most 60 characters, never one that
 * the engine (`sqlite_…`, `pg_…`) or we (`sheaf_…`) keep for ourselves.
 *
 * @param taken lower-case names that are in use, those of things in the trash included
 */
export function physicalName(title: string, taken: ReadonlySet<string>, fallback: string): string {
  const ascii = title
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9_]+/gi, '_')
    .slice(0, MAX_SLUG)
  const named = /[a-z0-9]/i.test(ascii) ? ascii : fallback
  const slug = /^(?:sqlite_|sheaf_|pg_|\d)/i.test(named) ? `t_${named}`.slice(0, MAX_SLUG) : named
  if (!taken.has(slug.toLowerCase())) return slug
  for (let number = 1; ; number++) {
    const candidate = `${slug}_${number}`
    if (!taken.has(candidate.toLowerCase())) return candidate
  }
}

/**
 * Refuses what not every database can keep, wherever it stands in the value: null characters and
 * halves of characters.
 *
 * @throws BAD_REQUEST
 */
export function refuseUnstorable(value: unknown): void {
  if (typeof value === 'string') {
    if (value.includes('\u0000') || !value.isWellFormed()) {
      throw badRequest('Text can’t contain null characters or incomplete characters')
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, part] of Object.entries(value)) {
      refuseUnstorable(key)
      refuseUnstorable(part)
    }
  }
}
