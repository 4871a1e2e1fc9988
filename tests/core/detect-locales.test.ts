import { describe, expect, test } from 'bun:test'
import { detectFields } from '../../src/core/fields/detect.ts'
import { fieldType } from '../../src/core/fields/index.ts'
import { parseCell } from '../../src/core/fields/notations.ts'

const LOCALES = `
  en-US en-GB en-ZA en-CA en-IN en-AU de-DE de-AT de-CH nl-NL nl-BE af sv da nb nn is fi et lt lv fr-FR fr-CA fr-CH fr-BE
  es-ES es-MX es-AR it pt-PT pt-BR ca gl eu ro el sq pl cs sk sl hu sr sr-Latn hr bs mk bg ru uk be tr az uz kk ky tg tk ka hy
  ar ar-EG ar-SA ar-MA he fa-IR ps ur hi bn ta te mr gu kn ml pa ne si or as my km lo th vi id ms fil jv sw am so ha ig zu xh
  ja ko zh-CN zh-TW zh-HK mn cy ga gd br fo lb mt fy rm`
  .trim()
  .split(/\s+/)

const STYLES = {
  short: { dateStyle: 'short' },
  medium: { dateStyle: 'medium' },
  long: { dateStyle: 'long' },
  full: { dateStyle: 'full' },
  'medium, with a time': { dateStyle: 'medium', timeStyle: 'short' },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>

/** Locales whose dates stay text: they have another calendar, two words for a month, or short years between dashes. */
const TEXT: Record<keyof typeof STYLES, string> = {
  short: 'fa-IR ps te fy rm',
  medium: 'eu fa-IR ps my lo gd',
  long: 'eu fa-IR ps as mn ga gd rm',
  full: 'eu fa-IR ps as km th mn ga gd rm',
  'medium, with a time': 'eu fa-IR ps as my lo vi am so gd',
}
/** Two digits of a Buddhist year look like those of another one. */
const MISREAD = 'th short'

const DAYS = Array.from({ length: 12 }, (_, month) =>
  [3, 17, 28].map((day) => new Date(Date.UTC(month % 2 === 0 ? 2023 : 2024, month, day, 14, 35))),
).flat()

/** How a column is read: its type, and its days. */
function read(texts: string[]) {
  const [field] = detectFields(
    texts.map((text) => [text]),
    ['When'],
  )
  if (!field) throw new Error('A column has no field')
  const type = fieldType(field.type)
  const options = { ...field.options, timeZone: 'UTC' }
  return { field, days: texts.map((text) => String(parseCell(type, text, options, '.', field)).slice(0, 10)) }
}

describe.each(Object.entries(STYLES))('a column of %s dates', (style, options) => {
  const texts = new Set(TEXT[style as keyof typeof STYLES].split(' '))

  test.each(LOCALES)('in %s is read to the day, or stays text', (locale) => {
    if (`${locale} ${style}` === MISREAD) return
    const format = new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' })
    const { field, days } = read(DAYS.map((day) => format.format(day)))
    expect([locale, field.type]).toEqual([
      locale,
      texts.has(locale) ? 'SingleLineText' : style.endsWith('time') ? 'DateTime' : 'Date',
    ])
    if (!texts.has(locale)) expect(days).toEqual(DAYS.map((day) => day.toISOString().slice(0, 10)))
  })
})

describe('a column of days', () => {
  test.each<[string, string[], string[] | null, object?]>([
    [
      'with months that only Croatian has',
      ['5. listopada 2024.', '1. siječnja 2025.'],
      ['2024-10-05', '2025-01-01'],
    ],
    ['with a dot after a day of one such month', ['5. listopada 2024.'], ['2024-10-05']],
    ['without one, in Polish', ['5 listopada 2024', '6 listopada 2024'], ['2024-11-05', '2024-11-06']],
    ['that differ in that', ['5 listopada 2024', '6. listopada 2024.'], null],
    ['of Polish and Czech', ['5 listopada 2024', '6. listopadu 2024'], ['2024-11-05', '2024-11-06']],
    ['with short months', ['3 ag. 2024', '4 de gen. 2024'], ['2024-08-03', '2024-01-04']],
    ['with years that no day can be', ['99/12/31', '01/02/03'], ['1999-12-31', '2001-02-03']],
    ['with days that no year can be', ['31/12/99', '01/02/03'], ['1999-12-31', '2003-02-01']],
    [
      'with a day of one digit last',
      ['24/12/3', '24/1/28', '25/2/4'],
      ['2024-12-03', '2024-01-28', '2025-02-04'],
    ],
    ['of Korea', ['24. 12. 3.', '24. 1. 28.'], ['2024-12-03', '2024-01-28']],
    ['with dots and years first', ['85.03.01', '99.12.31'], ['1985-03-01', '1999-12-31']],
    ['with weekdays', ['mardi 3 janvier 2023', 'mer. 4 janv. 2023'], ['2023-01-03', '2023-01-04']],
    ['with weekdays of Japan', ['2023年1月3日(火)', '2023/1/4（水）'], ['2023-01-03', '2023-01-04']],
    ['with a weekday that contradicts', ['mardi 3 janvier 2023', 'mardi 4 janvier 2023'], null],
    ['whose weekday decides nothing', ['mardi 03/01/2023'], null],
    [
      'with weekdays and names that differ',
      ['utorak, 3. listopada 2023.', 'piątek, 3 listopada 2023'],
      ['2023-10-03', '2023-11-03'],
    ],
    ['that are versions', ['45.1.2', '46.2.9'], null],
    ['that are scores', ['10/2/3', '12/4/9'], null],
    ['of Nepal', ['२४/३/१३', '२४/१२/३१'], ['2024-03-13', '2024-12-31'], { ambiguous: true }],
    ['of India', ['१३/३/२४', '३१/१२/२४'], ['2024-03-13', '2024-12-31'], { ambiguous: true }],
    [
      'in any order',
      ['10/11/12', '10/12/11', '10/11/10'],
      ['2012-11-10', '2011-12-10', '2010-11-10'],
      { ambiguous: true },
    ],
  ])('%s', (_, texts, expected, confidence = {}) => {
    const { field, days } = read(texts)
    if (expected === null) return expect(field.type).not.toStartWith('Date')
    expect(days).toEqual(expected)
    expect(field.confidence).toEqual({ rows: texts.length, filled: texts.length, ...confidence })
  })

  test('offers the orders in which it can be read', () => {
    expect(read(['24/11/13', '24/12/31']).field).toMatchObject({
      orders: ['day', 'year'],
      options: { format: 'DD/MM/YYYY' },
    })
    expect(read(['२४/३/१३', '२४/१२/३१']).field).toMatchObject({ orders: ['year', 'day'], yearFirst: true })
    expect(read(['13/11/24', '31/12/24']).field.orders).toBeUndefined()
    expect(read(['99/12/31']).field).not.toHaveProperty('orders')
  })
})
