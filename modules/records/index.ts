export { recordsRest } from './rest/index.ts'
export { recordsRouter } from './router.ts'
export { createRecordsService, type RecordsService } from './service.ts'
export { createStarter } from './starter.ts'
