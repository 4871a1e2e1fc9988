import type { Operation } from '../../../src/core/changes.ts'
import type { Place } from '../rows/index.ts'

/**
 * An operation whose values are stored values already; `restore` brings deleted records back, `place` gives records back
 * the positions that they had in a view's manual order.
 */
export type CheckedOperation =
  | Operation
  | { kind: 'restore'; tableId: string; rows: Extract<Operation, { kind: 'update' }>['rows'] }
  | { kind: 'place'; tableId: string; viewId: string; places: Place[] }
