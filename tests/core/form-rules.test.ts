import { describe, expect, test } from 'bun:test'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { readOptions } from '../../src/core/fields/index.ts'
import { patternTest } from '../../src/core/formula/match-pattern.ts'
import { readPattern } from '../../src/core/formula/pattern.ts'
import { FORM_RULES, findRule, rulesFor } from '../../src/core/views/form-rules.ts'

const files = (...list: [string, string, number][]): string =>
  JSON.stringify(list.map(([title, mimetype, size]) => ({ url: 'https://x.org/f', title, mimetype, size })))

const at = { now: new Date('2026-03-05T12:00:00Z'), timeZone: 'Europe/Berlin' }

/** For each rule: the field's type, the rule's value, an answer that is good and one that is not. */
const CASES: [string, string, string | number | null, CellValue, CellValue, object?][] = [
  ['minLength', 'SingleLineText', 3, '👍👍👍', '👍👍'],
  ['maxLength', 'LongText', 3, 'abc', 'abcd'],
  ['contains', 'SingleLineText', 'Red', 'a red one', 'blue'],
  ['notContains', 'SingleLineText', 'red', 'blue', 'RED'],
  ['pattern', 'SingleLineText', '^[A-Z]{2}\\d+$', 'AB12', 'ab12'],
  ['email', 'Email', null, 'ann@example.com', 'ann@'],
  ['url', 'URL', null, 'https://example.com', 'not an address'],
  ['phone', 'PhoneNumber', null, '+49 30 901820', '12'],
  ['min', 'Number', 5, 5, 4],
  ['max', 'Decimal', 1.5, 1.5, 1.51],
  ['step', 'Decimal', 0.1, 0.3, 0.35],
  ['from', 'Date', 'today', '2026-03-05', '2026-03-04'],
  ['to', 'DateTime', '2026-03-05', '2026-03-05 22:59:00+00:00', '2026-03-05 23:01:00+00:00'],
  ['fromTime', 'Time', '9:30', '09:30:00', '09:29:59'],
  ['toTime', 'Time', '17:00', '09:30:00', '17:00:01'],
  ['minChosen', 'MultiSelect', 2, 'a,b', 'a'],
  ['maxChosen', 'Links', 1, '[7]', '[7,8]', { kind: 'mm' }],
  ['minFiles', 'Attachment', 1, files(['a.png', 'image/png', 1]), '[]'],
  ['maxFiles', 'Attachment', 1, files(['a.png', 'image/png', 1]), files(['a', 'x/y', 1], ['b', 'x/y', 1])],
  [
    'fileKinds',
    'Attachment',
    'image,pdf',
    files(['a.png', 'image/png', 1]),
    files(['a.zip', 'application/zip', 1]),
  ],
  [
    'maxFileMb',
    'Attachment',
    0.5,
    files(['a.png', 'image/png', 500_000]),
    files(['a.png', 'image/png', 600_000]),
  ],
]

describe('rules of forms', () => {
  test.each(CASES.map((parts) => [parts[0], parts] as const))(
    '%s tells a good answer from another',
    (key, parts) => {
      const [, type, value, good, bad, set] = parts
      const rule = findRule(key)
      const choices = type === 'MultiSelect' ? { choices: [{ title: 'a' }, { title: 'b' }] } : set
      const field = { type: type as 'Number', options: readOptions(type, choices) }
      expect(rule?.fits(field)).toBe(true)
      expect(rule?.problem(value)).toBeNull()
      expect(rule?.broken(good, value, field, at)).toBeNull()
      expect(rule?.broken(bad, value, field, at)).toBeString()
    },
  )

  test('each has its example here', () => {
    expect(CASES.map(([key]) => key)).toEqual(FORM_RULES.map(({ key }) => key))
  })

  test('refuse values that make no rule', () => {
    const wrong: [string, string | number | null][] = [
      ['minLength', -1],
      ['maxLength', 1.5],
      ['pattern', '(a+)+'],
      ['pattern', '(?=a)'],
      ['min', null],
      ['step', 0],
      ['from', '2026-02-30'],
      ['fromTime', '25:00'],
      ['fileKinds', 'things'],
      ['contains', ''],
    ]
    for (const [key, value] of wrong)
      expect([key, findRule(key)?.problem(value)]).toEqual([key, expect.any(String)])
  })

  test('are offered by the type of the field', () => {
    const keys = (type: 'Rating' | 'Checkbox' | 'Email', options = {}) =>
      rulesFor({ type, options: readOptions(type, options) }).map(({ key }) => key)
    expect(keys('Checkbox')).toEqual([])
    expect(keys('Rating')).toEqual(['min', 'max'])
    expect(keys('Email')).toContain('email')
  })

  test('name a day in the format of the field', () => {
    for (const type of ['Date', 'DateTime'] as const) {
      const field = { type, options: readOptions(type, { format: 'DD/MM/YYYY' }) }
      const day = (rule: string, answer: string) =>
        findRule(rule)?.broken(answer, '2026-03-05', field, { now: at.now, timeZone: 'UTC' })
      expect(day('to', '2026-03-09')).toBe('Must be on or before 05/03/2026')
      expect(day('from', '2026-03-01')).toBe('Must be on or after 05/03/2026')
    }
  })

  test('a server that does not know the zone lets pass what is today somewhere', () => {
    const field = { type: 'Date' as const, options: readOptions('Date', {}) }
    const broken = (day: string) => findRule('to')?.broken(day, 'today', field, { now: at.now })
    expect(broken('2026-03-06')).toBeNull()
    expect(broken('2026-03-07')).toBe('Must be on or before today')
  })
})

describe('patterns in linear time', () => {
  test('agree with the expressions of the engine', () => {
    const patterns = [
      '^a*b?c+$',
      'a|bc|^$',
      '(ab|cd){2,3}x',
      '[^a-c\\]\\d]+\\.',
      '^(?:a{0,2}|b){3}$',
      '\\w\\s\\W',
      '.$',
      '^\\d{3}(-\\d{2})?$',
      'é+',
      '[😀-😂]x',
      'a{2,}',
      '(a|ab)(c|bcd)',
      '^[A-Za-z0-9_.]+@x\\.org$',
      '\\/\\-',
    ]
    const texts = [
      '',
      'a',
      'b',
      'c',
      'aac',
      'abc',
      'bc',
      'ababx',
      'abcdabx',
      'zz.',
      ']1.',
      'aab',
      'aaaaab',
      'bbb',
      'a !',
      '\n',
      'a\n',
      '123',
      '123-45',
      '123-4',
      'éé',
      '😁x',
      '😃x',
      'abcd',
      'ac',
      'j.d@x.org',
      '/-',
    ]
    for (const pattern of patterns) {
      const read = readPattern(pattern)
      const source = read.ok ? read.source : ''
      for (const text of texts) {
        expect([pattern, text, patternTest(pattern)?.(text)]).toEqual([
          pattern,
          text,
          new RegExp(source, 'u').test(text),
        ])
      }
    }
  })

  test('do not lose themselves where the engine tries every way', () => {
    // With backtracking this takes the time of 16,000^4 steps.
    expect(patternTest('a*a*a*a*b')?.('a'.repeat(16_000))).toBe(false)
  })
})
