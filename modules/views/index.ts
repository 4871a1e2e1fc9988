export { type ViewRows, viewsWithNewIds } from './lifecycle/index.ts'
export {
  eachNode,
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
