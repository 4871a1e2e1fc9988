export { refuseOwnDatabase } from './own-database.ts'
export { sourcesRouter } from './router.ts'
export { createSourcesService, SOURCE_JOBS, type SourceCreateInput } from './service.ts'
export { schemaOf } from './test-connection.ts'
