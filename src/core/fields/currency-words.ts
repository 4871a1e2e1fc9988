/*
 * Words for currencies in the amounts of files and of pasted text: `1 234,50 kr`, `Rs. 500/-`. Symbols and ISO 4217 codes are
 * recognized elsewhere. Not loaded with the grid.
 */

/** A currency's word in an amount. */
interface CurrencyWord {
  /** In lower case. */
  text: string
  /** ISO 4217 codes of the currencies with this word, the most likely first. */
  codes: readonly string[]
  /** True for letters that codes of articles begin with as well: only amounts with decimals or separators have it. */
  isShort?: boolean
}

const KRONER = ['SEK', 'NOK', 'DKK', 'ISK']
const RUPEES = ['INR', 'PKR', 'LKR', 'NPR']

const words = (codes: readonly string[], texts: string, isShort?: boolean): CurrencyWord[] =>
  texts.split(' ').map((text) => ({ text, codes, ...(isShort && { isShort }) }))

const WORDS: readonly CurrencyWord[] = [
  ...words(KRONER, 'kr. kr'),
  ...words(RUPEES, 'rs. rs'),
  ...words(['CHF'], 'sfr. sfr fr.'),
  ...words(['EUR'], 'euros euro'),
  ...words(['RUB'], 'руб. руб рублей'),
  ...words(['UAH'], 'грн. грн'),
  ...words(['BGN'], 'лв. лв'),
  ...words(['RON'], 'lei'),
  ...words(['TRY'], 'tl', true),
  ...words(['IDR'], 'rp. rp'),
  ...words(['MYR'], 'rm', true),
  ...words(['KES'], 'ksh. ksh kshs'),
  ...words(['CNY'], 'rmb'),
  ...words(['THB'], 'บาท baht'),
  ...words(['VND'], 'vnđ đ'),
  ...words(['PEN'], 's/. s/'),
  ...words(['AED'], 'dhs. dhs'),
  ...words(['RSD'], 'din. дин.'),
  ...words(['PHP'], 'php.'),
].toSorted((a, b) => b.text.length - a.text.length)

/** An amount without the word for its currency. */
interface WordedAmount {
  word: CurrencyWord
  isFirst: boolean
  /** The number with its sign or brackets. */
  number: string
}

/** Longest amount with a word. */
const MAX_LENGTH = 60

/** Splits `kr 1.234,50`, `-Rs. 500/-` or `(12 lei)` into word and number; null for other texts. */
export function splitCurrencyWord(text: string): WordedAmount | null {
  const trimmed = text.trim()
  if (trimmed.length > MAX_LENGTH || !/\p{L}/u.test(trimmed)) return null
  const open = /^[(+−-]/.exec(trimmed)?.[0] ?? ''
  const close = open === '(' && trimmed.endsWith(')') ? ')' : ''
  const body = trimmed.slice(open.length, trimmed.length - close.length).trim()
  const lower = body.toLowerCase()
  if (lower.length !== body.length) return null
  for (const word of WORDS) {
    const isFirst = lower.startsWith(word.text)
    if (!isFirst && !withoutDash(lower).endsWith(word.text)) continue
    const bare = isFirst ? body.slice(word.text.length) : withoutDash(body).slice(0, -word.text.length)
    const number = withoutDash(bare.trim())
    if (/^[-+−]?\s?[.,]?\d/.test(number) && /\d$/.test(number))
      return { word, isFirst, number: `${open}${number}${close}` }
  }
  return null
}

/** Without the dash that stands for no decimals: `12.–`, `1.234,-`, `500/-`. */
function withoutDash(text: string): string {
  const dash = text.at(-1)
  const mark = text.at(-2) ?? ''
  return (dash === '-' || dash === '–' || dash === '—') && '.,/'.includes(mark)
    ? text.slice(0, -2).trim()
    : text
}

/** The amount as a plain number if its word is one for this currency; other text as it is. */
export function withoutCurrencyWord(text: string, code: string): string {
  const found = splitCurrencyWord(text)
  return found?.word.codes.includes(code) ? found.number : text
}

/** Windows' identifiers of locales whose currency is one of several with the same word. */
const LOCALES: Record<string, string> = {
  '41d': 'SEK',
  '81d': 'SEK',
  '414': 'NOK',
  '814': 'NOK',
  '406': 'DKK',
  '40f': 'ISK',
  '420': 'PKR',
  '45b': 'LKR',
  '461': 'NPR',
}

/**
 * The currency of a word alone.
 * @param locale identifier of Windows in hexadecimal, `41D`; '' if unknown
 * @returns an ISO 4217 code; null for other texts, and where the word is that of several currencies
 */
export function currencyOfWord(text: string, locale: string): string | null {
  const codes = WORDS.find((word) => word.text === text.toLowerCase())?.codes ?? []
  const own = LOCALES[locale.toLowerCase()] ?? ''
  if (codes.includes(own)) return own
  return codes.length === 1 ? (codes[0] ?? null) : null
}

/** Currencies whose amounts look like those of this one, itself included. */
export const similarCurrencies = (code: string): readonly string[] =>
  [KRONER, RUPEES].find((codes) => codes.includes(code)) ?? [code]

/** The numbers of a column whose amounts all have the same word, and the currency; null for other columns. */
export function readCurrencyWords(
  values: readonly string[],
): { code: string; isAmbiguous: boolean; numbers: string[] } | null {
  const first = splitCurrencyWord(values[0] ?? '')
  if (first === null) return null
  const amounts = values.map(splitCurrencyWord)
  if (!amounts.every((each) => each !== null && each.word.codes === first.word.codes)) return null
  const numbers = amounts.map((each) => each?.number ?? '')
  if (first.word.isShort && !numbers.some((number) => /[.,]\d/.test(number))) return null
  return { code: codeOf(first), isAmbiguous: first.word.codes.length > 1, numbers }
}

/** Danes and Icelanders write `kr.`, Norwegians write it in front (CLDR). */
function codeOf({ word, isFirst }: WordedAmount): string {
  const [code = ''] = word.codes
  if (word.codes !== KRONER) return code
  if (word.text === 'kr.') return 'DKK'
  return isFirst ? 'NOK' : code
}
