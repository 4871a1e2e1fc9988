/**
 * Runs of small letters: the first, the last, how far they stand from each other, and how far their capitals are.
 * They are the one-to-one mappings of Unicode 5.2, which MySQL and MariaDB know by themselves (`utf8mb4_unicode_520_ci`);
 * later scripts have no upper case in everyday use.
 */
const RUNS: readonly (readonly [from: number, to: number, step: number, distance: number])[] = [
  [0xe0, 0xf6, 1, -32],
  [0xf8, 0xfe, 1, -32],
  [0x101, 0x12f, 2, -1],
  [0x133, 0x137, 2, -1],
  [0x13a, 0x148, 2, -1],
  [0x14b, 0x177, 2, -1],
  [0x17a, 0x17e, 2, -1],
  [0x183, 0x185, 2, -1],
  [0x1a1, 0x1a5, 2, -1],
  [0x1b4, 0x1b6, 2, -1],
  [0x1ce, 0x1dc, 2, -1],
  [0x1df, 0x1ef, 2, -1],
  [0x1f9, 0x21f, 2, -1],
  [0x223, 0x233, 2, -1],
  [0x23f, 0x240, 1, 10815],
  [0x247, 0x24f, 2, -1],
  [0x256, 0x257, 1, -205],
  [0x28a, 0x28b, 1, -217],
  [0x371, 0x373, 2, -1],
  [0x37b, 0x37d, 1, 130],
  [0x3ad, 0x3af, 1, -37],
  [0x3b1, 0x3c1, 1, -32],
  [0x3c3, 0x3cb, 1, -32],
  [0x3cd, 0x3ce, 1, -63],
  [0x3d9, 0x3ef, 2, -1],
  [0x430, 0x44f, 1, -32],
  [0x450, 0x45f, 1, -80],
  [0x461, 0x481, 2, -1],
  [0x48b, 0x4bf, 2, -1],
  [0x4c2, 0x4ce, 2, -1],
  [0x4d1, 0x525, 2, -1],
  [0x561, 0x586, 1, -48],
  [0x1e01, 0x1e95, 2, -1],
  [0x1ea1, 0x1eff, 2, -1],
  [0x1f00, 0x1f07, 1, 8],
  [0x1f10, 0x1f15, 1, 8],
  [0x1f20, 0x1f27, 1, 8],
  [0x1f30, 0x1f37, 1, 8],
  [0x1f40, 0x1f45, 1, 8],
  [0x1f51, 0x1f57, 2, 8],
  [0x1f60, 0x1f67, 1, 8],
  [0x1f70, 0x1f71, 1, 74],
  [0x1f72, 0x1f75, 1, 86],
  [0x1f76, 0x1f77, 1, 100],
  [0x1f78, 0x1f79, 1, 128],
  [0x1f7a, 0x1f7b, 1, 112],
  [0x1f7c, 0x1f7d, 1, 126],
  [0x1f80, 0x1f87, 1, 8],
  [0x1f90, 0x1f97, 1, 8],
  [0x1fa0, 0x1fa7, 1, 8],
  [0x1fb0, 0x1fb1, 1, 8],
  [0x1fd0, 0x1fd1, 1, 8],
  [0x1fe0, 0x1fe1, 1, 8],
  [0x2170, 0x217f, 1, -16],
  [0x24d0, 0x24e9, 1, -26],
  [0x2c30, 0x2c5e, 1, -48],
  [0x2c68, 0x2c6c, 2, -1],
  [0x2c81, 0x2ce3, 2, -1],
  [0x2cec, 0x2cee, 2, -1],
  [0x2d00, 0x2d25, 1, -7264],
  [0xa641, 0xa65f, 2, -1],
  [0xa663, 0xa66d, 2, -1],
  [0xa681, 0xa697, 2, -1],
  [0xa723, 0xa72f, 2, -1],
  [0xa733, 0xa76f, 2, -1],
  [0xa77a, 0xa77c, 2, -1],
  [0xa77f, 0xa787, 2, -1],
  [0xff41, 0xff5a, 1, -32],
  [0x10428, 0x1044f, 1, -40],
]

/** Pairs that stand in no run: a small letter and its capital. */
const SINGLES =
  'ÿŸƀɃƈƇƌƋƒƑƕǶƙƘƚȽƞȠƨƧƭƬưƯƹƸƽƼƿǷǆǄǉǇǌǊǝƎǳǱǵǴȼȻɂɁɐⱯɑⱭɒⱰɓƁɔƆəƏɛƐɠƓɣƔɨƗɩƖɫⱢɯƜɱⱮɲƝɵƟɽⱤ' +
  'ʀƦʃƩʈƮʉɄʌɅʒƷͷͶάΆόΌϗϏϲϹϸϷϻϺӏӀᵹꝽᵽⱣᾳᾼῃῌῥῬῳῼⅎℲↄↃⱡⱠⱥȺⱦȾⱳⱲⱶⱵꞌꞋ'

/** Letters with a capital whose own small letter is another, such as the final sigma; each before its capital. */
const ONLY_TO_CAPITAL =
  '\u00b5Μ\u0131I\u017fS\u01c5Ǆ\u01c8\u01c7\u01cb\u01ca\u01f2\u01f1\u0345Ι\u03c2\u03a3\u03d0Β\u03d1Θ\u03d5Φ\u03d6Π\u03f0Κ\u03f1Ρ\u03f5Ε\u1e9b\u1e60\u1fbeΙ'

/** Capitals with a small letter whose own capital is another; each before its small letter. */
const ONLY_TO_SMALL = '\u0130i\u01c5\u01c6\u01c8\u01c9\u01cb\u01cc\u01f2ǳ\u03f4θ\u1e9eß\u2126ω\u212ak\u212bå'

type Pair = readonly [from: string, to: string]

const pairsIn = (text: string): Pair[] =>
  (text.match(/../gsu) ?? []).map((pair) => {
    const [from = '', to = ''] = pair
    return [from, to]
  })

const BOTH_WAYS: readonly Pair[] = [
  ...RUNS.flatMap(([from, to, step, distance]) =>
    Array.from({ length: (to - from) / step + 1 }, (_, index): Pair => {
      const small = from + index * step
      return [String.fromCodePoint(small), String.fromCodePoint(small + distance)]
    }),
  ),
  ...pairsIn(SINGLES),
]

/**
 * Letters beside A to Z that UPPER changes, each with what it becomes. One letter becomes one letter: ß has no capital
 * of its own and stays.
 */
export const TO_CAPITAL: readonly Pair[] = [...BOTH_WAYS, ...pairsIn(ONLY_TO_CAPITAL)]

/** Letters beside A to Z that LOWER changes, each with what it becomes. */
export const TO_SMALL: readonly Pair[] = [
  ...BOTH_WAYS.map(([small, capital]): Pair => [capital, small]),
  ...pairsIn(ONLY_TO_SMALL),
]

/**
 * The Σ of which LOWER makes a ς: one behind a letter and before none ends a word. Letters are those of Latin, Greek,
 * Cyrillic and Armenian with the accents that follow them.
 */
const finalSigma =
  /(?<=[A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u0373\u0376\u0377\u037b-\u037d\u0386\u0388-\u0556\u0561-\u0587\u1e00-\u1fff])\u03a3(?![A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u0373\u0376\u0377\u037b-\u037d\u0386\u0388-\u0556\u0561-\u0587\u1e00-\u1fff])/gu

/** The same for databases, each of which escapes characters in another way: the characters themselves. */
export const FINAL_SIGMA = finalSigma.source.replace(/\\u([0-9a-f]{4})/g, (_, code: string) =>
  String.fromCodePoint(Number.parseInt(code, 16)),
)

const capitals = new Map<string, string>(TO_CAPITAL)
const smalls = new Map<string, string>(TO_SMALL)

const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text)

/** The text in capitals. */
export function toUpper(text: string): string {
  if (isAscii(text)) return text.toUpperCase()
  return text.replace(/[a-z]+|[\u0080-\u{1ffff}]/gu, (part) => capitals.get(part) ?? asciiUpper(part))
}

/** The text in small letters. */
export function toLower(text: string): string {
  if (isAscii(text)) return text.toLowerCase()
  return text
    .replace(finalSigma, '\u03c2')
    .replace(/[A-Z]+|[\u0080-\u{1ffff}]/gu, (part) => smalls.get(part) ?? asciiLower(part))
}

const asciiUpper = (part: string): string => (part < '\u0080' ? part.toUpperCase() : part)
const asciiLower = (part: string): string => (part < '\u0080' ? part.toLowerCase() : part)
