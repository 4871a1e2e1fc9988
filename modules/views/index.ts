export { type ViewRows, viewsWithNewIds } from './copied-rows.ts'
export {
  presentOneView,
  presentSharedView,
  presentTableViews,
  presentViewList,
  viewsRest,
} from './rest/index.ts'
export { viewsRouter } from './router.ts'
export { createViewsService, type ViewsService } from './service.ts'
