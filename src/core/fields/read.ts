import { AppError } from '../errors.ts'
import type { Field } from './field.ts'
import { type CellValue, describeValue, type Read, readingOptions, readOk } from './field-type.ts'
import { fieldType } from './index.ts'

/** The properties of a field that determine its values. */
type Target = Pick<Field, 'type' | 'options'> & Partial<Pick<Field, 'databaseType'>>

/** Validates a value from an API client. Undefined, null and '' mean "no value", except that text fields keep ''. */
export function readValue(field: Target, input: unknown): Read {
  const type = fieldType(field.type)
  if (input === null || input === undefined) return readOk(null)
  if (input === '' && type.filters !== 'text') return readOk(null)
  return type.read(input, readingOptions(field, field.options))
}

/** Parses a user's text for a field; null if it is empty or does not fit. */
export const parseValue = (field: Target, text: string): CellValue =>
  fieldType(field.type).parse(text, readingOptions(field, field.options))

/** A field's value as text that `parseValue` parses back. */
export const formatValue = (field: Target, value: CellValue): string =>
  fieldType(field.type).format(value, field.options)

/**
 * The API error for a rejected value, in the words of the wire reference (§15): `Validation failed :
 * isEmail`, `Invalid option(s) "zz" provided for column "Ss". Valid options are "a, b"`, `Invalid value 'bad'
 * for type 'Currency' on column 'Cur'`. `details.reason` names the expected value.
 */
export function valueError(
  field: Pick<Field, 'id' | 'title' | 'type'>,
  input: unknown,
  failure: Extract<Read, { ok: false }>,
): AppError {
  const details = { fieldId: field.id, field: field.title, reason: failure.message }
  if (failure.fault === 'check') return new AppError('BAD_REQUEST', failure.message, details, 'msg')
  if (failure.fault === 'json') return new AppError('INVALID_ATTACHMENT_JSON', failure.message, details)
  if (failure.fault === 'option') {
    const message = failure.message.replace(' provided.', () => ` provided for column "${field.title}".`)
    return new AppError('BAD_REQUEST', message, details, 'msg')
  }
  const message = `Invalid value '${describeValue(input)}' for type '${field.type}' on column '${field.title}'`
  return new AppError('INVALID_VALUE_FOR_FIELD', message, details)
}
