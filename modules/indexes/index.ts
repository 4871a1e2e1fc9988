export { indexesRest } from './rest/index.ts'
export { indexesRouter } from './router.ts'
export { createIndexesService, type IndexesService } from './service.ts'
