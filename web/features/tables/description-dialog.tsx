import { useState } from 'react'
import { messageOf } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import { Button } from '../../ui/button.tsx'
import { TextArea } from '../../ui/field.tsx'
import { Dialog } from '../../ui/overlays.ts'

export interface DescriptionDialogProps {
  /** What is described. */
  title: string
  question: string
  description: string | null
  /** Saves; null: no description. What it throws is shown, with the text kept. */
  onSave: (description: string | null) => Promise<void>
  onClose: () => void
}

/** What a table or view is for, in the words of the people who use it. */
export function DescriptionDialog({ title, question, onSave, onClose, ...props }: DescriptionDialogProps) {
  const [description, setDescription] = useState(props.description ?? '')
  const [problem, setProblem] = useState<string | null>(null)
  const [isBusy, setIsBusy] = useState(false)

  async function submit() {
    if (isBusy) return
    setIsBusy(true)
    try {
      await onSave(description.trim() || null)
      onClose()
    } catch (error) {
      setProblem(messageOf(error))
      setIsBusy(false)
    }
  }

  return (
    <Dialog
      title={m.tables_description_of_title({ title })}
      onClose={onClose}
      onSubmit={() => void submit()}
      footer={
        <>
          <Button onClick={onClose}>{m.common_cancel()}</Button>
          <Button type="submit" variant="primary" busy={isBusy}>
            {m.common_save()}
          </Button>
        </>
      }
    >
      <TextArea
        label={question}
        data-autofocus
        rows={4}
        maxLength={10_000}
        value={description}
        onChange={(event) => {
          setDescription(event.target.value)
          setProblem(null)
        }}
        error={problem}
      />
    </Dialog>
  )
}
