/** Views: their settings, the fields that they show, and their places in REST. */

export {
  rewindViews,
  rowsOfDefinedViews,
  type ViewDefinition,
  type ViewFieldDefinition,
  type ViewRows,
  viewDefinition,
  viewFieldDefinition,
  viewsWithNewIds,
} from './lifecycle/index.ts'
export { refuseLocked } from './model/index.ts'
export {
  type FilterHolder,
  filterList,
  HOOK_FILTERS,
  presentFilters,
  presentOneView,
  presentSharedView,
  presentTableViews,
  presentViewList,
  readFilter,
  summaryOfAggregation,
  viewsRest,
} from './rest/index.ts'
export { viewsRouter } from './router.ts'
export { createViewsService, type ViewsService } from './service.ts'
