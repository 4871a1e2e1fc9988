/** Imports of whole bases from other products. */

export { baseImportsRest } from './rest/index.ts'
export { baseImportsRouter } from './router.ts'
export { type BaseImportsService, createBaseImportsService } from './service.ts'
export { IMPORTED_COMMENTS, type ImportedComment, type ImportedComments } from './writer/index.ts'
