import { type SQL, sql } from 'drizzle-orm'
import { isDay } from '../../../../src/core/dates.ts'
import { badRequest } from '../../../../src/core/errors.ts'
import type { CellValue, StorageKind } from '../../../../src/core/fields/field-type.ts'
import { describeValue } from '../../../../src/core/fields/field-type.ts'
import { inSetOrder } from '../../../../src/core/group-key.ts'
import type { Field } from '../../../../src/core/model.ts'
import { isTextStorage } from '../../../../src/dialects/related.ts'
import type { ReadContext } from '../expression/scope.ts'
import { groupTerm } from './term.ts'

/**
 * True for the records of one group.
 *
 * @throws BAD_REQUEST for a value that no record of the field could have
 */
export function groupCondition(context: ReadContext, field: Field, value: CellValue): SQL {
  const { dialect } = context
  const { key, storage } = groupTerm(context, field)
  if (storage === 'boolean') return dialect.eq(key, isOn(field, value))
  if (value === null || value === '') return dialect.isNull(key)
  if (!isPossible(storage, value)) {
    throw badRequest(`Field "${field.title}" has no group ${describeValue(value)}`)
  }
  // Engines that tell types apart compare no text with a number.
  const wanted = isTextStorage(storage) ? String(value) : value
  // Somebody may have put the options into another order meanwhile.
  return dialect.eq(key, storage === 'text' ? inSetOrder(field, wanted) : wanted)
}

/** True for records of any of the groups. */
export function groupsCondition(context: ReadContext, field: Field, values: CellValue[]): SQL {
  const { dialect } = context
  const { key } = groupTerm(context, field)
  const filled = values.filter((value) => value !== null)
  const conditions = [
    ...(filled.length > 0 ? [dialect.inList(key, filled)] : []),
    ...(filled.length < values.length ? [dialect.isNull(key)] : []),
  ]
  return conditions.length === 0 ? sql`1 = 0` : dialect.or(conditions)
}

function isOn(field: Field, value: CellValue): boolean {
  if (value === null || typeof value === 'boolean') return value ?? false
  throw badRequest(`Field "${field.title}" has no group ${describeValue(value)}`)
}

const NUMBER = /^-?\d{1,30}(\.\d{1,30})?$/
/** MySQL's times may be spans of up to 838 hours, and PostgreSQL's day ends at 24:00:00. */
const TIME = /^-?\d{2,3}:[0-5]\d:[0-5]\d(\.\d{3,9})?$/

function isPossible(storage: StorageKind, value: string | number | boolean): boolean {
  switch (storage) {
    case 'id':
    case 'integer':
      return Number.isSafeInteger(value) || (typeof value === 'string' && /^-?\d{1,20}$/.test(value))
    case 'real':
      return typeof value === 'number' || (typeof value === 'string' && NUMBER.test(value))
    case 'date':
      return typeof value === 'string' && isDay(value)
    case 'time':
      return typeof value === 'string' && TIME.test(value)
    default:
      return isTextStorage(storage) && typeof value !== 'boolean'
  }
}
