import { Fragment, type ReactNode, useSyncExternalStore } from 'react'
import { t } from '../i18n.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'

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

export interface ConfirmOptions {
  title: string
  text: ReactNode
  confirmLabel: string
  danger?: boolean
}

/** Asks before something that cannot be undone; false by Escape, the cross or Cancel. */
export function confirm({ title, text, confirmLabel, danger }: ConfirmOptions): Promise<boolean> {
  return new Promise((resolve) => {
    openDialog((close) => {
      const answer = (yes: boolean) => {
        close()
        resolve(yes)
      }
      return (
        <Dialog
          title={title}
          size="confirm"
          onClose={() => answer(false)}
          footer={
            <>
              <Button onClick={() => answer(false)}>{t('Cancel')}</Button>
              <Button variant={danger ? 'danger' : 'primary'} data-autofocus onClick={() => answer(true)}>
                {confirmLabel}
              </Button>
            </>
          }
        >
          {text}
        </Dialog>
      )
    })
  })
}
