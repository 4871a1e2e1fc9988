export { trashRest } from './rest/index.ts'
export { trashRouter } from './router.ts'
export { createTrashService, type TrashService } from './service.ts'
