import * as z from 'zod/mini'

/** Encodings that a file can be read in, by the names that `TextDecoder` knows in browsers and in Bun. */
export const CSV_ENCODINGS = [
  { name: 'utf-8', label: 'Unicode (UTF-8)' },
  { name: 'utf-16le', label: 'Unicode (UTF-16 LE)' },
  { name: 'utf-16be', label: 'Unicode (UTF-16 BE)' },
  { name: 'windows-1252', label: 'Western (Windows-1252, Latin-1)' },
  { name: 'windows-1250', label: 'Central European (Windows-1250)' },
  { name: 'iso-8859-2', label: 'Central European (ISO-8859-2)' },
  { name: 'windows-1251', label: 'Cyrillic (Windows-1251)' },
  { name: 'koi8-r', label: 'Cyrillic (KOI8-R)' },
  { name: 'windows-1253', label: 'Greek (Windows-1253)' },
  { name: 'windows-1254', label: 'Turkish (Windows-1254)' },
  { name: 'windows-1255', label: 'Hebrew (Windows-1255)' },
  { name: 'windows-1256', label: 'Arabic (Windows-1256)' },
  { name: 'shift_jis', label: 'Japanese (Shift JIS)' },
  { name: 'euc-jp', label: 'Japanese (EUC-JP)' },
  { name: 'gb18030', label: 'Simplified Chinese (GB 18030, GBK)' },
  { name: 'big5', label: 'Traditional Chinese (Big5)' },
  { name: 'euc-kr', label: 'Korean (EUC-KR)' },
  { name: 'macintosh', label: 'Western (Mac Roman)' },
] as const

export type CsvEncoding = (typeof CSV_ENCODINGS)[number]['name']

/** Delimiters that are tried where none was chosen, the most common first. */
export const CSV_DELIMITERS = [',', ';', '\t', '|'] as const

/** How the text of a CSV file is to be taken apart. */
export const csvFormat = z.object({
  /** One character, not a line break and not the quote. */
  delimiter: z.string().check(
    z.length(1),
    z.refine((text) => !'\r\n"\ufeff'.includes(text), { error: 'This character cannot separate cells' }),
  ),
  /** Empty: quotes are characters like any other. */
  quote: z._default(z.enum(['"', "'", '']), '"'),
  encoding: z.enum(CSV_ENCODINGS.map(({ name }) => name)),
  /** True where the first row holds the titles. */
  header: z.boolean(),
  /** True for a file whose texts are guarded against spreadsheets that run them (`guardText`). */
  guarded: z._default(z.boolean(), false),
  /** The mark before the decimals of a number that leaves it open: `1.000` is one, or a thousand. */
  decimal: z._default(z.enum(['.', ',']), '.'),
})

export type CsvFormat = z.output<typeof csvFormat>

/**
 * Spreadsheets run what begins so as a formula, whoever wrote it (OWASP, "CSV Injection"). A text that has
 * the guard in front already gets another, so that taking one away always gives back what was there.
 */
const DANGEROUS = /^'*[=+\-@\t\r\n]/
const GUARDED = /^'+[=+\-@\t\r\n]/

/** The text with a `'` in front where a spreadsheet would run it. */
export const guardText = (text: string): string => (DANGEROUS.test(text) ? `'${text}` : text)

/** Reverses `guardText`. */
export const unguardText = (text: string): string => (GUARDED.test(text) ? text.slice(1) : text)

/** Unguarded cells: text that starts with one of these characters without being a number. */
const UNGUARDED = /^(?:[=@\t\r\n]|[+-](?![\d.,]))/

/** True where the cells look as an export of ours writes them: some are guarded, and none should have been. */
export const looksGuarded = (rows: readonly (readonly string[])[]): boolean =>
  rows.some((cells) => cells.some((cell) => GUARDED.test(cell))) &&
  !rows.some((cells) => cells.some((cell) => UNGUARDED.test(cell)))
