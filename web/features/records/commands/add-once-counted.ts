import { m } from '../../../messages.gen.ts'
import { holdKeys } from '../../../ui/held-input.ts'
import { isTyping } from '../../../ui/shortcuts.ts'
import { toast } from '../../../ui/toast.ts'
import type { GetContext } from '../context/table-context.ts'
import { untilCounted } from '../context/until-row.ts'

/** A record is awaited, and what is typed is held, for at most this time. */
const MAX_WAIT_MS = 5_000

/**
 * Adds a record at the end once the number of records is known, and selects it; what is typed until then goes into it.
 * Adds none if the person turns to something else, the view is left or another text field is in use by then.
 */
export function addOnceCounted(get: GetContext, fieldId?: string): void {
  const { store, grid } = get()
  const former = document.activeElement
  const awaited = Promise.withResolvers<void>()
  let isWanted = true
  let isAdded = false
  const giveUp = () => {
    isWanted = false
    clearTimeout(timer)
    awaited.reject(new Error('Gave up adding a record'))
  }
  const timer = setTimeout(() => {
    giveUp()
    if (!store.isDisposed()) toast.info({ text: m.records_not_counted_yet() })
  }, MAX_WAIT_MS)
  void untilCounted(store).then(() => {
    if (!isWanted) return
    const { activeElement } = document
    const isElsewhere = store.isDisposed() || (activeElement !== former && isTyping(activeElement))
    const row = isElsewhere ? null : store.addRow(null)
    if (row === null) return giveUp()
    clearTimeout(timer)
    grid()?.select(row, fieldId)
    grid()?.focus()
    isAdded = true
    awaited.resolve()
  })
  holdKeys(awaited.promise, { isFocused: () => isAdded, onLeave: giveUp })
}
