/**
 * REST routes of views, their columns, filters and sorts.
 */

export { type FilterHolder, HOOK_FILTERS, readFilter } from './filter-routes.ts'
export {
  filterList,
  presentFilters,
  presentOneView,
  presentSharedView,
  presentTableViews,
  presentViewList,
} from './present.ts'
export { viewsRest } from './routes.ts'
export { summaryOfAggregation } from './view-bodies.ts'
