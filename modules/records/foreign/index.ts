/**
 * Rows of connected databases: values that a cell cannot represent (microseconds, bytes, geometry) and keys that the
 * database generates.
 */

export { type FoundByValues, findByValues } from './find-by-values.ts'
export {
  asStored,
  assigned,
  deleteForeign,
  exactOf,
  exactTextOf,
  readExactTexts,
  readMore,
  restoreForeign,
  sampleDates,
} from './rows.ts'
export { foreignEngineOf, insertForeign, refuseKeyChange } from './write.ts'
