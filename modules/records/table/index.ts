/**
 * What the rest of the module needs to know about one table: its columns and keys, which values it accepts,
 * and the records that a change is about.
 */

export {
  type AddedRange,
  idsCondition,
  rangeCondition,
  rangeOf,
  restoredBy,
} from './added-range.ts'
export {
  buttonOf,
  columnIn,
  columnName,
  columnOf,
  decodeRows,
  decoderOf,
  encoded,
  isPossibleId,
  ownOrder,
  storedId,
  wholeSecond,
} from './columns.ts'
export { maskChanges, maskValues } from './mask-passwords.ts'
export { perModel } from './per-model.ts'
export {
  asKey,
  idIn,
  idOfKey,
  isForeign,
  isKeyless,
  isOurs,
  keyFieldsOf,
  keyOf,
  keyText,
  keyValues,
  parseRecordId,
  refuseUnordered,
} from './record-key.ts'
export { chunks, readRecords, recordsNotFound, requireAll } from './stored.ts'
export { checkNewValues, checkValues, isInsertable, isLink, isWritable } from './validate.ts'
export type { WriteContext } from './write-context.ts'
