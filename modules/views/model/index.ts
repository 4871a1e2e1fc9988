/**
 * The stored views: their rows and cached models, their ids, and the check of rights and locks that every operation starts with.
 */

export { isOpenTo, openView, refuseLocked, requireField, type ViewsContext } from './context.ts'
export {
  createLineId,
  defaultLine,
  fieldsOfView,
  forVisitors,
  type LineRow,
  liveColoring,
  liveGroups,
  liveOptions,
  MAX_WIDTH,
  MIN_WIDTH,
  namesRecords,
  prune,
  type ShownView,
  shownView,
  type ViewRow,
  type ViewShare,
  type ViewState,
  type ViewWithLines,
  viewShare,
  withFilterIds,
  withFreshIds,
  withSortIds,
} from './model.ts'
export { createViewsStore, type ViewsStore } from './store.ts'
