/**
 * The fields of a view: shown or hidden, order, width, summary and form settings; where a new field goes.
 */

export {
  type ArrangeDetail,
  type Arrangement,
  arrange,
  openWithFields,
  requireViewField,
  restoreViewFields,
} from './arrange.ts'
export { placeNewField, placeReverseLink } from './place-field.ts'
