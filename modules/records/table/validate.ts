import type { NewRow, Values } from '../../../src/core/changes.ts'
import { AppError, notFound } from '../../../src/core/errors.ts'
import {
  fractionLimit,
  lengthLimit,
  numberRange,
  readLong,
  withinColumn,
  withinFraction,
  withinRange,
} from '../../../src/core/fields/column-limits.ts'
import { type CreationMoment, defaultsToNow, startValue } from '../../../src/core/fields/default-value.ts'
import type { CellValue, Read } from '../../../src/core/fields/field-type.ts'
import { readingOptions } from '../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import { isPasswordHash } from '../../../src/core/fields/password.ts'
import { valueError } from '../../../src/core/fields/read.ts'
import { isForeignKey, isSecret, mergesEdits } from '../../../src/core/fields/traits.ts'
import type { Field } from '../../../src/core/model.ts'
import type { Dialect, Transaction } from '../../../src/dialects/dialect.ts'
import { m } from '../../../src/messages.gen.ts'
import type { TableModel } from '../../schema/index.ts'
import { perModel } from './columns.ts'

/** The checks of a field, prepared once. */
interface Checker {
  field: Field
  /** The default of a new record. */
  initial(made: CreationMoment): CellValue
  read(input: unknown, keepsToTypes: boolean): CellValue
}

/** The checkers of a table's writable fields, by field id. */
const checkersOf = perModel(
  (model) =>
    new Map(
      model.fields
        .filter((field) => isInsertable(field) || isLink(field))
        .map((field) => [field.id, createChecker(field)]),
    ),
)

/** True if people and programs may write the field; others are filled by the server. */
export function isWritable(field: Field): boolean {
  const { readOnly, computed } = fieldType(field.type)
  return !readOnly && !computed && !field.isPrimaryKey && !field.isSystem && field.readOnlyReason === null
}

/** True if a new record may have a value: writable fields, and keys of connected databases that are not generated. */
export function isInsertable(field: Field): boolean {
  if (isWritable(field)) return true
  const { readOnly, computed } = fieldType(field.type)
  return field.isPrimaryKey && !readOnly && !computed && field.readOnlyReason === null
}

/** True for a link field, stored in keys or junction rows. */
export const isLink = (field: Field): boolean => fieldType(field.type).computed === 'link'

/** The fields of a table whose values are links, and those that are keys of linked records. */
export const linkFieldsOf = perModel(({ fields }) => fields.filter(isLink))
export const foreignKeysOf = perModel(({ fields }) => fields.filter(isForeignKey))

/** As `readValue`, with everything that depends on the field computed once. */
function createChecker(field: Field): Checker {
  const type = fieldType(field.type)
  const keepsEmptyText = type.filters === 'text'
  const options = readingOptions(field, field.options)
  const limit = lengthLimit(field)
  const range = numberRange(field)
  const digits = fractionLimit(field)
  const fitted = (read: Read) => withinFraction(field, digits, withinRange(range, withinColumn(limit, read)))
  const fixed = defaultsToNow(field) ? null : startValue(field, { ms: 0 })
  return {
    field,
    initial: defaultsToNow(field) ? (made) => startValue(field, made) : () => fixed,
    read(input, keepsToTypes) {
      if (input === null || input === undefined || (input === '' && !keepsEmptyText)) return null
      const plain = readLong(field, input) ?? type.read(input, options)
      const read = keepsToTypes ? fitted(plain) : plain
      // The field may have become a password field in the meantime: no plain text may get in.
      if (read.ok && isSecret(field) && !isUnreadable(read.value)) throw changedMeanwhile(field)
      if (read.ok) return read.value
      throw valueError(field, input, read)
    },
  }
}

/**
 * Checks the values of an update and returns them as they are stored.
 *
 * @param keepsToTypes `ForeignColumns.keepsToTypes` of the table's database
 * @throws FIELD_NOT_FOUND for an unknown field; INVALID_VALUE_FOR_FIELD naming the field for a value that does not
 *   fit; REQUIRED_FIELD_MISSING where a required field would become empty
 */
export function checkValues(model: TableModel, values: Values, keepsToTypes = true): Values {
  const checkers = checkersOf(model)
  const checked: Values = {}
  for (const fieldId in values) {
    const checker = checkers.get(fieldId)
    if (!checker) throw refuseField(model, fieldId)
    const value = checker.read(values[fieldId], keepsToTypes)
    if (checker.field.required && isMissing(checker.field, value)) throw missing(checker.field)
    checked[fieldId] = value
  }
  return checked
}

/**
 * Checks the values that an update expects to replace and returns them.
 *
 * @throws FIELD_NOT_FOUND for an unknown field; BAD_REQUEST for one that the update does not set, or whose edits are not merged
 */
export function checkExpected(model: TableModel, expected: Values, values: Values): Values {
  for (const [fieldId, value] of Object.entries(expected)) {
    const field = model.field(fieldId)
    if (!field) throw notFound('Field', fieldId)
    const isText = value === null || typeof value === 'string'
    if (!mergesEdits(field) || !(fieldId in values) || !isText)
      throw new AppError('BAD_REQUEST', m.records_error_expected_value({ field: field.title }), { fieldId })
  }
  return expected
}

/** Checks the values of a new record as `checkValues` does, and adds defaults. */
export function checkNewValues(
  model: TableModel,
  { values, siblings }: Pick<NewRow, 'values' | 'siblings'>,
  made: CreationMoment,
  keepsToTypes: boolean,
): Values {
  const checked = checkValues(model, values, keepsToTypes)
  const linked = keysGiven(model, { ...checked, ...siblings })
  for (const [fieldId, checker] of checkersOf(model)) {
    const { field } = checker
    if (checked[fieldId] !== undefined || isLink(field) || linked.has(fieldId)) continue
    const initial = checker.initial(made)
    if (field.required && isEmpty(initial)) throw missing(linkKeptIn(model, field) ?? field)
    checked[fieldId] = initial
  }
  return checked
}

/**
 * Checks the links of a new record to others that are added with it.
 *
 * @param count the records that are added
 * @throws FIELD_NOT_FOUND; BAD_REQUEST for fields that do not link to records of the table, and positions without a record
 */
export function checkSiblings(
  model: TableModel,
  siblings: Record<string, number[]>,
  count: number,
): Record<string, number[]> {
  for (const [fieldId, positions] of Object.entries(siblings)) {
    const field = model.field(fieldId)
    if (!field) throw notFound('Field', fieldId)
    const isOwn = linkOf(field)?.relatedTableId === model.table.id
    if (!isOwn || positions.some((position) => position >= count))
      throw new AppError('BAD_REQUEST', m.records_error_siblings({ field: field.title }), { fieldId })
  }
  return siblings
}

/** The keys that links among the values fill. */
function keysGiven(model: TableModel, values: Record<string, CellValue | number[]>): Set<string> {
  const keys = new Set<string>()
  for (const fieldId in values) {
    const field = model.field(fieldId)
    const link = field && isLink(field) ? linkOf(field) : null
    if (link?.holdsKey && link.keyFieldId && !isEmpty(values[fieldId] ?? null)) keys.add(link.keyFieldId)
  }
  return keys
}

/** The link that a key belongs to, which people know it by. */
const linkKeptIn = (model: TableModel, key: Field): Field | undefined =>
  model.fields.find((field) => {
    const link = isLink(field) ? linkOf(field) : null
    return link?.holdsKey && link.keyFieldId === key.id
  })

const changedMeanwhile = ({ id, title }: Field): AppError =>
  new AppError('CONFLICT', m.records_error_field_changed({ field: title }), { fieldId: id })

const isEmpty = (value: CellValue | number[]): boolean => value === null || value === ''

/** Connected databases accept an empty text as a value. */
const isMissing = ({ databaseType }: Field, value: CellValue): boolean =>
  value === null || (value === '' && databaseType === null)

const missing = (field: Field): AppError =>
  new AppError('REQUIRED_FIELD_MISSING', m.wire_error_field_required({ field: field.title }), {
    fieldId: field.id,
    field: field.title,
  })

function refuseField(model: TableModel, fieldId: string): AppError {
  const field = model.field(fieldId)
  if (!field) return notFound('Field', fieldId)
  const reason = field.readOnlyReason ?? m.records_error_computed()
  return new AppError('BAD_REQUEST', m.records_error_read_only({ field: field.title, reason }), { fieldId })
}

/** True for values that may be stored in a password field: hashes and empty values. */
const isUnreadable = (value: unknown): boolean =>
  value === null || value === '' || (typeof value === 'string' && isPasswordHash(value))

/** One table in one transaction of the write door. */
export interface WriteContext {
  tx: Transaction
  dialect: Dialect
  model: TableModel
  actorId: string | null
  /** UTC, in the stored form. */
  now: CellValue
  /** Gets the ids of tables whose records are all given new positions, which the log does not list. */
  renumbered: Set<string>
}
