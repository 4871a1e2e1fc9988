import { Fragment, type ReactNode, useSyncExternalStore } from 'react'

interface OpenDialog {
  id: number
  render: (close: () => void) => ReactNode
}

let shown: readonly OpenDialog[] = []
let nextId = 1
const listeners = new Set<() => void>()

function publish(next: readonly OpenDialog[]): void {
  shown = next
  for (const listener of listeners) listener()
}

/**
 * Shows a dialog from an action, outside any component: `openDialog((close) => <Rename onClose={close} />)`.
 * Gives a function that closes it.
 */
export function openDialog(render: OpenDialog['render']): () => void {
  const id = nextId++
  publish([...shown, { id, render }])
  return () => publish(shown.filter((one) => one.id !== id))
}

/** Draws what `openDialog` opened; once, at the root of the app. */
export function DialogHost() {
  const dialogs = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => shown,
  )
  return dialogs.map(({ id, render }) => (
    <Fragment key={id}>{render(() => publish(shown.filter((one) => one.id !== id)))}</Fragment>
  ))
}
