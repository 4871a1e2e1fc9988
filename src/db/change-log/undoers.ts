import type { Actor } from '../../core/actor.ts'
import type { StoredEntry } from './entry.ts'

/** How an undoer writes: without a log entry, and after `check`, which throws if the entry is no longer to be undone or redone. */
export interface UndoWrite {
  silent: true
  check(): Promise<void>
}

/**
 * Undoes or redoes an entry. Each module that logs changes registers one; it writes through the module's write door.
 * The caller appends the entry.
 */
type Undoer = (
  actor: Actor,
  baseId: string,
  entry: StoredEntry,
  direction: 'undo' | 'redo',
  write: UndoWrite,
) => Promise<void>

/** Undoers by the part of `kind` before the dot. */
export type Undoers = Map<string, Undoer>
