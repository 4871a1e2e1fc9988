export { viewsRest } from './rest.ts'
export { viewsRouter } from './router.ts'
export { createViewsService, type ViewsService } from './service.ts'
