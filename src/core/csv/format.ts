import * as z from 'zod/mini'
import { m } from '../messages.gen.ts'

/** Supported encodings, by their `TextDecoder` names in browsers and Bun. */
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
  { name: 'windows-1257', label: 'Baltic (Windows-1257)' },
  { name: 'windows-1258', label: 'Vietnamese (Windows-1258)' },
  { name: 'windows-874', label: 'Thai (Windows-874)' },
  { name: 'ibm866', label: 'Cyrillic (DOS 866)' },
  { name: 'iso-2022-jp', label: 'Japanese (ISO-2022-JP)' },
  { name: 'macintosh', label: 'Western (Mac Roman)' },
] as const

export type CsvEncoding = (typeof CSV_ENCODINGS)[number]['name']

/** Delimiters that detection tries, the most common first. */
export const CSV_DELIMITERS = [',', ';', '\t', '|', ':', '^', '~'] as const

/** Dialect of a CSV file. */
export const csvFormat = z.object({
  kind: z._default(z.literal('csv'), 'csv'),
  /** One character, not a line break and not the quote. */
  delimiter: z.string().check(
    z.length(1),
    z.refine((text) => !'\r\n"\ufeff'.includes(text), { error: () => m.csv_error_delimiter() }),
  ),
  /** Empty: quotes have no special meaning. */
  quote: z._default(z.enum(['"', "'", '']), '"'),
  /** A backslash if it escapes quotes, delimiters and line breaks, and `\N` is NULL, as in MySQL and Hive. Absent: none. */
  escape: z.optional(z.enum(['', '\\'])),
  encoding: z.enum(CSV_ENCODINGS.map(({ name }) => name)),
  /** True if the first row of the table holds the titles. */
  header: z.boolean(),
  /** First row of the table, from 1; those above are skipped. Absent: 1. */
  titleRow: z.optional(z.int().check(z.minimum(1), z.maximum(1_048_576))),
  /** True if texts are guarded against spreadsheet formulas (`guardText`). */
  guarded: z._default(z.boolean(), false),
  /** True if `="0012"`, as programs write it for Excel, is the text `0012`. */
  formulaTexts: z.optional(z.boolean()),
  /** Decimal mark for ambiguous numbers: `1.000` is one or a thousand. */
  decimal: z._default(z.enum(['.', ',']), '.'),
})

export type CsvFormat = z.output<typeof csvFormat>

/**
 * Spreadsheets execute text with these first characters as a formula (OWASP, "CSV Injection"). Text that
 * already has the guard gets another, so that `unguardText` always restores the original.
 */
const DANGEROUS = /^'*[=+\-@\t\r\n]/
const GUARDED = /^'+[=+\-@\t\r\n]/

/** Prefixes text that a spreadsheet would execute with `'`. */
export const guardText = (text: string): string => (DANGEROUS.test(text) ? `'${text}` : text)

/** Reverses `guardText`. */
export const unguardText = (text: string): string => (GUARDED.test(text) ? text.slice(1) : text)

/** Unguarded cells: text that starts with one of these characters without being a number. */
const UNGUARDED = /^(?:[=@\t\r\n]|[+-](?![\d.,]))/

/** Tells guarded exports from other files by their cells, row by row. */
export function createGuardCheck() {
  let hasGuarded = false
  let hasUnguarded = false
  return {
    add(cells: readonly string[]): void {
      hasGuarded ||= cells.some((cell) => GUARDED.test(cell))
      hasUnguarded ||= cells.some((cell) => UNGUARDED.test(cell))
    },
    /** True if some cells are guarded, and no dangerous cell is unguarded. */
    looksGuarded: (): boolean => hasGuarded && !hasUnguarded,
  }
}

/** True if the cells look like a guarded export. */
export function looksGuarded(rows: readonly (readonly string[])[]): boolean {
  const check = createGuardCheck()
  for (const cells of rows) check.add(cells)
  return check.looksGuarded()
}

/** A text that a formula protects from Excel, which would drop its zeros: `="0012"`. */
export const FORMULA_TEXT = /^="(?:[^"]|"")*"$/

/** The text in such a formula. */
export const unwrapText = (text: string): string => text.slice(2, -1).replaceAll('""', '"')

/** True if a cell is a text in a formula. */
export const hasFormulaTexts = (rows: readonly (readonly string[])[]): boolean =>
  rows.some((cells) => cells.some((cell) => FORMULA_TEXT.test(cell)))
