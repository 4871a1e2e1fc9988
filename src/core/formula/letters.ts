/** First and last small letter of each run, and how far its capitals are: Latin-1, Greek, Cyrillic. */
const RUNS: [from: number, to: number, distance: number][] = [
  [0xe0, 0xf6, -32],
  [0xf8, 0xfe, -32],
  [0x3b1, 0x3c1, -32],
  [0x3c3, 0x3cb, -32],
  [0x430, 0x44f, -32],
  [0x450, 0x45f, -80],
]

/** Runs in which capitals and small letters take turns, the capital first: Latin Extended-A. */
const TURNS: [from: number, to: number][] = [
  [0x100, 0x12f],
  [0x132, 0x137],
  [0x139, 0x148],
  [0x14a, 0x177],
  [0x179, 0x17e],
]

/** Greek letters with accents, which follow no rule. */
const SINGLES = 'άΆέΈήΉίΊόΌύΎώΏÿŸ'

/**
 * Letters beside A to Z whose case UPPER and LOWER change, as pairs of small letter and capital: Latin with its
 * accents, Greek and Cyrillic. Others stay as they are: what databases know of them differs.
 */
export const LETTERS: readonly (readonly [small: string, capital: string])[] = [
  ...RUNS.flatMap(([from, to, distance]) =>
    Array.from({ length: to - from + 1 }, (_, index): [string, string] => [
      String.fromCharCode(from + index),
      String.fromCharCode(from + index + distance),
    ]),
  ),
  ...TURNS.flatMap(([from, to]) =>
    Array.from({ length: (to - from + 1) / 2 }, (_, index): [string, string] => [
      String.fromCharCode(from + 2 * index + 1),
      String.fromCharCode(from + 2 * index),
    ]),
  ),
  ...(SINGLES.match(/../gu) ?? []).map((pair): [string, string] => [pair.charAt(0), pair.charAt(1)]),
]

const TO_CAPITAL = new Map<string, string>(LETTERS)
const TO_SMALL = new Map<string, string>(LETTERS.map(([small, capital]) => [capital, small]))

/** The text in capitals. */
export const toUpper = (text: string): string =>
  text.replace(/[a-z]+|[\u0080-\u04ff]/g, (part) =>
    part < '\u0080' ? part.toUpperCase() : (TO_CAPITAL.get(part) ?? part),
  )

/** The text in small letters. */
export const toLower = (text: string): string =>
  text.replace(/[A-Z]+|[\u0080-\u04ff]/g, (part) =>
    part < '\u0080' ? part.toLowerCase() : (TO_SMALL.get(part) ?? part),
  )
