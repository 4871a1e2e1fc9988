import { Fragment, type ReactNode } from 'react'
import { useStore } from 'zustand'
import { createStore } from 'zustand/vanilla'

interface OpenDialog {
  id: number
  render: (close: () => void) => ReactNode
}

let nextId = 1
const openDialogs = createStore<readonly OpenDialog[]>(() => [])

function closeDialog(id: number): void {
  openDialogs.setState((open) => open.filter((one) => one.id !== id), true)
}

/**
 * Opens a dialog from outside any component: `openDialog((close) => <Rename onClose={close} />)`. Returns a function
 * that closes it.
 */
export function openDialog(render: OpenDialog['render']): () => void {
  const id = nextId++
  openDialogs.setState((open) => [...open, { id, render }], true)
  return () => closeDialog(id)
}

/** Renders the open dialogs; mounted once, at the root of the app. */
export function DialogHost() {
  const dialogs = useStore(openDialogs)
  return dialogs.map(({ id, render }) => <Fragment key={id}>{render(() => closeDialog(id))}</Fragment>)
}
