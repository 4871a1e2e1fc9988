/**
 * REST routes of views, their columns, filters and sorts.
 */

export { eachNode, toNodes } from './filter-list.ts'
export { type FilterHolder, HOOK_FILTERS, readFilter } from './filter-routes.ts'
export {
  presentFilter,
  presentOneView,
  presentSharedView,
  presentTableViews,
  presentViewList,
} from './present.ts'
export { viewsRest } from './routes.ts'
