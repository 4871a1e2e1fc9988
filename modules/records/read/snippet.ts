/** The part of a text around a match, on one line. */
export interface Snippet {
  text: string
  /** The match as offsets of `text`; equal if it is not literally in the text, such as in a formatted date. */
  start: number
  end: number
}

/** Characters before the match, and in total. */
const LEAD = 30
const LENGTH = 140

/** Cuts a text around the first match of `searched`, ignoring case. */
export function snippetOf(text: string, searched: string): Snippet {
  const characters = [...onOneLine(text)]
  const match = locate(characters, onOneLine(searched))
  // A match near the beginning is shown with all that precedes it.
  const from = match.start <= LEAD ? 0 : match.start - LEAD
  const to = Math.min(characters.length, Math.max(from + LENGTH, match.end))
  const before = `${from > 0 ? '…' : ''}${characters.slice(from, match.start).join('')}`
  const matched = characters.slice(match.start, match.end).join('')
  const after = `${characters.slice(match.end, to).join('')}${to < characters.length ? '…' : ''}`
  return {
    text: `${before}${matched}${after}`,
    start: before.length,
    end: before.length + matched.length,
  }
}

const onOneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()

/** The match as a range of characters, empty at 0 if there is none. A character’s lower case may be several. */
function locate(characters: readonly string[], searched: string): { start: number; end: number } {
  const lower = characters.map((character) => character.toLowerCase())
  const wanted = searched.toLowerCase()
  const at = wanted === '' ? -1 : lower.join('').indexOf(wanted)
  if (at < 0) return { start: 0, end: 0 }
  let offset = 0
  let start = 0
  while (offset + (lower[start]?.length ?? 0) <= at) offset += lower[start++]?.length ?? 0
  let end = start
  while (offset < at + wanted.length) offset += lower[end++]?.length ?? 0
  return { start, end }
}
