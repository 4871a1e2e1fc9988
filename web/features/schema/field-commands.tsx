import type { Choice } from '../../../src/core/fields/choices.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import { numbersRecords } from '../../../src/core/fields/traits.ts'
import type { Field, Table, TableSchema } from '../../../src/core/model.ts'
import { m } from '../../messages.gen.ts'
import { runInQueue, runOnceInQueue } from '../../records/base-queue.ts'
import { timeZone } from '../../time-zone.ts'
import { api, cache, type Inputs, inAction } from '../../trpc.ts'
import { attempt, showError } from '../../ui/attempt.ts'
import { lazyDialog } from '../../ui/lazy-dialog.ts'
import { openDialog } from '../../ui/open-dialog.tsx'
import { toast } from '../../ui/toast.ts'
import type { StartedCopy } from '../copies/copy-dialog.tsx'
import { followJob } from '../sources/jobs.ts'
import { askDelete } from './ask-delete.tsx'

const DuplicateFieldDialog = lazyDialog(() => import('./duplicate-field-dialog.tsx'), 'DuplicateFieldDialog')

/** Input of `schema.createField`. */
export type FieldInput = Inputs['schema']['createField']['field']

type TableRef = Pick<Table, 'id' | 'baseId'>

/** Position of a new field in a view. */
export interface FieldPlace {
  viewId?: string
  beforeFieldId?: string
}

/**
 * Adds a field to a table; `actionId` makes it part of a larger action, such as a paste.
 * @throws the server's error, for the editor to show
 */
export async function createField(
  table: TableRef,
  field: FieldInput,
  place: FieldPlace = {},
  actionId?: string,
): Promise<Field> {
  const created = await runOnceInQueue(table.baseId, () =>
    api.schema.createField.mutate({ tableId: table.id, field, ...place }, inAction(actionId)),
  )
  await refresh(table)
  return created
}

/**
 * Changes a field; another `type` converts its values.
 *
 * @param field as the patch was made from it: options that others have added or changed since stay
 * @throws the server's error, for the editor to show
 */
export async function updateField(
  table: TableRef,
  field: Field,
  patch: Partial<FieldInput>,
  actionId?: string,
): Promise<Field> {
  const seenChoices = patch.options && choicesOf(field)
  const input = { fieldId: field.id, patch, seenChoices, timeZone }
  const changed = await runInQueue(table.baseId, () =>
    api.schema.updateField.mutate(input, inAction(actionId)),
  )
  await refresh(table)
  return changed
}

/** The field as it is now: the caller's may be from before a menu or dialog opened. */
export const latestField = (table: TableRef, field: Field): Field =>
  cache.schema.table.getData({ tableId: table.id })?.fields.find(({ id }) => id === field.id) ?? field

const refresh = (table: TableRef): Promise<void> => cache.schema.table.invalidate({ tableId: table.id })

/** Adds missing options to a select field. @returns false when that failed, which was shown */
export async function addFieldOptions(
  table: TableRef,
  { id: fieldId }: Field,
  titles: readonly string[],
  actionId?: string,
): Promise<boolean> {
  try {
    await runInQueue(table.baseId, () =>
      api.schema.addChoices.mutate({ fieldId, titles: [...titles] }, inAction(actionId)),
    )
    await refresh(table)
    return true
  } catch (error) {
    showError(error)
    return false
  }
}

/** Options of a select field; empty for other types. */
export function choicesOf(field: Pick<Field, 'options'>): Choice[] {
  const { choices } = field.options
  return Array.isArray(choices) ? (choices as Choice[]) : []
}

/** Makes a field the display field of its table. */
export async function setDisplayField(table: TableRef, field: Field): Promise<void> {
  await attempt(async () => {
    await runInQueue(table.baseId, () => api.schema.setDisplayField.mutate({ fieldId: field.id }))
    await refresh(table)
  })
}

/** Duplicates a field to a position in a view; asks about values if it stores any. */
export function duplicateField(table: TableRef, field: Field, place: FieldPlace): void {
  if (linkOf(field) || (field.columnName !== '' && !numbersRecords(field))) {
    openDialog((close) => (
      <DuplicateFieldDialog
        tableId={table.id}
        field={field}
        start={(withData) => startFieldCopy(table, field, { ...place, withData })}
        onClose={close}
      />
    ))
  } else void duplicateAtOnce(table, field, place)
}

/**
 * Starts duplicating a field to a position in a view.
 * @throws the server's error
 */
async function startFieldCopy(
  table: TableRef,
  field: Field,
  options: FieldPlace & { withData: boolean },
): Promise<StartedCopy> {
  const { jobId, fieldId } = await runOnceInQueue(table.baseId, () =>
    api.copies.field.mutate({ fieldId: field.id, ...options }),
  )
  return {
    jobId,
    async finish() {
      await cache.schema.table.invalidate()
      const copy = cache.schema.table.getData({ tableId: table.id })?.fields.find(({ id }) => id === fieldId)
      return m.schema_title_is_ready({ title: copy?.title ?? field.title })
    },
  }
}

async function duplicateAtOnce(table: TableRef, field: Field, place: FieldPlace): Promise<void> {
  await attempt(async () => {
    const copy = await startFieldCopy(table, field, { ...place, withData: true })
    if (await followJob(copy.jobId)) toast.success({ text: await copy.finish() })
  })
}

/** Moves a field to the trash after listing its dependents; the message offers Undo. */
export async function deleteField(schema: TableSchema, field: Field): Promise<void> {
  try {
    const agreed = await askDelete(
      { fieldId: field.id },
      {
        title: m.schema_delete_field_confirm({ title: field.title }),
        text: m.schema_delete_field_consequences(),
        confirmLabel: m.schema_delete_field(),
      },
    )
    if (!agreed) return
    await runOnceInQueue(schema.table.baseId, () => api.schema.deleteField.mutate({ fieldId: field.id }))
    await refresh(schema.table)
  } catch (error) {
    showError(error)
    return
  }
  toast.success({
    text: m.schema_field_title_deleted_values({ title: field.title }),
    action: { label: m.common_undo(), run: () => restoreField(schema.table, field) },
  })
}

async function restoreField(table: TableRef, field: Field): Promise<void> {
  await attempt(async () => {
    await runOnceInQueue(table.baseId, () => api.schema.restoreField.mutate({ fieldId: field.id }))
    await refresh(table)
    toast.success({ text: m.schema_field_title_was_restored({ title: field.title }) })
  })
}
