/** Statements that insert, update, restore and delete rows of one table, and maintain their order. */

export {
  type FormerFields,
  fitsSet,
  formerFields,
  formerFieldsNow,
  loggedValues,
  presentJson,
  UNCHANGED_FIELDS,
  withPresentTitles,
} from './former-fields.ts'
export {
  manualOrder,
  manualPage,
  manualPositions,
  type Place,
  placeColumn,
  placeInView,
  readPlaces,
  removeLostPlaces,
  viewsWithPlaces,
  writePlaces,
} from './order.ts'
export { planRevert, type Reverted, type SnapshotColumn, snapshot } from './set-revert.ts'
export {
  deleteRecords,
  fieldNamed,
  insertRecords,
  moveRecords,
  RAW_PREFIX,
  restoreRecords,
  updateRecords,
} from './write.ts'
