import { CHECKBOX_ICONS } from '../../../src/core/fields/checkbox.ts'
import { DURATION_FORMATS } from '../../../src/core/fields/duration.ts'
import type { FieldOptions } from '../../../src/core/fields/field-type.ts'
import { type FieldTypeName, fieldType } from '../../../src/core/fields/index.ts'
import { RATING_ICONS } from '../../../src/core/fields/rating.ts'

/** A column's `meta` as REST clients send and read it. */
export type WireMeta = Record<string, unknown>

/** One option under both names. */
interface Word {
  option: string
  key: string
  /** Where the value has another form there. */
  toWire?(value: unknown, options: FieldOptions): unknown
  toOption?(value: unknown, meta: WireMeta): unknown
  /** Null is a value of its own, and not the absence of one. */
  takesNull?: true
}

/** Names of the material icons that clients draw our signs with: filled and empty. */
const SIGNS: Record<string, [filled: string, empty: string]> = {
  square: ['mdi-check-bold', 'mdi-crop-square'],
  star: ['mdi-star', 'mdi-star-outline'],
  heart: ['mdi-heart', 'mdi-heart-outline'],
  circle: ['mdi-moon-full', 'mdi-moon-new'],
  thumb: ['mdi-thumb-up', 'mdi-thumb-up-outline'],
  flag: ['mdi-flag', 'mdi-flag-outline'],
}

const asIs = (option: string, key = option): Word => ({ option, key })
const flag = (option: string, key: string): Word => ({ option, key, toOption: Boolean })
const precision: Word = { ...asIs('precision'), toOption: wholeNumber }
const thousands = flag('thousands', 'isLocaleString')
const validate = flag('validate', 'validate')

function icon(names: readonly string[], filled: string, empty: string): Word {
  return {
    option: 'icon',
    key: 'icon',
    toWire: (value) => {
      const [full, blank] = SIGNS[String(value)] ?? []
      return { [filled]: full, [empty]: blank }
    },
    toOption: (value) => {
      const name = isObject(value) ? value[filled] : undefined
      return names.find((known) => SIGNS[known]?.[0] === name)
    },
  }
}

const time: Word = {
  option: 'seconds',
  key: 'time_format',
  toWire: (_, { seconds, milliseconds }) => (milliseconds ? 'HH:mm:ss.SSS' : seconds ? 'HH:mm:ss' : 'HH:mm'),
  toOption: (value) => (typeof value === 'string' ? value.includes('ss') : undefined),
}

const PEOPLE = [flag('multiple', 'is_multi'), flag('notify', 'notify')]

const WORDS: Partial<Record<FieldTypeName, Word[]>> = {
  LongText: [flag('rich', 'richMode')],
  Number: [thousands],
  Decimal: [
    { ...precision, takesNull: true, toOption: (value) => (value === null ? null : wholeNumber(value)) },
    thousands,
  ],
  Currency: [asIs('locale', 'currency_locale'), asIs('code', 'currency_code'), precision],
  Percent: [flag('bar', 'is_progress'), precision],
  Date: [asIs('format', 'date_format')],
  DateTime: [
    asIs('format', 'date_format'),
    time,
    flag('time12h', 'is12hrFormat'),
    {
      option: 'milliseconds',
      key: 'time_format',
      toWire: time.toWire,
      toOption: (value) => (typeof value === 'string' ? value.includes('SSS') : undefined),
    },
    asIs('timeZone', 'timezone'),
  ],
  Duration: [
    {
      option: 'format',
      key: 'duration',
      toWire: (value) => DURATION_FORMATS.findIndex((format) => Object.is(format, value)),
      toOption: (value) => DURATION_FORMATS[wholeNumber(value) ?? -1],
    },
  ],
  Time: [flag('time12h', 'is12hrFormat')],
  User: PEOPLE,
  Collaborator: PEOPLE,
  Barcode: [asIs('format', 'barcodeFormat')],
  Rating: [asIs('max'), asIs('color'), icon(RATING_ICONS, 'full', 'empty')],
  Checkbox: [asIs('color'), icon(CHECKBOX_ICONS, 'checked', 'unchecked')],
  Email: [validate],
  URL: [validate],
  PhoneNumber: [validate],
  Attachment: [asIs('kinds'), asIs('maxCount'), asIs('maxSizeMb')],
  Links: [asIs('singular'), asIs('plural')],
  Rollup: [precision, thousands],
}

const wordsOf = (type: FieldTypeName): Word[] =>
  WORDS[type] ?? (fieldType(type).systemColumn && type.endsWith('Time') ? (WORDS.DateTime ?? []) : [])

/**
 * The options that a `meta` means. What the type cannot take falls back to its default: `meta` is the
 * client's own, so nothing in it is refused.
 */
export function optionsFromMeta(type: FieldTypeName, meta: WireMeta): FieldOptions {
  const options: FieldOptions = {}
  for (const { option, key, toOption, takesNull } of wordsOf(type)) {
    if (!(key in meta)) continue
    const value = toOption ? toOption(meta[key], meta) : meta[key]
    if (value === undefined || (value === null && !takesNull)) continue
    const isFit = fieldType(type).options.safeParse({ [option]: value }).success
    if (isFit) options[option] = value
  }
  return options
}

/**
 * The options that a `meta` could have named and did not, at their defaults: it replaces the one before. The words
 * for a link's records stay, since a link always has some.
 */
export function unsaidOptions(type: FieldTypeName, meta: WireMeta): FieldOptions {
  if (fieldType(type).computed === 'link') return {}
  const said = optionsFromMeta(type, meta)
  const defaults = readable(type, {})
  const unsaid = wordsOf(type).flatMap(({ option }) => (option in said ? [] : [[option, defaults[option]]]))
  return Object.fromEntries(unsaid.filter(([, value]) => value !== undefined))
}

/**
 * The `meta` of a field: as a client sent it, with what the options say otherwise by now. What is left
 * at its default and was never sent stays unsaid, as clients expect.
 */
export function metaOf(type: FieldTypeName, options: FieldOptions, sent: WireMeta | null): WireMeta {
  // What was not sent, or does not fit, means the default.
  const meant = readable(type, optionsFromMeta(type, sent ?? {}))
  const meta: WireMeta = { ...sent }
  for (const { option, key, toWire } of wordsOf(type)) {
    if (options[option] === undefined || Bun.deepEquals(meant[option], options[option])) continue
    meta[key] = toWire ? toWire(options[option], options) : options[option]
  }
  // Clients ask it of links alone: whether the words are their own.
  if (fieldType(type).linkAnswer === 'count') meta.custom ??= false
  return meta
}

function readable(type: FieldTypeName, options: FieldOptions): FieldOptions {
  const result = fieldType(type).options.safeParse(options)
  return result.success ? (result.data as FieldOptions) : {}
}

function wholeNumber(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isInteger(number) ? number : undefined
}

const isObject = (value: unknown): value is WireMeta => typeof value === 'object' && value !== null
