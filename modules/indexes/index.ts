/** Indexes of tables: created for slow reads, dropped without use, or managed by people. */

export { indexesRest } from './rest/index.ts'
export { indexesRouter } from './router.ts'
export { createIndexesService, type IndexesService } from './service.ts'
