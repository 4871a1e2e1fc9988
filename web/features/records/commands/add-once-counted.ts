import { holdKeys } from '../../../ui/held-input.ts'
import { isTyping } from '../../../ui/shortcuts.ts'
import type { GetContext } from '../context/table-context.ts'
import { untilCounted } from '../context/until-row.ts'

/** What is typed is held for at most this time. */
const HOLD_MS = 5_000

/**
 * Adds a record at the end once the number of records is known, and selects it; what is typed until then goes into it.
 * Adds none if the view was left or another text field is in use by then.
 */
export function addOnceCounted(get: GetContext, fieldId?: string): void {
  const { store, grid } = get()
  const former = document.activeElement
  let isAdded = false
  const added = untilCounted(store).then(() => {
    const { activeElement } = document
    if (store.isDisposed() || (activeElement !== former && isTyping(activeElement))) return
    const row = store.addRow(null)
    if (row === null) return
    grid()?.select(row, fieldId)
    grid()?.focus()
    isAdded = true
  })
  const timeOver = new Promise((resolve) => setTimeout(resolve, HOLD_MS))
  holdKeys(Promise.race([added, timeOver]), () => isAdded)
}
