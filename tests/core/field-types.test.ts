import { describe, expect, test } from 'bun:test'
import { toStored } from '../../src/core/dates.ts'
import { AppError } from '../../src/core/errors.ts'
import { DATE_FORMATS } from '../../src/core/fields/date-text.ts'
import { DURATION_FORMATS } from '../../src/core/fields/duration.ts'
import type { CellValue, FieldOptions } from '../../src/core/fields/field-type.ts'
import {
  FIELD_TYPES,
  type FieldTypeName,
  fieldType,
  isFieldTypeName,
  readOptions,
} from '../../src/core/fields/index.ts'
import { readValue } from '../../src/core/fields/read.ts'
import { cpuTimeMs } from '../support/cpu-time.ts'
import { pick, seeded, textOf } from './random.ts'

const random = seeded(20_240_305)
const CHOICES = { choices: ['To do', 'Done', 'it’s', '8', 'ÄÖ', 'red'].map((title) => ({ title })) }

/** A real number of any size, from the smallest to the largest. */
const real = () =>
  Number(((random() - 0.5) * 10 ** (random() * 600 - 300)).toPrecision(1 + Math.floor(random() * 17)))
const whole = () => Math.floor((random() - 0.5) * 2 ** (1 + random() * 53))
const line = () =>
  textOf(random, ['a', 'Z', ' ', '%', '"', "'", '\t', '\n', '\\', 'é', '漢', '🙂', ',', '1', '.', '<'], 40)
const instant = () => toStored(Math.floor(random() * 3e14) - 6.2e13 + (random() < 0.5 ? 0 : 1)) ?? ''
const wholeMinute = () => toStored(Math.floor(random() * 5e7) * 60_000) ?? ''
const day = () => instant().slice(0, 10)

/** For each type: values to try, and the options to try them with. */
const SAMPLES: Record<FieldTypeName, { values: () => CellValue; options?: FieldOptions[] }> = {
  SingleLineText: { values: line },
  LongText: { values: line },
  Email: {
    values: () => pick(random, ['ann@example.com', 'a.b+c@sub.example.org']),
    options: [{}, { validate: true }],
  },
  URL: {
    values: () => pick(random, ['https://example.com/?a=1&b=2#c', 'example.com']),
    options: [{}, { validate: true }],
  },
  PhoneNumber: {
    values: () => pick(random, ['+49 30 901820', '(030) 90-18-20']),
    options: [{}, { validate: true }],
  },
  Number: { values: whole },
  Decimal: { values: real, options: [{}, { precision: null }] },
  Currency: { values: real, options: [{}, { locale: 'de-DE', code: 'EUR', precision: 0 }] },
  Percent: { values: real },
  Rating: { values: () => Math.floor(random() * 6), options: [{}, { max: 10 }] },
  Checkbox: { values: () => random() < 0.5 },
  Date: { values: day, options: DATE_FORMATS.map((format) => ({ format })) },
  DateTime: {
    values: () => (random() < 0.5 ? instant() : wholeMinute()),
    options: DATE_FORMATS.flatMap((format) =>
      ['UTC', 'Europe/Berlin', 'America/St_Johns', 'Pacific/Apia'].map((timeZone) => ({
        format,
        timeZone,
        time12h: random() < 0.5,
        seconds: random() < 0.5,
        milliseconds: random() < 0.3,
      })),
    ),
  },
  Attachment: {
    values: () =>
      JSON.stringify(
        ['photo.jpg', 'a (1).pdf'].map((title) => ({
          url: `https://example.com/${whole()}`,
          title,
          mimetype: title.endsWith('jpg') ? 'image/jpeg' : 'application/pdf',
          size: 0,
        })),
      ),
    options: [{}, { kinds: ['image', 'pdf'], maxCount: 2, maxSizeMb: 1 }],
  },
  Year: { values: () => Math.floor(random() * 10_000) },
  Time: {
    values: () => (random() < 0.5 ? wholeMinute().slice(11, 19) : instant().slice(11, 19)),
    options: [{}, { time12h: true }],
  },
  Duration: {
    values: () => (random() < 0.5 ? Math.round((random() - 0.5) * 1e9) / 1000 : real()),
    options: DURATION_FORMATS.map((format) => ({ format })),
  },
  User: { values: () => 'usann', options: [{}, { multiple: true, notify: true }] },
  Collaborator: { values: () => 'usann,usbob', options: [{ multiple: true }] },
  JSON: { values: () => JSON.stringify({ z: line(), a: [real(), null, { deep: whole() }] }, null, 1) },
  GeoData: { values: () => `${(random() * 180 - 90).toFixed(7)};${(random() * 360 - 180).toFixed(3)}` },
  Geometry: {
    values: () =>
      pick(random, ['POINT (30 10)', 'MULTIPOLYGON (((0 0, 1 0, 1 1, 0 0)), ((2 2,3 2,3 3,2 2)))']),
  },
  AutoNumber: { values: () => Math.abs(whole()) },
  SpecificDBType: { values: line, options: [{}, { databaseType: 'blob' }] },
  Password: { values: () => `p${line()}` },
  QrCode: { values: () => `q${line()}` },
  Barcode: { values: () => `b${line()}`, options: [{}, { format: 'EAN13' }] },
  CreatedTime: { values: wholeMinute },
  LastModifiedTime: { values: wholeMinute },
  CreatedBy: { values: () => 'usabc123' },
  LastModifiedBy: { values: () => 'usabc123' },
  SingleSelect: { values: () => pick(random, CHOICES.choices).title, options: [CHOICES] },
  MultiSelect: {
    values: () => [...new Set([1, 2, 3].map(() => pick(random, CHOICES.choices).title))].join(','),
    options: [CHOICES],
  },
  ID: { values: () => Math.abs(whole()) },
  Links: { values: () => JSON.stringify([1 + Math.floor(random() * 9), 77]) },
  LinkToAnotherRecord: { values: () => '["rc_a",2]' },
  ForeignKey: { values: whole },
  Lookup: { values: () => line() },
  Rollup: { values: real },
  Count: { values: () => Math.abs(whole()) },
  Formula: { values: () => `f${line()}` },
  Button: { values: () => JSON.stringify({ type: 'url', label: line(), url: null }) },
  Order: { values: real },
}

const HOSTILE: unknown[] = [
  {},
  { value: 1 },
  [[1]],
  [{}],
  JSON.parse('{"__proto__":{"polluted":true}}'),
  Object.create(null),
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Symbol('x'),
  () => 1,
  new Date(0),
  'x'.repeat(2_000_000),
  '9'.repeat(1_500_000),
  'half \ud800',
  'null \u0000',
  { toString: () => '5' },
]

describe.each(FIELD_TYPES.map((type) => [type.name] as const))('%s', (name) => {
  const type = fieldType(name)
  const optionSets = (SAMPLES[name].options ?? [{}]).map((options) => readOptions(name, options))

  test('reads back what it formats', () => {
    // A link is written by ids and read with titles.
    if (type.computed === 'link') return
    for (const options of optionSets) {
      for (let round = 0; round < 60; round++) {
        const value = SAMPLES[name].values()
        if (value === '' || value === null) continue
        const text = type.format(value, options)
        expect({ text, value: type.parse(text, options) }).toEqual({ text, value: value === 0 ? 0 : value })
      }
    }
  })

  test('reads its own values from programs, unless the system fills it', () => {
    for (const options of optionSets) {
      const value = SAMPLES[name].values()
      expect(readValue({ type: name, options }, value).ok).toBe(!type.readOnly)
    }
  })

  test('formats no value as nothing, and nothing as no value', () => {
    for (const options of optionSets) {
      expect(type.format(null, options)).toBe('')
      expect(type.parse('', options)).toBeNull()
      expect(readValue({ type: name, options }, null)).toEqual({ ok: true, value: null })
    }
  })

  test.each(HOSTILE.map((input, index) => [index, input]))(
    'refuses hostile input %i in words',
    (_, input) => {
      // Objects and lists are what JSON is made of.
      if (name === 'JSON' && typeof input === 'object' && !(input instanceof Date)) return
      for (const options of optionSets) {
        const read = type.read(input, options)
        if (read.ok) throw new Error(`${name} took ${String(read.value).slice(0, 40)}`)
        expect(read.message.length).toBeGreaterThan(5)
        expect(read.message.length).toBeLessThan(400)
      }
      expect(({} as Record<string, unknown>).polluted).toBeUndefined()
    },
  )

  test('parses hostile text without failing, and quickly', () => {
    const started = cpuTimeMs()
    for (const options of optionSets) {
      const texts = [
        '9'.repeat(100_000),
        ' '.repeat(100_000),
        '1,'.repeat(50_000),
        'T '.repeat(50_000),
        '('.repeat(99_999),
      ]
      for (const text of texts) type.parse(text, options)
    }
    expect(cpuTimeMs() - started).toBeLessThan(10_000) // Quadratic time would be minutes.
  })

  test('drops unknown options and refuses those of a wrong kind', () => {
    const options = readOptions(name, { nonsense: 1, constructor: 2 })
    expect(options).not.toHaveProperty('nonsense')
    for (const key of Object.keys(options)) {
      expect(() => readOptions(name, { [key]: { wrong: { wrong: true } } })).toThrow(AppError)
    }
  })
})

describe('fieldType', () => {
  test('refuses a name that is none, also one of Object', () => {
    for (const name of ['Nope', '', '__proto__', 'constructor']) {
      expect(isFieldTypeName(name)).toBe(false)
      expect(() => fieldType(name)).toThrow(`Unknown field type “${name}”`)
    }
  })
})
