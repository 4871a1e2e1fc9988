import { AppError, badRequest } from '../../../src/core/errors.ts'
import { NOW, takesNow } from '../../../src/core/fields/default-value.ts'
import type { CellValue, FieldOptions } from '../../../src/core/fields/field-type.ts'
import {
  FIELD_TYPE_NAMES,
  type FieldTypeName,
  fieldType,
  isFieldTypeName,
  readOptions,
} from '../../../src/core/fields/index.ts'
import { SPECIFIC_TYPES } from '../../../src/core/fields/specific-db-type.ts'
import { hasChoices, isRecordId } from '../../../src/core/fields/traits.ts'
import { parseJsonText } from '../../../src/core/json-text.ts'
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
import { optionsFromMeta, unsaidOptions, type WireMeta } from './wire-meta.ts'

/** Types in the order in which clients see them listed. `AI` is known to clients and not available here. */
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

/** Every `uidt` that clients may send (wire reference §8.3). */
const WIRE_TYPES: readonly string[] = [
  ...LISTED,
  // Clients know no type whose values cannot be read.
  ...FIELD_TYPE_NAMES.filter((name) => !LISTED.includes(name) && !fieldType(name).isSecret),
]

/**
 * The field that a new column means.
 *
 * @throws INVALID_REQUEST_BODY without a title, or for an unknown type; NOT_IMPLEMENTED for a type
 *   that does not exist here yet, and for a primary key of another type than ID
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
 * What of a field a partial or whole column changes. The name in the database never changes.
 *
 * @param current the column as clients read it
 * @param client the engine of its table
 * @throws as `readNewColumn`; BAD_REQUEST for a change of how the column is stored
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
  // Of a computed field the patch alone is handed on: what it does not name is kept where it is checked.
  const kept = isSameType && !fieldType(type).computed ? field.options : {}
  // `meta` replaces what was there; the choices of a select and the like lie elsewhere and stay.
  const unsaid =
    isSameType && column.meta !== undefined ? unsaidOptions(type, readMeta(column.meta) ?? {}) : {}
  const isSame = isSameType && Object.keys(sent).length === 0 && column.meta === undefined
  const options = { ...kept, ...unsaid, ...sent }
  const title = textOf(column.title)
  return {
    ...(title !== undefined && { title }),
    ...(type !== field.type && { type }),
    ...readRules(column, type, isSame ? undefined : options, field.options),
    ...(column.meta !== undefined && { wireMeta: readMeta(column.meta) }),
  }
}

/** The types that may stand in `uidt`, as a refusal of the body names them. */
function readType(uidt: unknown, from: FieldTypeName | null): FieldTypeName {
  if (typeof uidt !== 'string' || !WIRE_TYPES.includes(uidt)) throw unknownType()
  if (isFieldTypeName(uidt)) return uidt
  throw notImplemented(from === null ? `The field type ${uidt}` : `Updating ${from} => ${uidt}`)
}

const notImplemented = (what: string): AppError =>
  new AppError('NOT_IMPLEMENTED', `${what} is not implemented`)

const unknownType = (): AppError =>
  invalidBody({
    instancePath: '/uidt',
    schemaPath: '#/properties/uidt/enum',
    keyword: 'enum',
    params: { allowedValues: WIRE_TYPES },
    message: `must be equal to one of the allowed values: ${WIRE_TYPES.join(', ')}`,
  })

/** `must have required property 'title'`. */
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
 * The options that a column names: in `colOptions`, or in `dtxp` alone, as older clients do (wire reference §8.3). Null
 * where it names none, or those that the field has.
 *
 * A new column with both has those of `colOptions`.
 *
 * @throws BAD_REQUEST for a column that is there, where both are given and differ
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

/** What a client says of the column's type, where it is one that may be named; else the type's default. */
const specificType = (dt: unknown): FieldOptions => {
  const known = typeof dt === 'string' && SPECIFIC_TYPES.find((name) => name === dt.trim().toLowerCase())
  return known ? { databaseType: known } : {}
}

function readRules(
  column: WireColumn,
  type: FieldTypeName,
  options: FieldOptions | undefined,
  current: FieldOptions = {},
): Omit<FieldPatch, 'type' | 'title'> {
  const { readOnly, systemColumn, computed } = fieldType(type)
  const description = column.description === null ? null : textOf(column.description)
  const isFilled = readOnly || systemColumn || computed
  return {
    ...(options && { options }),
    ...(description !== undefined && { description }),
    // A client sends a whole column back: `rqd` of the record id is a fact, not a wish.
    ...(!isFilled && column.rqd !== undefined && { required: isTrue(column.rqd) }),
    ...(!isFilled && column.unique !== undefined && { unique: isTrue(column.unique) }),
    ...(!isFilled &&
      column.cdf !== undefined && { defaultValue: readDefault(column.cdf, type, options ?? current) }),
  }
}

/** `cdf` is text for every type. */
function readDefault(cdf: unknown, type: FieldTypeName, options: FieldOptions): CellValue {
  if (cdf === null || cdf === '') return null
  if (typeof cdf !== 'string' && typeof cdf !== 'number' && typeof cdf !== 'boolean') {
    throw badRequest('A default value must be text, a number or a boolean')
  }
  if (isMoment(cdf)) {
    if (takesNow(type)) return NOW
    throw badRequest(`The default ${cdf} is only valid for dates and times, not for ${type} fields`)
  }
  // Options may be new ones in this very call: what names none of them is refused where all is checked.
  if (hasChoices({ type })) return String(cdf)
  const value = fieldType(type).parse(String(cdf), readOptions(type, options))
  if (value === null)
    throw badRequest(`Default value '${String(cdf).slice(0, 200)}' is not valid for a ${type} field`)
  return value
}

/** What the engines call the present (spec §5): a word of theirs, or a function, which `now` alone is not. */
const PRESENT = /^((current_(timestamp|date|time)|localtimestamp)(\(\d?\))?|(now|getdate)\(\d?\))$/i

/** True for a default that is worked out when a record is made: `CURRENT_TIMESTAMP`, `now()`, `GETDATE()`. */
const isMoment = (cdf: unknown): cdf is string => typeof cdf === 'string' && PRESENT.test(cdf.trim())

/** An object, or the same as JSON text (wire reference §1.4); anything else is no meta. */
function readMeta(meta: unknown): WireMeta | null {
  if (typeof meta === 'string') return readMeta(parseJson(meta))
  if (typeof meta !== 'object' || meta === null || Array.isArray(meta)) return null
  const { defaultViewColOrder: _1, defaultViewColVisibility: _2, ...own } = meta as WireMeta
  if (JSON.stringify(own).length > 100_000) throw badRequest('The meta of a column is too long')
  return own
}

function parseJson(text: string): unknown {
  try {
    return parseJsonText(text)
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** Clients send flags as booleans, numbers or text. */
export const isTrue = (value: unknown): boolean =>
  value === true || value === 1 || value === '1' || value === 'true'
