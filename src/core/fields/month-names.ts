/*
 * Names of months in many languages, from the locale data of the runtime.
 */

/** Languages whose names are read in any text. A name that means different months in two of them is not. */
const ANYWHERE = `
  de de-AT nl af sv da nb is fi et lt lv
  fr fr-CA es it pt ca gl ro el sq
  pl cs sk sl hu sr sr-Latn bs mk bg ru uk be
  tr az uz kk ka hy ar he id ms fil sw`
  .trim()
  .split(/\s+/)

/**
 * Languages whose names are read in columns that have no others: some of their names mean another month elsewhere, such as the
 * Croatian “listopad”, which is October, and November in Polish. They are too many to be read while a cell is edited.
 */
const IN_COLUMNS = `
  hr nn hi bn ta te mr gu kn ml pa ur ne si or as my km lo th ky tg tk tt
  eu cy ga gd br fo lb fy rm mt hsb ast
  am ti so ha ig zu xh tn rw mg
  ar-MA ar-DZ ar-TN fa ps ckb ku jv su ceb`
  .trim()
  .split(/\s+/)

/** Stands for a language of which nothing is known. */
const UNCLEAR = 'und'

/** The languages that `monthLanguage` names. */
export const MONTH_LANGUAGES: readonly string[] = [...ANYWHERE, ...IN_COLUMNS, UNCLEAR]

/** Formats with the name of a month: with a day, Slavic languages inflect it. */
const FORMATS = (['long', 'short'] as const).flatMap(
  (month) => [{ month }, { month, day: 'numeric' }] as const,
)

const formatIn = (language: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat(language, {
    ...options,
    calendar: 'gregory',
    numberingSystem: 'latn',
    timeZone: 'UTC',
  })

/** A name without case, signs of abbreviation, invisible characters, accents, and the vowel signs of Arabic and Hebrew. */
export const foldMonth = (name: string): string =>
  name
    .normalize('NFD')
    .replace(/[\u0300-\u036f\u0591-\u05c7\u064b-\u0655\p{Cf}.׳॰]/gu, '')
    .toLowerCase()

/** One word. */
const NAME = /^\p{L}[\p{L}\p{M}]+$/u
/** Too short to be a month in any text, such as the Catalan “ag.”. */
const SHORT = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]{1,2}$/u

const byLanguage = new Map<string, ReadonlyMap<string, number>>()

/** The months of a language by their folded names. */
export function monthsIn(language: string): ReadonlyMap<string, number> {
  const known = byLanguage.get(language)
  if (known) return known
  const months = new Map<string, number>()
  // The runtime may lack the language, and would answer in another one.
  const formats = Intl.DateTimeFormat.supportedLocalesOf(language).length === 0 ? [] : FORMATS
  for (const options of formats) {
    const format = formatIn(language, options)
    for (let number = 1; number <= 12; number++) {
      const parts = format.formatToParts(Date.UTC(2024, number - 1, 1))
      addMonth(months, foldMonth(parts.find(({ type }) => type === 'month')?.value ?? ''), number)
    }
  }
  byLanguage.set(language, months)
  return months
}

/** A name that is given to two months means none. */
function addMonth(months: Map<string, number>, name: string, number: number): void {
  const known = months.get(name)
  if (NAME.test(name)) months.set(name, known === undefined || known === number ? number : 0)
}

let anywhere: ReadonlyMap<string, number> | null = null

/** The number of a month by its name in some language other than English; 0 for other words. */
export function foreignMonth(name: string): number {
  anywhere ??= monthsOf(ANYWHERE)
  return anywhere.get(foldMonth(name)) ?? 0
}

function monthsOf(languages: readonly string[]): ReadonlyMap<string, number> {
  const months = new Map<string, number>()
  for (const language of languages)
    for (const [name, number] of monthsIn(language)) if (!SHORT.test(name)) addMonth(months, name, number)
  return months
}

/** True if a language writes a dot after the day: `13. ožujka 2024.` */
function dotsDays(language: string): boolean {
  const parts = formatIn(language, { day: 'numeric', month: 'long', year: 'numeric' }).formatToParts(0)
  const at = parts.findIndex(({ type }) => type === 'day')
  return parts[at + 1]?.value.startsWith('.') === true
}

/**
 * The language of the names in a column.
 *
 * @param isDotted whether a dot follows each day; null if only some
 * @returns null if no language has all of them, `UNCLEAR` if they are different months in two languages
 */
export function monthLanguage(names: readonly string[], isDotted: boolean | null): string | null {
  const folded = names.map(foldMonth)
  const readings = new Map<string, string[]>()
  for (const language of [...ANYWHERE, ...IN_COLUMNS]) {
    const months = monthsIn(language)
    const numbers = folded.map((name) => months.get(name) ?? 0)
    if (numbers.includes(0)) continue
    const key = numbers.join()
    readings.set(key, [...(readings.get(key) ?? []), language])
  }
  if (readings.size < 2) return [...readings.values()][0]?.[0] ?? null
  const fitting = [...readings.values()].filter((languages) =>
    languages.some((language) => dotsDays(language) === isDotted),
  )
  return (fitting.length === 1 && fitting[0]?.[0]) || UNCLEAR
}
