import { AppError, badRequest } from '../../../src/core/errors.ts'
import { acceptsNow, NOW } from '../../../src/core/fields/default-value.ts'
import type { FieldOptions } from '../../../src/core/fields/field-type.ts'
import {
  FIELD_TYPE_NAMES,
  type FieldTypeName,
  fieldType,
  isFieldTypeName,
} from '../../../src/core/fields/index.ts'
import { SPECIFIC_TYPES } from '../../../src/core/fields/specific-db-type.ts'
import { hasChoices, isRecordId } from '../../../src/core/fields/traits.ts'
import { parseJsonOrNull } from '../../../src/core/json-text.ts'
import type { Field } from '../../../src/core/model.ts'
import { becomesLink } from '../fields/index.ts'
import { choicesOf, type FieldPatch, type NewField } from '../model/index.ts'
import {
  readOptionTitles,
  refuseNewStorage,
  refuseStorageChange,
  type WireColumn,
} from './wire-column-storage.ts'
import { usualType } from './wire-column-type.ts'
import { computedOptions, readWireRelation } from './wire-computed.ts'
import { absentOptions, optionsFromMeta, type WireMeta } from './wire-meta.ts'

/** The types in the order of the REST API. `AI` is not implemented. */
const LISTED = [
  'Attachment',
  'AutoNumber',
  'Barcode',
  'Button',
  'Checkbox',
  'Collaborator',
  'Count',
  'CreatedTime',
  'Currency',
  'Date',
  'DateTime',
  'Decimal',
  'Duration',
  'Email',
  'Formula',
  'ForeignKey',
  'GeoData',
  'Geometry',
  'ID',
  'JSON',
  'LastModifiedTime',
  'LongText',
  'LinkToAnotherRecord',
  'Lookup',
  'MultiSelect',
  'Number',
  'Percent',
  'PhoneNumber',
  'Rating',
  'Rollup',
  'SingleLineText',
  'SingleSelect',
  'SpecificDBType',
  'Time',
  'URL',
  'Year',
  'QrCode',
  'Links',
  'User',
  'CreatedBy',
  'LastModifiedBy',
  'AI',
  'Order',
]

/** Every valid `uidt` (wire §8.3). */
const WIRE_TYPES: readonly string[] = [
  ...LISTED,
  // Types with secret values are not available over REST.
  ...FIELD_TYPE_NAMES.filter((name) => !LISTED.includes(name) && !fieldType(name).isSecret),
]

/**
 * Reads a new column.
 *
 * @throws INVALID_REQUEST_BODY without a title, or for an unknown type; NOT_IMPLEMENTED for an unsupported type, and for
 *   a primary key of another type than ID
 */
export function readNewColumn(column: WireColumn): NewField {
  const type = readType(column.uidt ?? 'SingleLineText', null)
  const title = textOf(column.title) ?? textOf(column.column_name)
  if (title === undefined) throw missingProperty('title')
  if (isTrue(column.pk) && !isRecordId({ type })) throw notImplemented(`A primary key of the type ${type}`)
  const columnName = textOf(column.column_name)
  refuseNewStorage(column, title, type)
  return {
    title,
    type,
    ...readRules(column, type, { ...optionsOf(column, type, null), ...computedOptions(column, type, true) }),
    ...(columnName && { columnName }),
    isDisplay: isTrue(column.pv),
    wireMeta: readMeta(column.meta),
  }
}

/**
 * Reads an update of a column, partial or whole. The name in the database never changes.
 *
 * @param current the presented column
 * @param client the engine of its table
 * @throws as `readNewColumn`; BAD_REQUEST for a change of storage properties
 */
export function readColumnPatch(
  column: WireColumn,
  field: Field,
  { current, client }: { current: WireColumn; client: string },
): FieldPatch {
  const type = column.uidt === undefined ? field.type : readType(column.uidt, field.type)
  refuseStorageChange(column, current, type, usualType(type, client))
  const sent = {
    ...optionsOf(column, type, field),
    ...computedOptions(column, type, false),
    ...(becomesLink(field, type) && readWireRelation(column, field.tableId)),
  }
  const isSameType = type === field.type
  // `updateField` merges the options of computed fields itself.
  const before = isSameType && !fieldType(type).computed ? field.options : {}
  // `meta` replaces the former one, but not options outside of `meta`, such as the choices of a select.
  const reset =
    isSameType && column.meta !== undefined ? absentOptions(type, readMeta(column.meta) ?? {}) : {}
  const isSame = isSameType && Object.keys(sent).length === 0 && column.meta === undefined
  const options = { ...before, ...reset, ...sent }
  const title = textOf(column.title)
  // Clients send whole columns back, so this includes defaults that they could not set, such as the text “now()”.
  const isDefaultKept = isSameType && column.cdf === current.cdf
  const { cdf: _, ...withoutDefault } = column
  return {
    ...(title !== undefined && { title }),
    ...(type !== field.type && { type }),
    ...readRules(isDefaultKept ? withoutDefault : column, type, isSame ? undefined : options),
    ...(column.meta !== undefined && { wireMeta: readMeta(column.meta) }),
  }
}

function readType(uidt: unknown, from: FieldTypeName | null): FieldTypeName {
  if (typeof uidt !== 'string' || !WIRE_TYPES.includes(uidt)) throw unknownType()
  if (isFieldTypeName(uidt)) return uidt
  throw notImplemented(from === null ? `The field type ${uidt}` : `Updating ${from} => ${uidt}`)
}

const notImplemented = (feature: string): AppError =>
  new AppError('NOT_IMPLEMENTED', `${feature} is not implemented`)

const unknownType = (): AppError =>
  invalidBody({
    instancePath: '/uidt',
    schemaPath: '#/properties/uidt/enum',
    keyword: 'enum',
    params: { allowedValues: WIRE_TYPES },
    message: `must be equal to one of the allowed values: ${WIRE_TYPES.join(', ')}`,
  })

/** INVALID_REQUEST_BODY with `must have required property 'title'`. */
export const missingProperty = (missingProperty: string): AppError =>
  invalidBody({
    instancePath: '',
    schemaPath: '#/required',
    keyword: 'required',
    params: { missingProperty },
    message: `must have required property '${missingProperty}'`,
  })

const invalidBody = (error: Record<string, unknown>): AppError =>
  new AppError('INVALID_REQUEST_BODY', 'Invalid request body', { errors: [error] }, 'msg')

function optionsOf(column: WireColumn, type: FieldTypeName, current: Field | null): FieldOptions {
  const meta = readMeta(column.meta)
  const options = meta ? optionsFromMeta(type, meta) : {}
  if (fieldType(type).namesDatabaseType) Object.assign(options, specificType(column.dt))
  const colOptions = column.colOptions as { options?: unknown } | null | undefined
  if (!hasChoices({ type })) return options
  const sent = Array.isArray(colOptions?.options) ? (colOptions.options as { title?: unknown }[]) : null
  const choices = readChoices(sent, readOptionTitles(column.dtxp), current)
  if (choices !== null) options.choices = choices
  return options
}

/**
 * Reads the options of a select from `colOptions`, or from `dtxp` alone, as older clients do (wire §8.3). Null
 * if the body has none, or if `dtxp` is unchanged. A new column with both takes `colOptions`.
 *
 * @throws BAD_REQUEST in an update with both, if they differ
 */
function readChoices(
  sent: readonly { title?: unknown }[] | null,
  named: readonly string[],
  current: Field | null,
): unknown[] | null {
  const known = current === null ? [] : choicesOf(current)
  const isKnown = Bun.deepEquals(
    named,
    known.map(({ title }) => title),
  )
  if (named.length === 0 || isKnown) return sent === null ? null : [...sent]
  if (sent === null || sent.length === 0) {
    return named.map((title) => known.find((choice) => choice.title === title) ?? { title })
  }
  const isSame = Bun.deepEquals(
    named,
    sent.map((choice) => choice?.title),
  )
  if (current !== null && !isSame)
    throw badRequest('"dtxp" and "colOptions" name different options: send one of them')
  return [...sent]
}

/** The database type of a SpecificDBType; an unknown one falls back to the default. */
const specificType = (dt: unknown): FieldOptions => {
  const known = typeof dt === 'string' && SPECIFIC_TYPES.find((name) => name === dt.trim().toLowerCase())
  return known ? { databaseType: known } : {}
}

function readRules(
  column: WireColumn,
  type: FieldTypeName,
  options: FieldOptions | undefined,
): Omit<FieldPatch, 'type' | 'title'> {
  const { readOnly, systemColumn, computed } = fieldType(type)
  const description = column.description === null ? null : textOf(column.description)
  const isFilled = readOnly || systemColumn || computed
  return {
    ...(options && { options }),
    ...(description !== undefined && { description }),
    // Clients send whole columns back, so constraints of fields that fill themselves are ignored.
    ...(!isFilled && column.rqd !== undefined && { required: isTrue(column.rqd) }),
    ...(!isFilled && column.unique !== undefined && { unique: isTrue(column.unique) }),
    ...(!isFilled && column.cdf !== undefined && { defaultValue: readDefault(column.cdf, type) }),
  }
}

/** Reads `cdf`, text for every type. `checkDefault` validates it as a value of a record. */
function readDefault(cdf: unknown, type: FieldTypeName): string | null {
  if (cdf === null || cdf === '') return null
  if (typeof cdf !== 'string' && typeof cdf !== 'number' && typeof cdf !== 'boolean') {
    throw badRequest('A default value must be text, a number or a boolean')
  }
  if (isCurrentTime(cdf)) {
    if (acceptsNow(type)) return NOW
    throw badRequest(`The default ${cdf} is only valid for dates and times, not for ${type} fields`)
  }
  return String(cdf)
}

/** The SQL keywords and functions for the current time (spec §5). */
const CURRENT_TIME = /^((current_(timestamp|date|time)|localtimestamp)(\(\d?\))?|(now|getdate)\(\d?\))$/i

/** True for a default that is evaluated when a record is created: `CURRENT_TIMESTAMP`, `now()`, `GETDATE()`. */
const isCurrentTime = (cdf: unknown): cdf is string =>
  typeof cdf === 'string' && CURRENT_TIME.test(cdf.trim())

/** Reads `meta`, an object or its JSON text (wire §1.4); null for anything else. */
function readMeta(meta: unknown): WireMeta | null {
  if (typeof meta === 'string') return readMeta(parseJsonOrNull(meta))
  if (typeof meta !== 'object' || meta === null || Array.isArray(meta)) return null
  const { defaultViewColOrder: _1, defaultViewColVisibility: _2, ...own } = meta as WireMeta
  if (JSON.stringify(own).length > 100_000) throw badRequest('The meta of a column is too long')
  return own
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** A boolean, also as number or text. */
export const isTrue = (value: unknown): boolean =>
  value === true || value === 1 || value === '1' || value === 'true'
