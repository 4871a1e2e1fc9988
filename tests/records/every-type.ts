import type { CellValue } from '../../src/core/fields/field-type.ts'
import type { FieldSpec } from './support.ts'

const choices = (...titles: string[]) => ({ choices: titles.map((title) => ({ title })) })

/** A field of each type that people can write to. */
export const EVERY_TYPE = {
  Title: 'SingleLineText',
  Notes: 'LongText',
  Num: 'Number',
  Dec: 'Decimal',
  Cur: { type: 'Currency', options: { code: 'EUR' } },
  Pct: 'Percent',
  Rat: 'Rating',
  Cb: 'Checkbox',
  D: 'Date',
  Dt: { type: 'DateTime', options: { timeZone: 'UTC' } },
  Ss: { type: 'SingleSelect', options: choices('red', 'blue', 'dark red') },
  Ms: { type: 'MultiSelect', options: choices('red', 'blue', 'dark red') },
  Em: { type: 'Email', options: { validate: true } },
  Url: { type: 'URL', options: { validate: true } },
  Tel: { type: 'PhoneNumber', options: { validate: true } },
} as const satisfies Record<string, FieldSpec>

/** Values of each type as they are stored, the awkward ones among them. */
export const STORED_VALUES: Record<keyof typeof EVERY_TYPE, readonly CellValue[]> = {
  Title: [
    null,
    '',
    'abc',
    'ABC',
    'abcd',
    '50%',
    '500',
    "it's",
    'a\\b',
    '_',
    'Ünï',
    'ÜNÏ',
    '日本',
    '👩‍🚀',
    'a,b',
    '(x)',
    'line\nbreak',
    '~and',
  ],
  Notes: [null, '', 'long text', 'Long Text', 'x'.repeat(3000), '<b>"bold"</b>'],
  Num: [null, -3, 0, 1, 2, 5, 10, 9007199254740991, -9007199254740991],
  Dec: [null, -1.5, 0, 0.1, 2.25, 10, 1e15, 0.30000000000000004],
  Cur: [null, 0, 9.99, 1234.5, -0.01],
  Pct: [null, 0, 42, 100, 33.333],
  Rat: [null, 0, 1, 3, 5],
  Cb: [null, false, true],
  D: [null, '2024-02-28', '2024-02-29', '2024-03-01', '2023-01-01', '0001-01-01', '9999-12-31'],
  Dt: [
    null,
    '2024-02-29 00:00:00+00:00',
    '2024-02-29 23:59:59+00:00',
    '2024-02-29 23:59:59.999+00:00',
    '2024-03-01 00:00:00+00:00',
    '1999-12-31 23:59:59+00:00',
  ],
  Ss: [null, 'red', 'blue', 'dark red'],
  Ms: [null, 'red', 'blue', 'red,blue', 'dark red', 'blue,dark red'],
  Em: [null, 'ann@example.com', 'Bob@Example.com'],
  Url: [null, 'https://example.com', 'http://example.com/a?b=c'],
  Tel: [null, '+49 30 901820', '0301234567'],
}

/** What REST shows for a stored value. */
export const asShown = (value: CellValue): CellValue => (typeof value === 'boolean' ? Number(value) : value)
