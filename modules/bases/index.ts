/** Bases, their members, and the databases that they are connected to. */

export type { BaseDraft } from './copy.ts'
export { basesRest, presentBase } from './rest/index.ts'
export { basesRouter } from './router.ts'
export { type BasesService, createBasesService, type DeletedBase, trashDaysOf } from './service.ts'
export {
  refuseOwnDatabase,
  SOURCE_JOBS,
  type SourceCreateInput,
  schemaOf,
  sourcesRouter,
} from './sources/index.ts'
export { type BaseRow, BEING_MADE, BEING_REMOVED, type SourceRow } from './store.ts'
