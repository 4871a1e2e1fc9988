import { type ReactNode, useState } from 'react'
import { m } from '../../messages.gen.ts'
import { TextField } from '../../ui/field.tsx'
import { CopyDialog, type StartedCopy, Tick } from './copy-dialog.tsx'

/** What of a base or a table its copy has. */
export interface CopyChoices {
  title: string
  withData: boolean
  withViews: boolean
}

export interface DuplicateDialogProps {
  /** What is copied, by its name. */
  title: string
  /** The name that is offered for the copy. */
  newTitle: string
  labels: { views: string; waiting: string }
  /** What is wrong with a name, in words; null: nothing. */
  problemOf: (title: string) => string | null
  start: (choices: CopyChoices) => Promise<StartedCopy>
  onClose: () => void
  /** What one should know before. */
  note?: ReactNode
}

/** A name has 255 characters at most, and the word around it is longer in some languages. */
export const copyTitle = (title: string): string =>
  m.copies_title_copy({ title: [...title].slice(0, 220).join('') })

/** Copies a base or a table: asks for its name and for what goes along. */
export function DuplicateDialog({
  title,
  newTitle,
  labels,
  problemOf,
  start,
  onClose,
  note,
}: DuplicateDialogProps) {
  const [choices, setChoices] = useState<CopyChoices>({ title: newTitle, withData: true, withViews: true })
  const change = (part: Partial<CopyChoices>) => setChoices((current) => ({ ...current, ...part }))
  const problem = problemOf(choices.title.trim())
  return (
    <CopyDialog
      title={title}
      waiting={labels.waiting}
      isReady={problem === null}
      start={() => start({ ...choices, title: choices.title.trim() })}
      onClose={onClose}
    >
      <TextField
        label={m.common_name()}
        data-autofocus
        data-select-all
        maxLength={255}
        value={choices.title}
        onChange={(event) => change({ title: event.target.value })}
        error={problem}
      />
      <Tick
        label={m.common_records()}
        checked={choices.withData}
        onChange={(withData) => change({ withData })}
      />
      <Tick
        label={labels.views}
        checked={choices.withViews}
        onChange={(withViews) => change({ withViews })}
      />
      {note}
    </CopyDialog>
  )
}
