/**
 * Rows of connected databases: values that a cell cannot show (microseconds, bytes, shapes) and keys that the
 * database makes.
 */

export {
  asStored,
  assigned,
  deleteForeign,
  exactOf,
  exactTextOf,
  readMore,
  restoreForeign,
  sampleDates,
} from './rows.ts'
export { foreignEngineOf, insertForeign, refuseKeyChange } from './write.ts'
