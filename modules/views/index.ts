export { type ViewRows, viewsWithNewIds } from './copied-rows.ts'
export { viewsRest } from './rest.ts'
export { viewsRouter } from './router.ts'
export { createViewsService, type ViewsService } from './service.ts'
