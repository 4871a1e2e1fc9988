import { createStore } from 'zustand/vanilla'
import type { RecordId } from '../../../../src/core/model.ts'

/** A record whose comments are to be shown when it opens. */
export interface AskedComment {
  tableId: string
  recordId: RecordId
  /** The cell that the next comment is about; null: the record. */
  fieldId: string | null
}

/** Set by whatever opens a record for its comments; the record takes it. */
export const askedComment = createStore<AskedComment | null>(() => null)
