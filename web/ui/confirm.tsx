import type { ReactNode } from 'react'
import { t } from '../i18n.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { openDialog } from './open-dialog.tsx'

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
