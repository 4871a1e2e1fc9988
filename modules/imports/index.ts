/** Imports of files, and copies and moves of bases, tables and records, as jobs. */

export {
  COPIED_COMMENTS,
  COPIED_HOOKS,
  COPIED_INDEXES,
  type CopiedComments,
  type CopiedHook,
  type CopiedHooks,
  type CopiedIndexes,
  type CopiedRows,
  type Copies,
  createCopies,
  isSameDefinition,
} from './copies/index.ts'
export type { StartInput } from './input.ts'
export { type Archive, openArchive } from './readers/index.ts'
export { baseImportRest, copiesRest, importsRest, tableImportRest } from './rest/index.ts'
export { copiesRouter, importsRouter, jobsRouter } from './router.ts'
export { createImportsService, type ImportsService } from './service.ts'
export type { Upload } from './uploads.ts'
