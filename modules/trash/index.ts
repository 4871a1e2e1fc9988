/** Deleted records, files, fields, views, tables and bases: listed, restored, or deleted forever. */

export { trashRest } from './rest/index.ts'
export { trashRouter } from './router.ts'
export { createTrashService, type TrashService } from './service.ts'
