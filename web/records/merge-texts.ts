import { diff3Merge } from 'node-diff3'

/** A part of two merged texts: one text, or two where both people changed the same place. */
export type MergedPart = { text: string } | { mine: string; theirs: string }

/** Longer differences overlap as a whole: a comparison of texts with many equal words takes quadratic time. */
const MAX_LINES = 1_500
const MAX_WORDS = 1_000

/**
 * Merges two edits of a text line by line, and word by word where both changed the same lines. What is equal at both ends is
 * not compared, so the texts may be long.
 */
export function mergeTexts(base: string, mine: string, theirs: string): MergedPart[] {
  // With a line break at the end of each, so that a line added behind the last one does not change that one. Text areas
  // return all line breaks as \n.
  const lines = mapAll([mine, base, theirs], (text) => linesOf(text.replaceAll('\r\n', '\n')))
  const parts = mergeTokens(lines, MAX_LINES, (block) =>
    mergeTokens(
      mapAll(block, (tokens) => wordsOf(tokens.join(''))),
      MAX_WORDS,
      ([a, , b]) => [{ mine: a.join(''), theirs: b.join('') }],
    ),
  )
  return withoutLastBreak(parts)
}

/** True if both people changed the same place. */
export const hasOverlap = (parts: readonly MergedPart[]): boolean => parts.some((part) => 'mine' in part)

/** The merged text; where both changed the same place with the version of one of them, or with both in turn. */
export const mergedText = (parts: readonly MergedPart[], choice: 'mine' | 'theirs' | 'both'): string =>
  parts
    .map((part) => {
      if ('text' in part) return part.text
      return choice === 'both' ? bothOf(part) : part[choice]
    })
    .join('')

function bothOf({ mine, theirs }: { mine: string; theirs: string }): string {
  const isApart = mine === '' || theirs === '' || /\s$/.test(mine) || /^\s/.test(theirs)
  return isApart ? mine + theirs : `${mine} ${theirs}`
}

/** My text, the common original and the other text. */
type Versions<T> = [mine: T, base: T, theirs: T]

const mapAll = <T, U>([mine, base, theirs]: Versions<T>, map: (version: T) => U): Versions<U> => [
  map(mine),
  map(base),
  map(theirs),
]

function mergeTokens(
  versions: Versions<string[]>,
  max: number,
  onOverlap: (block: Versions<string[]>) => MergedPart[],
): MergedPart[] {
  const [first] = versions
  const shortest = Math.min(...versions.map((tokens) => tokens.length))
  let start = 0
  while (start < shortest && versions.every((tokens) => tokens[start] === first[start])) start++
  let end = 0
  while (end < shortest - start && versions.every((tokens) => tokens.at(-1 - end) === first.at(-1 - end)))
    end++
  const [mine, base, theirs] = mapAll(versions, (tokens) => tokens.slice(start, tokens.length - end))
  const parts: MergedPart[] = [{ text: first.slice(0, start).join('') }]
  if ([mine, base, theirs].some((tokens) => tokens.length > max)) {
    parts.push({ mine: mine.join(''), theirs: theirs.join('') })
  } else {
    for (const { ok, conflict } of diff3Merge(mine, base, theirs, { excludeFalseConflicts: true })) {
      if (ok) parts.push({ text: ok.join('') })
      if (conflict) parts.push(...onOverlap([conflict.a, conflict.o, conflict.b]))
    }
  }
  parts.push({ text: first.slice(first.length - end).join('') })
  return parts
}

const linesOf = (text: string): string[] => text.split('\n').map((line) => `${line}\n`)

/** Words and the spaces between them. */
const wordsOf = (text: string): string[] => text.match(/\s+|\S+/g) ?? []

const withoutBreak = (text: string): string => (text.endsWith('\n') ? text.slice(0, -1) : text)

function withoutLastBreak(parts: MergedPart[]): MergedPart[] {
  const last = parts.findLast((part) => !('text' in part) || part.text !== '')
  if (!last) return parts
  const cut =
    'text' in last
      ? { text: withoutBreak(last.text) }
      : { mine: withoutBreak(last.mine), theirs: withoutBreak(last.theirs) }
  return parts
    .map((part) => (part === last ? cut : part))
    .filter((part) => !('text' in part) || part.text !== '')
}
