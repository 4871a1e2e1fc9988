/** Whole bases as single files: exported, and opened again by any Sheaf. */

export { baseFilesRest } from './rest/index.ts'
export { baseFilesRouter } from './router.ts'
export { type BaseFilesService, createBaseFilesService } from './service.ts'
