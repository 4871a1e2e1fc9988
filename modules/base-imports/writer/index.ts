/** Writes a described base and its records through the doors, in steps that a restart can repeat. */

export {
  IMPORTED_COMMENTS,
  type ImportedComment,
  type ImportedComments,
  problem,
  type RunContext,
} from './context.ts'
export { writeComments } from './write-comments.ts'
export { writeComputed } from './write-computed.ts'
export { writeLinks } from './write-links.ts'
export { type ReceiveFile, writeRecords } from './write-records.ts'
export { writeSchema } from './write-schema.ts'
export { writeViews } from './write-views.ts'
