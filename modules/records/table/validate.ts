import type { Values } from '../../../src/core/changes.ts'
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
import { type MadeAt, startsNow, startValue } from '../../../src/core/fields/default-value.ts'
import type { CellValue, Read } from '../../../src/core/fields/field-type.ts'
import { readingOptions } from '../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import { isPasswordHash } from '../../../src/core/fields/password.ts'
import { valueError } from '../../../src/core/fields/read.ts'
import { isSecret } from '../../../src/core/fields/traits.ts'
import type { Field } from '../../../src/core/model.ts'
import type { Dialect, Transaction } from '../../../src/dialects/dialect.ts'
import type { TableModel } from '../../schema/index.ts'
import { perModel } from './columns.ts'

/** What a field accepts, ready to be asked many times. */
interface Checker {
  field: Field
  /** The value of a new record where the caller gives none. */
  initial(made: MadeAt): CellValue
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

/** True where people and programs may write a value into the record; all others are the server's own. */
export function isWritable(field: Field): boolean {
  const { readOnly, computed } = fieldType(field.type)
  return !readOnly && !computed && !field.isPrimaryKey && !field.isSystem && field.readOnlyReason === null
}

/**
 * True where a new record may bring a value: beside the writable fields, the key of a table of another
 * database, which need not number its records.
 */
export function isInsertable(field: Field): boolean {
  if (isWritable(field)) return true
  const { readOnly, computed } = fieldType(field.type)
  return field.isPrimaryKey && !readOnly && !computed && field.readOnlyReason === null
}

/** True for a field whose value is written as links, in keys or in a table of pairs. */
export const isLink = (field: Field): boolean => fieldType(field.type).computed === 'link'

/** As `readValue`, with what follows from the field looked up once. */
function createChecker(field: Field): Checker {
  const type = fieldType(field.type)
  const keepsEmptyText = type.filters === 'text'
  const options = readingOptions(field, field.options)
  const limit = lengthLimit(field)
  const range = numberRange(field)
  const digits = fractionLimit(field)
  const fitted = (read: Read) => withinFraction(field, digits, withinRange(range, withinColumn(limit, read)))
  const fixed = startsNow(field) ? null : startValue(field, { ms: 0 })
  return {
    field,
    initial: startsNow(field) ? (made) => startValue(field, made) : () => fixed,
    read(input, keepsToTypes) {
      if (input === null || input === undefined || (input === '' && !keepsEmptyText)) return null
      const plain = readLong(field, input) ?? type.read(input, options)
      const read = keepsToTypes ? fitted(plain) : plain
      // A field that became one of passwords while the change was on its way: nothing readable may get in.
      if (read.ok && isSecret(field) && !isUnreadable(read.value)) throw changedMeanwhile(field)
      if (read.ok) return read.value
      throw valueError(field, input, read)
    },
  }
}

/**
 * Values for an update as they will be stored.
 *
 * @param keepsToTypes `ForeignWords.keepsToTypes` of the table's database
 * @throws FIELD_NOT_FOUND for an unknown field; INVALID_VALUE_FOR_FIELD naming the field for a value
 *   that does not fit; REQUIRED_FIELD_MISSING where a required field would become empty
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

/** Values for a new record: as `checkValues`, with defaults where the caller gives nothing. */
export function checkNewValues(
  model: TableModel,
  values: Values,
  made: MadeAt,
  keepsToTypes: boolean,
): Values {
  const checked = checkValues(model, values, keepsToTypes)
  const linked = keysGiven(model, checked)
  for (const [fieldId, checker] of checkersOf(model)) {
    const { field } = checker
    if (checked[fieldId] !== undefined || isLink(field) || linked.has(fieldId)) continue
    const initial = checker.initial(made)
    if (field.required && isEmpty(initial)) throw missing(linkKeptIn(model, field) ?? field)
    checked[fieldId] = initial
  }
  return checked
}

/** The keys that links among the values will fill. */
function keysGiven(model: TableModel, values: Values): Set<string> {
  const keys = new Set<string>()
  for (const fieldId in values) {
    const field = model.field(fieldId)
    const link = field && isLink(field) ? linkOf(field) : null
    if (link?.holdsKey && link.keyFieldId && !isEmpty(values[fieldId] ?? null)) keys.add(link.keyFieldId)
  }
  return keys
}

/** The link that a key belongs to: what people know of it. */
const linkKeptIn = (model: TableModel, key: Field): Field | undefined =>
  model.fields.find((field) => {
    const link = isLink(field) ? linkOf(field) : null
    return link?.holdsKey && link.keyFieldId === key.id
  })

const changedMeanwhile = ({ id, title }: Field): AppError =>
  new AppError('CONFLICT', `Field "${title}" was changed by someone else. Try again.`, { fieldId: id })

const isEmpty = (value: CellValue): boolean => value === null || value === ''

/** To a connected database an empty text is a value like any other. */
const isMissing = ({ databaseType }: Field, value: CellValue): boolean =>
  value === null || (value === '' && databaseType === null)

const missing = (field: Field): AppError =>
  new AppError('REQUIRED_FIELD_MISSING', `Field '${field.title}' is required`, {
    fieldId: field.id,
    field: field.title,
  })

function refuseField(model: TableModel, fieldId: string): AppError {
  const field = model.field(fieldId)
  if (!field) return notFound('Field', fieldId)
  const reason = field.readOnlyReason ?? 'its values are computed'
  return new AppError('BAD_REQUEST', `Field "${field.title}" is read-only: ${reason}`, { fieldId })
}

/** True for what may be stored in a password field: nothing that someone could read. */
const isUnreadable = (value: unknown): boolean =>
  value === null || value === '' || (typeof value === 'string' && isPasswordHash(value))

/** One table inside one transaction of the write door. */
export interface WriteContext {
  tx: Transaction
  dialect: Dialect
  model: TableModel
  actorId: string | null
  /** UTC, in the stored form. */
  now: CellValue
}
