export { refuseOwnDatabase, schemaOf } from './read-connection.ts'
export { sourcesRouter } from './router.ts'
export { createSourcesService, SOURCE_JOBS, type SourceCreateInput } from './service.ts'
