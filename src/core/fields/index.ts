import type * as z from 'zod/mini'
import { AppError, badRequest } from '../errors.ts'
import { m } from '../messages.gen.ts'
import { attachment } from './attachment.ts'
import { autoNumber } from './auto-number.ts'
import { button } from './button.ts'
import { checkbox } from './checkbox.ts'
import { email, phoneNumber, url } from './checked-text.ts'
import { multiSelect, singleSelect } from './choices.ts'
import { barcode, qrCode } from './codes.ts'
import { count } from './count.ts'
import { currency } from './currency.ts'
import { date } from './date.ts'
import { createdTime, dateTime, lastModifiedTime } from './date-time.ts'
import { duration } from './duration.ts'
import type { AnyFieldType, FieldOptions } from './field-type.ts'
import { foreignKey } from './foreign-key.ts'
import { formula } from './formula.ts'
import { geoData } from './geo-data.ts'
import { geometry } from './geometry.ts'
import { id } from './id.ts'
import { json } from './json.ts'
import { links, linkToAnotherRecord } from './links.ts'
import { lookup } from './lookup.ts'
import { decimal, number, percent } from './number.ts'
import { order } from './order.ts'
import { password } from './password.ts'
import { collaborator, createdBy, lastModifiedBy, user } from './people.ts'
import { rating } from './rating.ts'
import { rollup } from './rollup.ts'
import { specificDbType } from './specific-db-type.ts'
import { longText, singleLineText } from './text.ts'
import { time } from './time.ts'
import { year } from './year.ts'

/** Every field type, in menu order: most used first. */
export const FIELD_TYPES = [
  singleLineText,
  longText,
  number,
  singleSelect,
  multiSelect,
  checkbox,
  date,
  dateTime,
  decimal,
  currency,
  percent,
  duration,
  rating,
  time,
  year,
  user,
  email,
  url,
  phoneNumber,
  json,
  geoData,
  geometry,
  password,
  attachment,
  links,
  linkToAnotherRecord,
  lookup,
  rollup,
  count,
  formula,
  button,
  qrCode,
  barcode,
  createdTime,
  lastModifiedTime,
  createdBy,
  lastModifiedBy,
  autoNumber,
  id,
  foreignKey,
  collaborator,
  specificDbType,
  order,
] as const satisfies readonly AnyFieldType[]

type Registered = (typeof FIELD_TYPES)[number]

/** Name of a field type, e.g. `SingleLineText`. */
export type FieldTypeName = Registered['name']

/** Options of one type after defaults: `OptionsOf<'Rating'>` has `max`, `icon` and `color`. */
export type OptionsOf<N extends FieldTypeName> = z.output<Extract<Registered, { name: N }>['options']>

const BY_NAME: ReadonlyMap<string, AnyFieldType> = new Map(FIELD_TYPES.map((type) => [type.name, type]))

/** Names of all types, for schemas: `z.enum(FIELD_TYPE_NAMES)`. */
export const FIELD_TYPE_NAMES = FIELD_TYPES.map((type) => type.name) as readonly FieldTypeName[]

/** True for the name of a registered type. */
export const isFieldTypeName = (name: unknown): name is FieldTypeName =>
  typeof name === 'string' && BY_NAME.has(name)

/** Looks up a field type. @throws BAD_REQUEST for an unknown name */
export function fieldType(name: string): AnyFieldType {
  const type = BY_NAME.get(name)
  if (!type) throw badRequest(m.field_error_type({ type: name.slice(0, 60) }))
  return type
}

/**
 * Validates options for storage: fills in defaults and drops unknown keys.
 * @throws BAD_REQUEST with the first problem, e.g. `Duplicates are not allowed!`
 */
export function readOptions(name: string, options: unknown): FieldOptions {
  const result = fieldType(name).options.safeParse(options ?? {})
  if (result.success) return result.data
  const { issues } = result.error
  const message = issues[0]?.message ?? m.field_error_options()
  throw new AppError('BAD_REQUEST', message, { issues }, 'msg')
}
