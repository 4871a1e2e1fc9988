import { createStore } from 'zustand/vanilla'
import type { RecordId } from '../../../src/core/model.ts'
import type { Presence } from '../../../src/core/presence.ts'
import type { OtherCell } from '../../grid/contract.ts'
import { localSettings } from '../../session/local-settings.ts'

/** A record on screen, and the field in it that has the selection or the focus. */
export interface OwnCell {
  recordId: RecordId
  fieldId: string | null
  isEditing: boolean
}

/** The user's own position, written by the screens and reported by `take-part.ts`. */
export const ownPosition = createStore<{
  screen: { tableId: string; viewId: string } | null
  /** The active cell of the grid. */
  cell: OwnCell | null
  /** The open record, which wins while one of its fields has the focus. */
  record: OwnCell | null
}>(() => ({ screen: null, cell: null, record: null }))

/** Connections of other people to the open base. */
export const others = createStore<readonly Presence[]>(() => [])

/** Their cells in the open table. */
export const otherCells = createStore<readonly OtherCell[]>(() => [])

/** A cell of another person to go to, taken by the screen of its view. */
export const wantedCell = createStore<{
  tableId: string
  viewId: string
  recordId: RecordId
  fieldId: string | null
} | null>(() => null)

const HIDDEN_SETTING = 'presence.hiddenUser'

/** Id of the user who appears offline in this browser; null: nobody. Shared by its tabs. */
export const hiddenUser = createStore<string | null>(() => localSettings.get(HIDDEN_SETTING))
localSettings.onChangeElsewhere(HIDDEN_SETTING, (userId) => hiddenUser.setState(userId, true))

export function setHiddenUser(userId: string | null): void {
  if (userId === null) localSettings.remove(HIDDEN_SETTING)
  else localSettings.set(HIDDEN_SETTING, userId)
  hiddenUser.setState(userId, true)
}
