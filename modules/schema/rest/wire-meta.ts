import { CHECKBOX_ICONS } from '../../../src/core/fields/checkbox.ts'
import { DURATION_FORMATS } from '../../../src/core/fields/duration.ts'
import type { FieldOptions } from '../../../src/core/fields/field-type.ts'
import { type FieldTypeName, fieldType } from '../../../src/core/fields/index.ts'
import { RATING_ICONS } from '../../../src/core/fields/rating.ts'

/** A column's `meta` as REST clients send and read it. */
export type WireMeta = Record<string, unknown>

/** Maps an option to a key in `meta`. */
interface MetaKey {
  option: string
  key: string
  /** Converts the value, if it has another form in `meta`. */
  toWire?(value: unknown, options: FieldOptions): unknown
  toOption?(value: unknown, meta: WireMeta): unknown
  /** Null is a value, not the absence of one. */
  takesNull?: true
}

/** The Material icons in `meta` for our icons: filled and empty. */
const ICONS: Record<string, [filled: string, empty: string]> = {
  square: ['mdi-check-bold', 'mdi-crop-square'],
  star: ['mdi-star', 'mdi-star-outline'],
  heart: ['mdi-heart', 'mdi-heart-outline'],
  circle: ['mdi-moon-full', 'mdi-moon-new'],
  thumb: ['mdi-thumb-up', 'mdi-thumb-up-outline'],
  flag: ['mdi-flag', 'mdi-flag-outline'],
}

const asIs = (option: string, key = option): MetaKey => ({ option, key })
const flag = (option: string, key: string): MetaKey => ({ option, key, toOption: Boolean })
const precision: MetaKey = { ...asIs('precision'), toOption: wholeNumber }
const thousands = flag('thousands', 'isLocaleString')
const validate = flag('validate', 'validate')

function icon(names: readonly string[], filled: string, empty: string): MetaKey {
  return {
    option: 'icon',
    key: 'icon',
    toWire: (value) => {
      const [full, blank] = ICONS[String(value)] ?? []
      return { [filled]: full, [empty]: blank }
    },
    toOption: (value) => {
      const name = isObject(value) ? value[filled] : undefined
      return names.find((known) => ICONS[known]?.[0] === name)
    },
  }
}

const time: MetaKey = {
  option: 'seconds',
  key: 'time_format',
  toWire: (_, { seconds, milliseconds }) => (milliseconds ? 'HH:mm:ss.SSS' : seconds ? 'HH:mm:ss' : 'HH:mm'),
  toOption: (value) => (typeof value === 'string' ? value.includes('ss') : undefined),
}

const PEOPLE = [flag('multiple', 'is_multi'), flag('notify', 'notify')]

const META_KEYS: Partial<Record<FieldTypeName, MetaKey[]>> = {
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

const metaKeysOf = (type: FieldTypeName): MetaKey[] =>
  META_KEYS[type] ?? (fieldType(type).systemColumn && type.endsWith('Time') ? (META_KEYS.DateTime ?? []) : [])

/** Reads the options in `meta`. Invalid values are ignored, because clients may store anything in `meta`. */
export function optionsFromMeta(type: FieldTypeName, meta: WireMeta): FieldOptions {
  const options: FieldOptions = {}
  for (const { option, key, toOption, takesNull } of metaKeysOf(type)) {
    if (!(key in meta)) continue
    const value = toOption ? toOption(meta[key], meta) : meta[key]
    if (value === undefined || (value === null && !takesNull)) continue
    const isValid = fieldType(type).options.safeParse({ [option]: value }).success
    if (isValid) options[option] = value
  }
  return options
}

/**
 * The defaults of the options that are absent from `meta`, because a new `meta` replaces the former one. The nouns of a
 * link stay as they are.
 */
export function absentOptions(type: FieldTypeName, meta: WireMeta): FieldOptions {
  if (fieldType(type).computed === 'link') return {}
  const given = optionsFromMeta(type, meta)
  const defaults = readable(type, {})
  const absent = metaKeysOf(type).flatMap(({ option }) =>
    option in given || defaults[option] === undefined ? [] : [[option, defaults[option]]],
  )
  return Object.fromEntries(absent)
}

/** The `meta` of a field: as the client sent it, updated with changed options. Unsent defaults are left out. */
export function metaOf(type: FieldTypeName, options: FieldOptions, sent: WireMeta | null): WireMeta {
  const inMeta = readable(type, optionsFromMeta(type, sent ?? {}))
  const meta: WireMeta = { ...sent }
  for (const { option, key, toWire } of metaKeysOf(type)) {
    if (options[option] === undefined || Bun.deepEquals(inMeta[option], options[option])) continue
    meta[key] = toWire ? toWire(options[option], options) : options[option]
  }
  // Only links have this key: whether the nouns are custom.
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
