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
  Yr: 'Year',
  Tm: 'Time',
  Dur: { type: 'Duration', options: { format: 'h:mm:ss' } },
  Js: 'JSON',
  Geo: 'GeoData',
  Shape: 'Geometry',
  Raw: { type: 'SpecificDBType', options: { databaseType: 'inet' } },
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
  Yr: [null, 0, 1, 1999, 2024, 9999],
  Tm: [null, '00:00:00', '08:59:59', '09:05:00', '23:59:59'],
  Dur: [null, -1800, 0, 0.25, 90, 5400.5, 1e9],
  Js: [null, '{"b": 1,  "a": 1.50}', '[1, 2]', '"x"', '12345678901234567890', 'null'],
  Geo: [null, '48.850;2.35', '-90;180', '0;0'],
  Shape: [null, 'POINT (30 10)', 'linestring(1 2,3 4)'],
  Raw: [null, '', '192.168.0.1/24', '\\x00ff'],
}

/** What REST shows for a stored value. */
export const asShown = (value: CellValue): CellValue => (typeof value === 'boolean' ? Number(value) : value)
