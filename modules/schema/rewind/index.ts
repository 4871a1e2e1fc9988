/**
 * The tables and fields of a base as they were at an earlier time, from their rows of now and the change log.
 */

export {
  type DefinitionLog,
  existedAt,
  type KnownEntry,
  knownEntries,
  readDefinitionLog,
} from './definition-log.ts'
export {
  type NotRewound,
  numbered,
  type RenamedChoices,
  type RewoundSchema,
  rewindSchema,
} from './rewind-schema.ts'
export { isOfExistence, makesAppear, type Step, stateAt, stepOf } from './state-at.ts'
