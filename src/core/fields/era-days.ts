/*
 * Days with years of other eras: Japanese ones, and the Thai Buddhist era, which began 543 years before the common one.
 */

const BUDDHIST_YEARS = 543
/** Years that are certainly Buddhist: those of the common era from 1857 to 2157. */
const [FIRST_BUDDHIST, LAST_BUDDHIST] = [2400, 2700]

/** The year before each Japanese era, and its last year. */
const ERAS: Record<string, readonly [before: number, last: number]> = {
  明治: [1867, 45],
  大正: [1911, 15],
  昭和: [1925, 64],
  平成: [1988, 31],
  令和: [2018, 99],
}
const LETTERS: Record<string, string> = { M: '明治', T: '大正', S: '昭和', H: '平成', R: '令和' }

/** `令和6年12月31日`, `令和元年 5月 1日`, `昭和64/1/7` */
const JAPANESE =
  /^(明治|大正|昭和|平成|令和) ?(元|\d{1,2})(?:年|[./-]) ?(\d{1,2})(?:月|[./-]) ?(\d{1,2})日?(?=$|[ T])/
/** `R6.12.31`, `H31/04/30` */
const LETTER = /^([MTSHR])(\d{1,2})([./-])(\d{1,2})\3(\d{1,2})(?=$|[ T])/

const THAI_MONTHS = [
  ['มกราคม', 'ม.ค.'],
  ['กุมภาพันธ์', 'ก.พ.'],
  ['มีนาคม', 'มี.ค.'],
  ['เมษายน', 'เม.ย.'],
  ['พฤษภาคม', 'พ.ค.'],
  ['มิถุนายน', 'มิ.ย.'],
  ['กรกฎาคม', 'ก.ค.'],
  ['สิงหาคม', 'ส.ค.'],
  ['กันยายน', 'ก.ย.'],
  ['ตุลาคม', 'ต.ค.'],
  ['พฤศจิกายน', 'พ.ย.'],
  ['ธันวาคม', 'ธ.ค.'],
]
/** `31 ธันวาคม พ.ศ. 2567`, `31 ธ.ค. 2567`, `31 ธันวาคม ค.ศ. 2024` */
const THAI = /^(\d{1,2}) ?([ก-ฮะ-์.]{4,12}?) ?(พ\.?ศ\.?|ค\.?ศ\.?)? ?(\d{4})(?=$|[ T])/

/** A day whose text names its era or a Thai month, as `2024-12-31`; a time may follow. Other text as it is. */
export function withoutEra(text: string): string {
  if (!/^[明大昭平令MTSHR]|[ก-ฮ]/.test(text)) return text
  return text
    .replace(JAPANESE, (all, era: string, year: string, month: string, day: string) =>
      japaneseDay(all, era, year === '元' ? '1' : year, month, day),
    )
    .replace(LETTER, (all, letter: string, year: string, _, month: string, day: string) =>
      japaneseDay(all, LETTERS[letter] ?? '', year, month, day),
    )
    .replace(THAI, (all, day: string, name: string, era: string | undefined, year: string) => {
      const month = THAI_MONTHS.findIndex((names) => names.includes(name)) + 1
      const isBuddhist = era === undefined ? isBuddhistYear(year) : era.startsWith('พ')
      return month === 0 ? all : iso(Number(year) - (isBuddhist ? BUDDHIST_YEARS : 0), month, day)
    })
}

function japaneseDay(all: string, era: string, year: string, month: string, day: string): string {
  const [before, last] = ERAS[era] ?? [0, 0]
  return Number(year) < 1 || Number(year) > last ? all : iso(before + Number(year), month, day)
}

const iso = (year: number, ...rest: (string | number)[]): string =>
  [String(year).padStart(4, '0'), ...rest.map((part) => String(part).padStart(2, '0'))].join('-')

const isBuddhistYear = (year: string): boolean =>
  Number(year) >= FIRST_BUDDHIST && Number(year) <= LAST_BUDDHIST

/** True for an era as one letter, which codes and versions such as `R1.2.3` have as well. */
export const hasEraLetter = (text: string): boolean => LETTER.test(text)

/** True if the parts after an era's letter are certainly a day: one is zero-padded, or after the twelfth. */
export const isSurelyEra = (text: string): boolean => {
  const [, , year = '', , month = '', day = ''] = LETTER.exec(text) ?? []
  return [year, month, day].some((part) => /^0\d/.test(part)) || Number(day) > 12
}

/** `31/12/2567`, `31-12-2567 10:30`; the year is last. */
const YEAR_LAST = /^(\d{1,2}([-/. ])\d{1,2}\2)(\d{4})(?=$|[ T,])/
/** `2567-12-31` */
const YEAR_FIRST = /^(\d{4})(?=([-/.])\d{1,2}\2\d{1,2}(?:$|[ T]))/

/** True if all days have years of the Buddhist era, 2400 to 2700, in numbers. */
export const areBuddhist = (days: readonly string[]): boolean => haveYears(days, isBuddhistYear)

/** True if all days have years from 1300 to 1499, in numbers, as in the Persian and the Islamic calendar; which one is not known. */
export const arePersianOrIslamic = (days: readonly string[]): boolean =>
  haveYears(days, (year) => /^1[34]/.test(year))

/** True if the years of all days, in numbers, pass the test. */
const haveYears = (days: readonly string[], fits: (year: string) => boolean): boolean =>
  days.length > 0 &&
  days.every((day) => {
    const year = YEAR_LAST.exec(day)?.[3] ?? YEAR_FIRST.exec(day)?.[1]
    return year !== undefined && fits(year)
  })

/** A day of the Buddhist era in the common one: `31/12/2567` as `31/12/2024`. Other text, and other years, as they are. */
export const fromBuddhist = (day: string): string => {
  const common = (year: string) =>
    isBuddhistYear(year) ? String(Number(year) - BUDDHIST_YEARS).padStart(4, '0') : year
  return day
    .replace(YEAR_LAST, (_, before: string, __, year: string) => before + common(year))
    .replace(YEAR_FIRST, common)
}
