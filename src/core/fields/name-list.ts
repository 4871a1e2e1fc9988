/**
 * Names in one line of text, as exports and the clipboard have them: with a comma and a blank between. A name that
 * would be read otherwise stands in quotes, as a value of CSV does (RFC 4180): `Ann, "Doe, Jane", "say ""hi"""`.
 */

/** What cannot stand as it is: what parts names, what begins a quoted one, blanks at an end, and no text at all. */
const NEEDS_QUOTES = /,|^"|^\s|\s$|^$/

/** One name, or another piece of such a list, between quotes and its end, or up to the next comma. */
const PIECE = /\s*(?:"((?:[^"]|"")*)"\s*(?=,|$)|([^,]*))(?:,|$)/y

/** The list of some names, which `readNameList` reads back letter by letter. */
export const writeNameList = (names: readonly string[]): string =>
  names.map((name) => (NEEDS_QUOTES.test(name) ? `"${name.replaceAll('"', '""')}"` : name)).join(', ')

/** The names in a list, in its order. Quotes that do not match belong to the names. */
export function readNameList(text: string): string[] {
  const names: string[] = []
  PIECE.lastIndex = 0
  while (PIECE.lastIndex < text.length) {
    const [, quoted, plain = ''] = PIECE.exec(text) ?? []
    const name = quoted?.replaceAll('""', '"') ?? plain.trim()
    if (name !== '') names.push(name)
  }
  return names
}
