/** Views: their settings, the fields that they show, and their places in REST. */

export {
  rowsOfDefinedViews,
  type ViewDefinition,
  type ViewFieldDefinition,
  type ViewRows,
  viewDefinition,
  viewFieldDefinition,
  viewsWithNewIds,
} from './lifecycle/index.ts'
export {
  eachNode,
  type FilterHolder,
  HOOK_FILTERS,
  presentFilter,
  presentOneView,
  presentSharedView,
  presentTableViews,
  presentViewList,
  readFilter,
  toNodes,
  viewsRest,
} from './rest/index.ts'
export { viewsRouter } from './router.ts'
export { createViewsService, type ViewsService } from './service.ts'
