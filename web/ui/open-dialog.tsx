import type { ReactNode } from 'react'
import { useStore } from 'zustand'
import { createStore } from 'zustand/vanilla'
import { LayerBoundary } from './layer-boundary.tsx'

interface OpenDialog {
  id: number
  render: (close: () => void) => ReactNode
  onFailure: (() => void) | undefined
}

let nextId = 1
const openDialogs = createStore<readonly OpenDialog[]>(() => [])

function closeDialog(id: number): void {
  openDialogs.setState((open) => open.filter((one) => one.id !== id), true)
}

/**
 * Opens a dialog from outside any component: `openDialog((close) => <Rename onClose={close} />)`. Returns a function
 * that closes it.
 *
 * @param onFailure called when the dialog could not be shown, and has been closed
 */
export function openDialog(render: OpenDialog['render'], onFailure?: () => void): () => void {
  const id = nextId++
  openDialogs.setState((open) => [...open, { id, render, onFailure }], true)
  return () => closeDialog(id)
}

/** Asks in a dialog, which an answer closes; resolves to `unasked` if the dialog could not be shown. */
export function askInDialog<T>(
  render: (answer: (value: T) => void) => ReactNode,
  unasked: NoInfer<T>,
): Promise<T> {
  return new Promise((resolve) => {
    openDialog(
      (close) =>
        render((value) => {
          close()
          resolve(value)
        }),
      () => resolve(unasked),
    )
  })
}

/** Renders the open dialogs; mounted once, at the root of the app. */
export function DialogHost() {
  const dialogs = useStore(openDialogs)
  return dialogs.map(({ id, render, onFailure }) => (
    <LayerBoundary
      key={id}
      onFailure={() => {
        closeDialog(id)
        onFailure?.()
      }}
    >
      {render(() => closeDialog(id))}
    </LayerBoundary>
  ))
}
