import { m } from '../messages.gen.ts'
import { Button } from './button.tsx'

interface DialogButtonsProps {
  /** Text of the button that submits the dialog. */
  label: string
  danger?: boolean
  busy?: boolean
  disabled?: boolean
  /** Gives the submit button the focus when the dialog opens. */
  autoFocus?: boolean
  onClose: () => void
}

/** Footer of a dialog with `onSubmit`: Cancel, and the button that submits. */
export function DialogButtons({ label, danger, busy, disabled, autoFocus, onClose }: DialogButtonsProps) {
  return (
    <>
      <Button onClick={onClose}>{m.common_cancel()}</Button>
      <Button
        type="submit"
        variant={danger ? 'danger' : 'primary'}
        busy={busy}
        disabled={disabled}
        data-autofocus={autoFocus || undefined}
      >
        {label}
      </Button>
    </>
  )
}
