/**
 * The write door: checks a change, runs it in one transaction and appends it to the change log.
 */

export { createDoor, type Door, MAX_RECORDS } from './door.ts'
export { createFormDoor, type SharedForm } from './form-door.ts'
export { createValueResolver } from './resolve-values.ts'
export type { CheckedOperation } from './run-operation.ts'
export {
  createSetWrites,
  type RewindTarget,
  type SetApplied,
  type SetDetail,
  type SetEntry,
  type SetWrites,
  type Where,
} from './set-write.ts'
