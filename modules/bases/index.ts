export { presentBase } from './present.ts'
export { basesRest } from './rest.ts'
export { basesRouter } from './router.ts'
export { type BasesService, createBasesService } from './service.ts'
export {
  presentSource,
  refuseOwnDatabase,
  SOURCE_JOBS,
  type SourceCreateInput,
  schemaOf,
  sourcesRouter,
} from './sources/index.ts'
export { type BaseRow, BEING_REMOVED, type SourceRow } from './store.ts'
