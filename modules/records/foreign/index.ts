/**
 * Rows of connected databases: values that a cell cannot show (microseconds, bytes, shapes) and keys that the
 * database makes.
 */

export { foreignEngineOf } from './one-database.ts'
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
export { insertForeign, refuseKeyChange } from './write.ts'
