/** Longest column name: PostgreSQL cuts names at 63 bytes, and a suffix needs room. */
const MAX_COLUMN_NAME = 55

/** Longest title, less the room for a suffix (spec §5: 255). */
const MAX_TITLE = 250

/** A title as people read it: without spaces around it, line breaks or control characters. */
export const cleanTitle = (text: string): string =>
  text
    .replace(/^\ufeff/, '')
    .normalize('NFC')
    .replace(/[\s\p{Cc}\p{Cs}]+/gu, ' ')
    .trim()
    .slice(0, MAX_TITLE)
    .replace(/\p{Cs}$/u, '') // half of a character that the cut went through
    .trim()

/** The name with `_1`, `_2`, … until it is not taken, in any case of its letters; it is then taken, too. */
export function uniqueName(name: string, taken: Set<string>): string {
  let unique = name
  for (let suffix = 1; taken.has(unique.toLowerCase()); suffix++) unique = `${name}_${suffix}`
  taken.add(unique.toLowerCase())
  return unique
}

/**
 * A column name made from a title: special characters become underscores (spec §5).
 * `Cost Total $` gives `Cost_Total__`; a title of nothing else gives `field`.
 */
export function columnNameFor(title: string, taken: Set<string>): string {
  const name = title.replace(/\W/g, '_').slice(0, MAX_COLUMN_NAME)
  return uniqueName(/^_*$/.test(name) ? 'field' : name, taken)
}
