/**
 * The fields of a view: shown or hidden, order, width, summary and form settings; where a new field goes.
 */

export {
  type ArrangeDetail,
  type Arrangement,
  arrange,
  openWithLines,
  requireLine,
  restoreLines,
} from './arrange.ts'
export { placeNewField, placeReverse } from './place-field.ts'
