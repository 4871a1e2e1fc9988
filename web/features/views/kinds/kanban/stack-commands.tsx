import { useState } from 'react'
import { CHOICE_COLORS, type Choice } from '../../../../../src/core/fields/choices.ts'
import type { KanbanOptions } from '../../../../../src/core/views/index.ts'
import { messageOf } from '../../../../errors.ts'
import { m } from '../../../../messages.gen.ts'
import { type StackBy, stackValue } from '../../../../records/layouts/stack-by.ts'
import { timeZone } from '../../../../time-zone.ts'
import { api } from '../../../../trpc.ts'
import { Button } from '../../../../ui/button.tsx'
import { TextField } from '../../../../ui/field.tsx'
import { openDialog } from '../../../../ui/open-dialog.tsx'
import { Dialog } from '../../../../ui/overlays.ts'
import { toast } from '../../../../ui/toast.ts'
import { useSubmit } from '../../../../ui/use-submit.ts'
import type { TableContext } from '../../../records/context/table-context.ts'
import { offerUndoOfLatest, placeOf } from '../../../records/undo/undo-commands.tsx'
import { choicesOf, latestField, updateField } from '../../../schema/field-commands.tsx'
import styles from './kanban.module.css'
import type { Stack } from './stacks.ts'

/** Data for the commands of a stack. */
export interface StackCommandContext {
  context: TableContext
  by: StackBy
  changeOptions: (patch: Partial<KanbanOptions>) => void
}

/** A colour as the option editor offers it. */
const STACK_COLORS = CHOICE_COLORS

/** Asks for the name and colour of a new option, which is a new stack at the end. */
export function addStack({ context, by }: StackCommandContext): void {
  openDialog((close) => (
    <StackDialog
      title={m.kanban_new_stack()}
      confirmLabel={m.kanban_add_stack()}
      color={STACK_COLORS[choicesOf(by.field).length % STACK_COLORS.length] ?? STACK_COLORS[0]}
      onClose={close}
      onSave={(choice) => save(context, by, (choices) => [...choices, choice])}
    />
  ))
}

/** Asks for another name or colour of a stack's option. */
export function editStack(command: StackCommandContext, { choice }: Stack): void {
  if (!choice) return
  openDialog((close) => (
    <StackDialog
      title={m.kanban_rename_stack()}
      confirmLabel={m.common_save()}
      name={choice.title}
      color={choice.color}
      onClose={close}
      onSave={(next) => rename(command, choice, next)}
    />
  ))
}

/** Deletes a stack's option; its records stay, without a value. The message offers the way back. */
export async function deleteStack(command: StackCommandContext, { key, choice }: Stack): Promise<void> {
  if (!choice) return
  const { context, by } = command
  let count: number
  try {
    // Also records that the view's filter or a search hides lose the value.
    const group = [{ fieldId: by.keyField.id, value: stackValue(by, key) }]
    const selection = { tableId: by.field.tableId, group, timeZone }
    count = (await api.records.count.query({ selection })).count
    await save(context, by, (choices) => choices.filter(({ id }) => id !== choice.id))
  } catch (error) {
    toast.error({ text: messageOf(error) })
    return
  }
  await offerUndoOfLatest(
    placeOf(context),
    'field.update',
    count === 0
      ? m.kanban_option_title_deleted({ title: choice.title })
      : m.kanban_option_title_deleted_records_no({
          title: choice.title,
          records: m.common_records_count({ count }),
          field: by.field.title,
        }),
  )
}

type Choices = (Partial<Pick<Choice, 'id'>> & Pick<Choice, 'title'> & Partial<Pick<Choice, 'color'>>)[]

/** @throws the server's error */
async function save(
  context: TableContext,
  by: StackBy,
  change: (choices: Choices) => Choices,
  actionId?: string,
): Promise<void> {
  const field = latestField(context.schema.table, by.field)
  const options = { ...field.options, choices: change(choicesOf(field)) }
  await updateField(context.schema.table, field, { options }, actionId)
}

/** The values of its records, and its place in kanban views, follow the new title. */
const rename = (
  { context, by }: StackCommandContext,
  choice: Choice,
  next: Pick<Choice, 'title' | 'color'>,
): Promise<void> =>
  save(context, by, (choices) => choices.map((one) => (one.id === choice.id ? { ...one, ...next } : one)))

interface StackDialogProps {
  title: string
  confirmLabel: string
  name?: string
  color: string
  /** Rejects with the server's error. */
  onSave: (choice: Pick<Choice, 'title' | 'color'>) => Promise<void>
  onClose: () => void
}

/** Name and colour of a stack, which are those of its option. */
function StackDialog({ title, confirmLabel, name = '', color: start, onSave, onClose }: StackDialogProps) {
  const [text, setText] = useState(name)
  const [color, setColor] = useState(start)
  const { problem, setProblem, isBusy, submit } = useSubmit(
    () => onSave({ title: text.trim(), color }),
    onClose,
  )
  const isEmpty = text.trim() === ''
  const colors = CHOICE_COLORS.some((one) => one === start) ? CHOICE_COLORS : [start, ...CHOICE_COLORS]

  return (
    <Dialog
      title={title}
      size="confirm"
      onClose={onClose}
      onSubmit={() => isEmpty || submit()}
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
