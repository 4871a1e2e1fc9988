/**
 * Stored views: rows, cached models and ids, and the check of rights and locks that every operation starts with.
 */

export { isOpenTo, openView, refuseLocked, type ViewsContext } from './context.ts'
export {
  createViewFieldId,
  defaultViewField,
  fieldsOfView,
  forVisitors,
  liveColoring,
  liveGroups,
  liveOptions,
  MAX_WIDTH,
  MIN_WIDTH,
  namesRecords,
  pruneFilter,
  type ShownView,
  shownView,
  type ViewFieldRow,
  type ViewRow,
  type ViewShare,
  type ViewState,
  type ViewWithFields,
  viewShare,
  withFilterIds,
  withFreshIds,
  withSortIds,
} from './model.ts'
export { createViewsStore, type ViewsStore } from './store.ts'
