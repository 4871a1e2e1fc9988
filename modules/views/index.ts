export { type ViewRows, viewsWithNewIds } from './lifecycle/index.ts'
export {
  presentOneView,
  presentSharedView,
  presentTableViews,
  presentViewList,
  viewsRest,
} from './rest/index.ts'
export { viewsRouter } from './router.ts'
export { createViewsService, type ViewsService } from './service.ts'
