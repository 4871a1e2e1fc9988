import { type DefinitionEntry, definitionEntries } from '../../../src/db/change-log/entries.ts'
import type { StoredEntry } from '../../../src/db/change-log/entry.ts'
import type { Engine } from '../../../src/dialects/dialect.ts'
import { isOfExistence, makesAppear } from './state-at.ts'

/** The changes of definitions around a moment. */
export interface DefinitionLog {
  /** The last entry at the moment. */
  after: number
  /** The moment, ISO 8601. */
  at: string
  /** Oldest first: all after the moment, and those before it from the first one that was undone or redone since. */
  entries: readonly DefinitionEntry[]
}

/** Reads the changes of definitions that tell how a base was at a moment. */
export async function readDefinitionLog(
  engine: Engine,
  { after, time }: { after: number; time: string },
): Promise<DefinitionLog> {
  const later = await definitionEntries(engine, after)
  // An undo or redo is logged although what it concerns may have been there, or gone, already: the changes before tell.
  const isUnclear = later.some(
    ({ direction, action }) => direction !== 'do' && action !== null && isOfExistence(action.kind),
  )
  const oldest = isUnclear
    ? 1
    : later.reduce((least, { action }) => Math.min(least, action?.id ?? least), after + 1)
  const entries = oldest <= after ? await definitionEntries(engine, oldest - 1) : later
  return { after, at: time, entries }
}

/** An entry whose change the log has. */
export type KnownEntry = DefinitionEntry & { action: StoredEntry }

/** The entries whose changes the log has, updates with the settings before and after them. */
export const knownEntries = ({ entries }: DefinitionLog): KnownEntry[] =>
  entries.filter((entry): entry is KnownEntry => {
    const { action } = entry
    if (action === null || !action.kind.endsWith('.update')) return action !== null
    const { before, after } = (action.detail ?? {}) as { before?: unknown; after?: unknown }
    return typeof before === 'object' && typeof after === 'object'
  })

/**
 * Whether something was there right after an entry of the log, by the changes that concern it: the last one until then, else
 * the first one since. Null if none does.
 */
export function existedAt(changes: readonly KnownEntry[], after: number): boolean | null {
  const found = changes.filter(({ action }) => isOfExistence(action.kind))
  const last = found.findLast(({ id }) => id <= after)
  if (last) return makesAppear(last.action.kind, last.direction)
  const first = found.find(({ id }) => id > after)
  return first ? !makesAppear(first.action.kind, first.direction) : null
}
