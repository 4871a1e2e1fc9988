import { useState } from 'react'
import { messageOf } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import { goTo, paths } from '../../navigation/paths.ts'
import { api, cache, trpc } from '../../trpc.ts'
import { DialogButtons } from '../../ui/dialog-buttons.tsx'
import { TextArea, TextField } from '../../ui/field.tsx'
import { Dialog } from '../../ui/overlays.ts'
import { useSubmit } from '../../ui/use-submit.ts'
import { unusedTitle } from '../layout/unused-title.ts'

/** Creates a table and opens it. */
export function CreateTableDialog({ baseId, onClose }: { baseId: string; onClose: () => void }) {
  const [title, setTitle] = useState(() =>
    unusedTitle(m.common_table(), cache.schema.tables.getData({ baseId })?.map((table) => table.title) ?? []),
  )
  const [description, setDescription] = useState('')
  const create = trpc.schema.createTable.useMutation({
    async onSuccess(schema) {
      const tableId = schema.table.id
      cache.schema.table.setData({ tableId }, schema)
      // A refetched list may contain the table already.
      cache.schema.tables.setData(
        { baseId },
        (list) => list && [...list.filter(({ id }) => id !== schema.table.id), schema.table],
      )
      onClose()
      goTo(paths.table(baseId, tableId))
      if (description.trim())
        await api.schema.updateTable.mutate({ tableId, description: description.trim() })
      void cache.schema.tables.invalidate({ baseId })
    },
  })
  const isEmpty = title.trim() === ''

  return (
    <Dialog
      title={m.common_new_table()}
      onClose={onClose}
      onSubmit={() => !isEmpty && !create.isPending && create.mutate({ baseId, title: title.trim() })}
      footer={
        <DialogButtons
          label={m.tables_create_table()}
          busy={create.isPending}
          disabled={isEmpty}
          onClose={onClose}
        />
      }
    >
      <div style={{ display: 'grid', gap: 16 }}>
        <TextField
          label={m.common_name()}
          data-autofocus
          data-select-all
          maxLength={255}
          value={title}
          onChange={(event) => {
            setTitle(event.target.value)
            create.reset()
          }}
          error={isEmpty ? m.common_enter_a_name() : create.error && messageOf(create.error)}
        />
        <TextArea
          label={m.tables_description_optional()}
          rows={2}
          value={description}
          onChange={(event) => setDescription(event.target.value)}
        />
      </div>
    </Dialog>
  )
}

interface DescriptionDialogProps {
  /** Title of the table or view. */
  title: string
  question: string
  description: string | null
  /** Saves the description (null: none); an error is shown in the dialog, which keeps its text. */
  onSave: (description: string | null) => Promise<void>
  onClose: () => void
}

/** Edits a description. */
export function DescriptionDialog({ title, question, onSave, onClose, ...props }: DescriptionDialogProps) {
  const [description, setDescription] = useState(props.description ?? '')
  const { problem, setProblem, isBusy, submit } = useSubmit(() => onSave(description.trim() || null), onClose)

  return (
    <Dialog
      title={m.tables_description_of_title({ title })}
      onClose={onClose}
      onSubmit={submit}
      footer={<DialogButtons label={m.common_save()} busy={isBusy} onClose={onClose} />}
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

export interface RenameOptions {
  heading: string
  title: string
  /** Error for an empty title. */
  emptyText: string
  /** Saves the title; an error is shown below the input, which keeps its text. */
  onRename: (title: string) => Promise<void>
}

/** Edits a title. */
export function RenameDialog({
  heading,
  emptyText,
  onRename,
  onClose,
  ...props
}: RenameOptions & { onClose: () => void }) {
  const [title, setTitle] = useState(props.title)
  const isEmpty = title.trim() === ''
  const { problem, setProblem, isBusy, submit } = useSubmit(() => onRename(title.trim()), onClose)

  return (
    <Dialog
      title={heading}
      size="confirm"
      onClose={onClose}
      onSubmit={() => isEmpty || submit()}
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
