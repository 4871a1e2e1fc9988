import { createStore } from 'zustand/vanilla'
import type { RecordId } from '../../../src/core/model.ts'

/** A record or a view. */
export type WatchTarget = { tableId: string } & ({ recordId: RecordId } | { viewId: string })

/** The keys of what the user watches; null until it is read. */
export const watched = createStore<ReadonlySet<string> | null>(() => null)

export const watchKey = (target: WatchTarget): string =>
  'viewId' in target ? `view ${target.viewId}` : `record ${target.tableId} ${target.recordId}`
