import { useStore } from 'zustand'
import { createStore } from 'zustand/vanilla'
import type { Field, RecordId } from '../../src/core/model.ts'
import { messageOf } from '../errors.ts'
import { m } from '../messages.gen.ts'
import { timeZone } from '../time-zone.ts'
import { api } from '../trpc.ts'
import { confirm } from '../ui/confirm.tsx'
import { toast } from '../ui/toast.ts'

/** A press that runs, or how it ended, for as long as the mark is shown. */
export type PressState = 'running' | 'done' | 'failed'

const MARK_MS = 2_000

/** The presses on screen, by field and record. */
const presses = createStore<ReadonlyMap<string, PressState>>(() => new Map())

const keyOf = (fieldId: string, recordId: RecordId): string => `${fieldId} ${recordId}`

function show(key: string, state: PressState | null): void {
  const next = new Map(presses.getState())
  if (state === null) next.delete(key)
  else next.set(key, state)
  presses.setState(next, true)
}

/** The press of a button; undefined if there is none. Redraws this button only. */
export const usePress = (fieldId: string, recordId: RecordId | null): PressState | undefined =>
  useStore(presses, (shown) => (recordId === null ? undefined : shown.get(keyOf(fieldId, recordId))))

/** Asks the question of a button, if it has one. */
export async function isConfirmed({ title, options }: Field): Promise<boolean> {
  const { confirmation, label } = options
  if (typeof confirmation !== 'string' || confirmation === '') return true
  return confirm({ title: title, text: confirmation, confirmLabel: String(label || title) })
}

/** Presses a button that calls a webhook or changes the record. A second press waits for the first. */
export async function pressButton(field: Field, recordId: RecordId | null): Promise<void> {
  if (recordId === null) {
    toast.warning({ text: m.cells_button_not_allowed() })
    return
  }
  const key = keyOf(field.id, recordId)
  if (presses.getState().get(key) === 'running' || !(await isConfirmed(field))) return
  show(key, 'running')
  let ended: PressState = 'done'
  try {
    const { tableId, id: fieldId } = field
    const deliveries = await api.buttons.press.mutate({ tableId, fieldId, recordId, timeZone })
    const failed = deliveries.find(({ error }) => error !== null)
    if (failed) {
      ended = 'failed'
      const text = failed.status === 'waiting' ? m.cells_button_will_retry : m.cells_button_not_delivered
      toast.warning({ text: text({ problem: failed.error?.message ?? '' }) })
    }
  } catch (error) {
    ended = 'failed'
    toast.error({ text: messageOf(error) })
  }
  show(key, ended)
  setTimeout(() => show(key, null), MARK_MS)
}
