import { createContext, useContext } from 'react'
import type { RecordId } from '../../src/core/model.ts'

const PressedRecord = createContext<RecordId | null>(null)
const PressRight = createContext(false)

/** Provides the record whose buttons are pressed; null for one that is not stored yet. */
export const PressedRecordProvider = PressedRecord.Provider

/** Provides whether the user may change records, and so press their buttons. */
export const PressRightProvider = PressRight.Provider

/** The record of a pressed button; null if it cannot be pressed. */
export function usePressedRecord(): RecordId | null {
  const recordId = useContext(PressedRecord)
  return useContext(PressRight) ? recordId : null
}
