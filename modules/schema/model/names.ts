import { AppError, badRequest } from '../../../src/core/errors.ts'
import { m } from '../../../src/messages.gen.ts'

const MAX_TITLE = 255
/** PostgreSQL truncates names to 63 bytes; this leaves room for a suffix and for index names. */
const MAX_SLUG = 54

/**
 * The title to store: trimmed, in composed Unicode (NFC).
 *
 * @throws BAD_REQUEST for an empty title, over 255 characters, or control characters
 */
export function checkTitle(kind: 'table' | 'field' | 'view', input: string): string {
  const title = input.normalize('NFC').trim()
  if (title === '') throw badRequest(m.schema_error_title_missing({ kind }))
  if (title.length > MAX_TITLE) throw badRequest(m.schema_error_title_length({ kind, max: MAX_TITLE }))
  if (/[\p{Cc}\p{Cs}]/u.test(title)) throw badRequest(m.schema_error_title_control({ kind }))
  // REST clients build paths from table titles, where both have another meaning.
  const forbidden = kind === 'table' ? ['.', '/'].find((character) => title.includes(character)) : undefined
  if (forbidden) throw badRequest(m.wire_error_title_characters({ characters: forbidden }))
  return title
}

/** Titles that differ only in case are equal. */
export const titleKey = (title: string): string => title.normalize('NFC').trim().toLowerCase()

/** True if one of the others has this title. */
export const isTitleTaken = (title: string, others: { title: string }[]): boolean =>
  others.some((other) => titleKey(other.title) === titleKey(title))

/** The title if it is free, else `Title_1`, `Title_2`, … (spec §5). */
export function uniqueTitle(title: string, others: { title: string }[]): string {
  const taken = new Set(others.map((other) => titleKey(other.title)))
  if (!taken.has(titleKey(title))) return title
  for (let number = 1; ; number++) {
    const suffix = `_${number}`
    // The cut may split a surrogate pair.
    const candidate = title.slice(0, MAX_TITLE - suffix.length).replace(/\p{Cs}$/u, '') + suffix
    if (!taken.has(titleKey(candidate))) return candidate
  }
}

/** `Duplicate table alias 'Country' at base 'p…'`, the text of the REST API. */
export const duplicateTable = (title: string, baseId: string): AppError =>
  new AppError('DUPLICATE_ALIAS', m.wire_error_duplicate_table({ title, base: baseId }))

/** `Duplicate column alias 'Title' at table 'm…', base 'p…'`. */
export const duplicateField = (title: string, tableId: string, baseId: string): AppError =>
  new AppError('DUPLICATE_ALIAS', m.wire_error_duplicate_field({ title, table: tableId, base: baseId }))

/**
 * A name for the database: ASCII letters, digits and `_`, at most 60 characters, without the reserved prefixes of the
 * engines (`sqlite_`, `pg_`) and of this product (`sheaf_`).
 *
 * @param taken lower-case names in use, including the trash
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
 * Refuses text that not every database can store, anywhere in the value.
 *
 * @throws BAD_REQUEST for null characters and unpaired surrogates
 */
export function refuseUnstorable(value: unknown): void {
  if (typeof value === 'string') {
    if (value.includes('\u0000') || !value.isWellFormed()) {
      throw badRequest(m.schema_error_unstorable_text())
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, part] of Object.entries(value)) {
      refuseUnstorable(key)
      refuseUnstorable(part)
    }
  }
}
