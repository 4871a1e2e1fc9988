/**
 * Spreadsheets run what begins so as a formula, whoever wrote it (OWASP, "CSV Injection"). A text that has
 * the guard in front already gets another, so that taking one away always gives back what was there.
 */
const DANGEROUS = /^'*[=+\-@\t\r\n]/
const GUARDED = /^'+[=+\-@\t\r\n]/

/** The text with a `'` in front where a spreadsheet would run it. */
export const guardText = (text: string): string => (DANGEROUS.test(text) ? `'${text}` : text)

/** What `guardText` was given. */
export const unguardText = (text: string): string => (GUARDED.test(text) ? text.slice(1) : text)

/** What no guarded file has: a number may begin with a sign, and nothing else with one of these. */
const UNGUARDED = /^(?:[=@\t\r\n]|[+-](?![\d.,]))/

/** True where the cells look as an export of ours writes them: some are guarded, and none should have been. */
export const looksGuarded = (rows: readonly (readonly string[])[]): boolean =>
  rows.some((cells) => cells.some((cell) => GUARDED.test(cell))) &&
  !rows.some((cells) => cells.some((cell) => UNGUARDED.test(cell)))
