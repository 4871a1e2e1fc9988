import type { CsvEncoding } from './format.ts'

/** Encodings that may be guessed, the most common first: of equally plausible ones, the first wins. */
const CANDIDATES: readonly { encoding: CsvEncoding; isRare?: true }[] = [
  { encoding: 'windows-1252' },
  { encoding: 'shift_jis' },
  { encoding: 'euc-kr' },
  { encoding: 'gb18030' },
  { encoding: 'big5' },
  { encoding: 'euc-jp' },
  { encoding: 'windows-1250' },
  { encoding: 'windows-1251' },
  { encoding: 'windows-1254' },
  { encoding: 'windows-1253' },
  { encoding: 'windows-1255' },
  { encoding: 'windows-1256' },
  { encoding: 'iso-8859-2' },
  { encoding: 'windows-874', isRare: true },
  { encoding: 'windows-1257', isRare: true },
  { encoding: 'koi8-r', isRare: true },
  { encoding: 'ibm866', isRare: true },
  { encoding: 'macintosh', isRare: true },
]

/** Bytes of lines with other characters than ASCII that are looked at. */
const SAMPLE_BYTES = 32_768
/** A reading below it is not plausible. */
const PLAUSIBLE = 0.75
/** How much better than all others a reading has to be, and one without an unusual character. */
const MARGIN = 0.1
const PERFECT = 0.97
const MARGIN_IF_PERFECT = 0.02
/** How much better than common encodings a rare one has to be. */
const RARE = 0.15
/** Fewer characters are no evidence for another encoding than the most common. */
const FEW = 4
/** Readings that a person may choose from. */
const MAX_CHOICES = 4

export interface EncodingGuess {
  encoding: CsvEncoding
  /** Readings of a text whose encoding is not clear, the most plausible first; a person has to choose. */
  readings: EncodingReading[]
}

/** How a text reads in an encoding. */
export interface EncodingReading {
  encoding: CsvEncoding
  /** Part of a line with characters that depend on the encoding. */
  excerpt: string
}

/** Characters of an excerpt, and those of them before the first that depends on the encoding. */
const EXCERPT = 60
const BEFORE = 20

/**
 * Guesses the encoding of a text that is neither UTF-8 nor UTF-16 by reading it in each and looking at the result: words of one
 * script, capital letters in front, letters that one language has, frequent Chinese characters. Statistics of byte sequences,
 * as `chardet` and browsers use, need more text than the names in a table and do not tell when they are unsure.
 */
export function guessEncoding(lines: readonly Uint8Array[]): EncodingGuess {
  // Only seen in a line that is cut off: the whole file tells.
  if (lines.length === 0) return { encoding: 'utf-8', readings: [] }
  const bytes = joinLines(lines)
  const found: { encoding: CsvEncoding; text: string; score: number; isRare: boolean }[] = []
  for (const { encoding, isRare = false } of CANDIDATES) {
    const text = decodeStrictly(bytes, encoding)
    if (text === null || found.some((reading) => reading.text === text)) continue
    found.push({ encoding, text, score: scoreOf(bytes, text, encoding), isRare })
  }
  // A stable sort: the more common of two equally plausible encodings stays first.
  const ranked = found.toSorted((a, b) => rankOf(b) - rankOf(a))
  const [best] = ranked
  if (!best) return { encoding: 'windows-1252', readings: excerptsOf(['windows-1252'], bytes) }
  const margin = best.score >= PERFECT ? MARGIN_IF_PERFECT : MARGIN
  const hasRivals = ranked.some((each) => each !== best && rankOf(each) > rankOf(best) - margin)
  const isEnough = best.encoding === CANDIDATES[0]?.encoding || count(best.text, /[^\p{ASCII}]/gu) >= FEW
  if (!hasRivals && isEnough && best.score >= PLAUSIBLE) return { encoding: best.encoding, readings: [] }
  const shown = ranked.slice(0, MAX_CHOICES).map(({ encoding }) => encoding)
  return { encoding: best.encoding, readings: excerptsOf(shown, bytes) }
}

/** The first line that the encodings read differently, from a few characters before the difference. */
function excerptsOf(encodings: readonly CsvEncoding[], bytes: Uint8Array): EncodingReading[] {
  const texts = encodings.map((encoding) => new TextDecoder(encoding).decode(bytes).split('\n'))
  const [first = []] = texts
  const at = Math.max(
    0,
    first.findIndex((line, index) => texts.some((text) => text[index] !== line)),
  )
  const lines = texts.map((text) => text[at] ?? '')
  const shared = [...(lines[0] ?? '')].findIndex((_, end) =>
    lines.some((line) => line[end] !== lines[0]?.[end]),
  )
  const start = Math.max(0, shared - BEFORE)
  return encodings.map((encoding, index) => ({
    encoding,
    excerpt: (lines[index] ?? '').slice(start, start + EXCERPT).trim(),
  }))
}

/** Rare encodings have to be clearly better than common ones. */
const rankOf = ({ score, isRare }: { score: number; isRare: boolean }): number =>
  isRare ? score - RARE : score

/** Collects the lines with bytes beyond ASCII. */
export interface LineSample {
  /** @param bytes the next part of the file */
  push(bytes: Uint8Array): void
  /** @param isWhole false if the last line may be cut off */
  lines(isWhole: boolean): Uint8Array[]
}

/** @param startsInside true if the first line may be cut off at its beginning */
export function createLineSample(startsInside = false): LineSample {
  const found: Uint8Array[] = []
  let size = 0
  let rest: Uint8Array = new Uint8Array()
  let isCut = startsInside

  function add(line: Uint8Array): void {
    if (isCut) {
      isCut = false
      return
    }
    if (size >= SAMPLE_BYTES || !line.some((byte) => byte > 127)) return
    const kept = line.slice(0, SAMPLE_BYTES)
    size += kept.length
    found.push(kept)
  }

  return {
    push(bytes) {
      if (size >= SAMPLE_BYTES) return
      const all = concat([rest, bytes])
      let start = 0
      for (let at = 0; at < all.length; at++) {
        if (all[at] !== 10 && all[at] !== 13) continue
        add(all.subarray(start, at))
        start = at + 1
      }
      rest = all.slice(start)
      // A line without an end: what follows is not needed to tell the encoding.
      if (rest.length < SAMPLE_BYTES) return
      add(rest.subarray(0, rest.findLastIndex((byte) => byte < 64) + 1))
      rest = new Uint8Array()
      isCut = true
    },
    lines(isWhole) {
      if (isWhole) add(rest)
      return found
    },
  }
}

function concat(chunks: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const chunk of chunks) {
    all.set(chunk, at)
    at += chunk.length
  }
  return all
}

const LINE_END = new Uint8Array([10])
const joinLines = (lines: readonly Uint8Array[]): Uint8Array =>
  concat(lines.flatMap((line) => [line, LINE_END]))

/** Null if some bytes are invalid, unassigned, or control characters, which no text has. */
function decodeStrictly(bytes: Uint8Array, encoding: CsvEncoding): string | null {
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes)
    return /[\u0080-\u009f\ue000-\uf8ff]/.test(text) ? null : text
  } catch (error) {
    if (error instanceof TypeError) return null
    throw error
  }
}

/** Plausibility of a reading, from 0 to 1: the mean of its characters beyond ASCII. */
function scoreOf(bytes: Uint8Array, text: string, encoding: CsvEncoding): number {
  const isCommon = COMMON[encoding]
  return isCommon ? scoreOfPairs(bytes, text, encoding, isCommon) : scoreOfLetters(text)
}

/** Whether two bytes are a frequent character; the standards list these before the others. */
const COMMON: Partial<Record<CsvEncoding, (lead: number, trail: number) => boolean>> = {
  shift_jis: (lead, trail) =>
    (lead >= 0x81 && lead <= 0x83) || (lead >= 0x88 && (lead < 0x98 || (lead === 0x98 && trail <= 0x72))),
  'euc-jp': (lead) => (lead >= 0xa1 && lead <= 0xa5) || (lead >= 0xb0 && lead <= 0xcf) || lead === 0x8e,
  gb18030: (lead, trail) =>
    trail >= 0xa1 && ((lead >= 0xa1 && lead <= 0xa3) || (lead >= 0xb0 && lead <= 0xd7)),
  big5: (lead, trail) => lead >= 0xa1 && (lead < 0xc6 || (lead === 0xc6 && trail <= 0x7e)),
  'euc-kr': (lead, trail) =>
    trail >= 0xa1 && ((lead >= 0xa1 && lead <= 0xa3) || (lead >= 0xb0 && lead <= 0xc8)),
}

/** Characters that tell by chance which of two encodings with the same byte pairs it is. */
const FEW_PAIRS = 8

function scoreOfPairs(
  bytes: Uint8Array,
  text: string,
  encoding: CsvEncoding,
  isCommon: (lead: number, trail: number) => boolean,
): number {
  let pairs = 0
  let common = 0
  let hangul = 0
  for (let at = 0; at < bytes.length; at++) {
    const lead = bytes[at] ?? 0
    if (lead < 0x81) continue
    // Half-width Japanese letters of one byte; `inWords` finds them where they make no sense.
    const isSingle = encoding === 'shift_jis' && lead >= 0xa1 && lead <= 0xdf
    const trail = isSingle ? 0 : (bytes[++at] ?? 0)
    pairs++
    if (isSingle || isCommon(lead, trail)) common++
    if (trail >= 0xa1 && lead >= 0xa1 && lead <= 0xc8) hangul++
  }
  // A single character is a sign such as `°`, and within a Latin word, as in `M黮ler`, a letter with an accent.
  const single = count(text, /(?<=\p{ASCII})[^\p{ASCII}](?=\p{ASCII})/gu)
  const inWords = count(
    text,
    /(?<=[a-z])[^\p{ASCII}](?=\p{ASCII})|(?<=\p{ASCII})[^\p{ASCII}](?=[a-z])|[\uff61-\uff9f](?=[A-Za-z])/gu,
  )
  const kana = count(text, /[\u3041-\u30fa]/gu)
  const score = Math.max(0, (common - single / 2 - 2 * inWords) / pairs)
  // Chinese has no Japanese letters, and Japanese hardly does without.
  if (encoding === 'gb18030' && kana > pairs * 0.05) return score / 2
  if (encoding === 'euc-jp' && kana <= pairs * 0.05) return score * 0.85
  // Texts of Korean syllables alone are Korean: they are the first half of the characters of the others.
  const isKorean = pairs >= FEW_PAIRS && hangul === pairs
  return isKorean && encoding !== 'euc-kr' && encoding !== 'shift_jis' && kana === 0 ? score / 2 : score
}

const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0

/** Letters beyond ASCII of languages with Latin script, as `lowerCase` gives them. */
const LATIN_LETTERS = [
  'äöüß', // German
  'àâæçèéêëîïôœùûüÿ', // French
  'áéíñóúü', // Spanish
  'àáâãçéêíóôõúü', // Portuguese
  'àèéìîòù', // Italian
  'àçèéíïòóúü', // Catalan
  'áäçéèëïíóöúü', // Dutch
  'åäöéü', // Swedish, Finnish
  'æøåéòôö', // Danish, Norwegian
  'áðéíóúýþæö', // Icelandic
  'ąćęłńóśźż', // Polish
  'áčďéěíňóřšťúůýžöü', // Czech
  'áäčďéíĺľňóôŕšťúýž', // Slovak
  'áéíóöőúüű', // Hungarian
  'ăâîșşțţ', // Romanian
  'čćđšž', // Croatian, Slovenian
  'çğıİöşüâîû', // Turkish
  'ąčęėįšųūž', // Lithuanian
  'āčēģīķļņšūž', // Latvian
  'äõöüšž', // Estonian
].map((letters) => new Set(letters))

/** The most frequent letters of other alphabets. */
const FREQUENT: Record<string, ReadonlySet<string>> = {
  Cyrillic: new Set('оеаинтсрвлкмдпуя'),
  Greek: new Set('αοιετσνηυρπκμλςάίό'),
  Hebrew: new Set('יוהלארתשמבםנ'),
  Arabic: new Set('اليمونرتبةعدسف'),
  Thai: new Set('าน่รอกเงมยลวดทส้ี'),
}

const SCRIPTS = [
  { name: 'Latin', isIn: /^\p{Script_Extensions=Latin}$/u },
  { name: 'Cyrillic', isIn: /^\p{Script_Extensions=Cyrillic}$/u },
  { name: 'Greek', isIn: /^\p{Script_Extensions=Greek}$/u },
  { name: 'Hebrew', isIn: /^\p{Script_Extensions=Hebrew}$/u },
  { name: 'Arabic', isIn: /^\p{Script_Extensions=Arabic}$/u },
  { name: 'Thai', isIn: /^\p{Script_Extensions=Thai}$/u },
]

const WORD = /(?:(?![ªº])[\p{L}\p{M}])+/gu
const CASED = /^(?:\p{Lu}?[\p{Ll}\p{Lo}\p{M}]*|\p{Lu}+)$/u
/** Signs that stand beside words, and those that stand beside numbers. */
const WORD_SIGNS = /[©®™«»„“”‘’‚‹›–—…•·¿¡²³°ªº№\u00a0]/u
const NUMBER_SIGNS = /[€£¥§×±½¼¾₪฿]/u

/** A letter that stands alone says less than a word. */
const SINGLE_LETTER = 0.85

/** The capital i of Turkish would become two characters. */
const lowerCase = (sign: string): string => (sign === 'İ' ? sign : sign.toLowerCase())

/** Scores text of an encoding with one byte per character. */
function scoreOfLetters(text: string): number {
  let score = 0
  let size = 0
  const latin = new Map<string, number>()
  for (const { 0: word, index } of text.matchAll(WORD)) {
    const foreign = [...word].filter((sign) => sign > '\u007f')
    size += foreign.length
    const script = scriptOf(foreign[0] ?? '')
    const isOdd =
      foreign.length === 0 ||
      script === undefined ||
      ![...word].every((sign) => script.isIn.test(sign)) ||
      !(CASED.test(word) || [...word].length > 20) ||
      (word.length === 1 && /\d/.test(around(text, index, 1))) ||
      (script.name === 'Latin' && word.length > 3 && foreign.length > word.length * 0.75)
    if (isOdd) continue
    if (script.name === 'Latin') {
      const weight = word.length === 1 ? SINGLE_LETTER : 1
      for (const sign of foreign.map(lowerCase)) latin.set(sign, (latin.get(sign) ?? 0) + weight)
      continue
    }
    for (const sign of foreign) {
      const isFrequent = FREQUENT[script.name]?.has(lowerCase(sign))
      score += (isFrequent ? 1 : 0.5) * (word.length === 1 ? SINGLE_LETTER : 1)
    }
  }
  for (const { 0: sign, index } of text.matchAll(/[^\p{ASCII}\p{L}\p{M}]|[ªº]/gu)) {
    size++
    const [before = '', after = ''] = around(text, index, sign.length)
    const letters = Number(/\p{L}/u.test(before)) + Number(/\p{L}/u.test(after))
    // An apostrophe follows a letter.
    const isOdd = sign === '’' && /[\s,;|]/.test(before)
    const isUsual = NUMBER_SIGNS.test(sign) ? letters === 0 : WORD_SIGNS.test(sign) && !isOdd
    if (letters < 2 || /[’·]/.test(sign)) score += isUsual ? 0.97 : 0.2
  }
  return size === 0 ? 0 : (score + scoreOfLatin(latin)) / size
}

/** A third for letters that any language has, the rest for those of the most fitting one. */
function scoreOfLatin(counts: ReadonlyMap<string, number>): number {
  let known = 0
  const byLanguage = LATIN_LETTERS.map(() => 0)
  for (const [letter, number] of counts) {
    if (LATIN_LETTERS.some((letters) => letters.has(letter))) known += number
    for (const [at, letters] of LATIN_LETTERS.entries()) if (letters.has(letter)) byLanguage[at]! += number
  }
  return (known + 2 * Math.max(...byLanguage)) / 3
}

const scriptOf = (sign: string) => SCRIPTS.find(({ isIn }) => isIn.test(sign))

/** The characters before and after a place. */
const around = (text: string, index: number, length: number): string =>
  `${text[index - 1] ?? ' '}${text[index + length] ?? ' '}`
