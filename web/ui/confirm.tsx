import { type ReactNode, useState } from 'react'
import { m } from '../messages.gen.ts'
import { Button } from './button.tsx'
import { TextField } from './field.tsx'
import { askInDialog } from './open-dialog.tsx'
import { Dialog } from './overlays.ts'

interface ConfirmOptions {
  title: string
  text: ReactNode
  confirmLabel: string
  danger?: boolean
  /** A name that the user must type to confirm. */
  typed?: string
}

/** Asks for confirmation of an irreversible action; resolves false on Escape, the close button or Cancel. */
export const confirm = (options: ConfirmOptions): Promise<boolean> =>
  askInDialog((answer) => <ConfirmDialog {...options} onAnswer={answer} />, false)

function ConfirmDialog(props: ConfirmOptions & { onAnswer: (yes: boolean) => void }) {
  const { title, text, confirmLabel, danger, typed: wanted, onAnswer } = props
  const [typed, setTyped] = useState('')
  const isReady = wanted === undefined || typed.trim() === wanted.trim()
  return (
    <Dialog
      title={title}
      size="confirm"
      onClose={() => onAnswer(false)}
      footer={
        <>
          <Button onClick={() => onAnswer(false)}>{m.common_cancel()}</Button>
          <Button
            variant={danger ? 'danger' : 'primary'}
            data-autofocus={wanted === undefined ? true : undefined}
            disabled={!isReady}
            onClick={() => onAnswer(true)}
          >
            {confirmLabel}
          </Button>
        </>
      }
    >
      {text}
      {wanted !== undefined && (
        <TextField
          label={m.ui_type_title_to_confirm({ title: wanted })}
          data-autofocus
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
      )}
    </Dialog>
  )
}
