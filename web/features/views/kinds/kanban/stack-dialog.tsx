import { useState } from 'react'
import { CHOICE_COLORS, type Choice } from '../../../../../src/core/fields/choices.ts'
import { messageOf } from '../../../../errors.ts'
import { m } from '../../../../messages.gen.ts'
import { Button } from '../../../../ui/button.tsx'
import { TextField } from '../../../../ui/field.tsx'
import { Dialog } from '../../../../ui/overlays.ts'
import styles from './kanban.module.css'

interface StackDialogProps {
  title: string
  confirmLabel: string
  name?: string
  color: string
  /** Rejects with what the server refused. */
  onSave: (choice: Pick<Choice, 'title' | 'color'>) => Promise<void>
  onClose: () => void
}

/** Name and colour of a stack, which are those of its option. */
export function StackDialog({
  title,
  confirmLabel,
  name = '',
  color: start,
  onSave,
  onClose,
}: StackDialogProps) {
  const [text, setText] = useState(name)
  const [color, setColor] = useState(start)
  const [problem, setProblem] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const isEmpty = text.trim() === ''
  const colors = CHOICE_COLORS.some((one) => one === start) ? CHOICE_COLORS : [start, ...CHOICE_COLORS]

  async function submit() {
    if (isEmpty || isBusy) return
    setBusy(true)
    try {
      await onSave({ title: text.trim(), color })
      onClose()
    } catch (error) {
      setProblem(messageOf(error))
      setBusy(false)
    }
  }

  return (
    <Dialog
      title={title}
      size="confirm"
      onClose={onClose}
      onSubmit={() => void submit()}
      footer={
        <>
          <Button onClick={onClose}>{m.common_cancel()}</Button>
          <Button type="submit" variant="primary" busy={isBusy} disabled={isEmpty}>
            {confirmLabel}
          </Button>
        </>
      }
    >
      <TextField
        label={m.common_name()}
        data-autofocus
        data-select-all
        maxLength={1000}
        value={text}
        error={problem}
        onChange={(event) => {
          setText(event.target.value)
          setProblem(null)
        }}
      />
      <fieldset className={styles.colors}>
        <legend>{m.common_colour()}</legend>
        {colors.map((one, index) => (
          <button
            key={one}
            type="button"
            className={styles.color}
            style={{ background: one }}
            aria-label={m.common_colour_number({ n: index + 1 })}
            aria-pressed={one === color}
            onClick={() => setColor(one)}
          />
        ))}
      </fieldset>
    </Dialog>
  )
}
