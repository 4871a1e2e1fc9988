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
  perModel,
  storedId,
  wholeSecond,
} from './columns.ts'
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
export { chunks, maskChanges, maskValues, readRecords, recordsNotFound, requireAll } from './stored.ts'
export {
  checkNewValues,
  checkValues,
  isInsertable,
  isLink,
  isWritable,
  type WriteContext,
} from './validate.ts'
