export {
  asKey,
  idIn,
  idInText,
  idOfKey,
  isForeign,
  isKeyless,
  isOurs,
  keyFieldsOf,
  keyOf,
  keyText,
  keyValues,
  listOf,
  parseRecordId,
  refuseUnordered,
} from './columns.ts'
export { type AddedRange, idsCondition, rangeCondition, rangeOf, restoredBy } from './stored.ts'
/** One table: its columns and keys, the values it accepts, and its stored records. */

export {
  buttonOf,
  columnIn,
  columnName,
  columnOf,
  decodeRows,
  decoderOf,
  encoded,
  isPossibleId,
  orderField,
  ownOrder,
  perDialect,
  perModel,
  quotedColumn,
  storedId,
  wholeSecond,
} from './columns.ts'
export {
  chunks,
  maskChanges,
  maskValues,
  readRecords,
  readWhere,
  recordsNotFound,
  requireAll,
  type StoredRecord,
} from './stored.ts'
export {
  checkExpected,
  checkNewValues,
  checkSiblings,
  checkValues,
  foreignKeysOf,
  isInsertable,
  isLink,
  isWritable,
  linkFieldsOf,
  type WriteContext,
} from './validate.ts'
