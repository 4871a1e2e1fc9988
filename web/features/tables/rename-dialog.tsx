import { useState } from 'react'
import type { Table } from '../../../src/core/model.ts'
import { messageOf } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import { DialogButtons } from '../../ui/dialog-buttons.tsx'
import { TextField } from '../../ui/field.tsx'
import { openDialog } from '../../ui/open-dialog.tsx'
import { Dialog } from '../../ui/overlays.ts'
import { renameTable } from './table-commands.tsx'

/** Renames a table in a dialog, where inline editing is not possible. */
export const renameTableInDialog = (table: Table): void =>
  renameInDialog({
    heading: m.tables_rename_table(),
    emptyText: m.common_enter_a_name(),
    title: table.title,
    onRename: (title) => renameTable(table, title),
  })

export interface RenameOptions {
  heading: string
  title: string
  /** Error for an empty title. */
  emptyText: string
  /** Saves the title; an error is shown below the input, which keeps its text. */
  onRename: (title: string) => Promise<void>
}

/** Opens a dialog for another title. */
export const renameInDialog = (options: RenameOptions): void =>
  void openDialog((close) => <RenameDialog {...options} onClose={close} />)

function RenameDialog({
  heading,
  emptyText,
  onRename,
  onClose,
  ...props
}: RenameOptions & { onClose: () => void }) {
  const [title, setTitle] = useState(props.title)
  const [problem, setProblem] = useState<string | null>(null)
  const [isBusy, setIsBusy] = useState(false)
  const isEmpty = title.trim() === ''

  async function submit() {
    if (isEmpty || isBusy) return
    setIsBusy(true)
    try {
      await onRename(title.trim())
      onClose()
    } catch (error) {
      setProblem(messageOf(error))
      setIsBusy(false)
    }
  }

  return (
    <Dialog
      title={heading}
      size="confirm"
      onClose={onClose}
      onSubmit={() => void submit()}
      footer={<DialogButtons label={m.common_rename()} busy={isBusy} disabled={isEmpty} onClose={onClose} />}
    >
      <TextField
        label={m.common_name()}
        data-autofocus
        data-select-all
        maxLength={255}
        value={title}
        onChange={(event) => {
          setTitle(event.target.value)
          setProblem(null)
        }}
        error={isEmpty ? emptyText : problem}
      />
    </Dialog>
  )
}
