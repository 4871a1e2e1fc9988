import { Copy, CopyPlus, Download, Files, Pencil, Trash2, Webhook, X } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import type { CellValue } from '../../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../../src/core/fields/index.ts'
import { MAX_TRIGGERED } from '../../../../src/core/hooks.ts'
import type { Field, RecordId } from '../../../../src/core/model.ts'
import { MAX_COPIED_IN_JOB } from '../../../../src/core/record-copies.ts'
import { CELLS } from '../../../cells/index.ts'
import { messageOf } from '../../../errors.ts'
import { clipboardForms, writeToClipboard } from '../../../grid/clipboard-forms.ts'
import type { CheckedRows } from '../../../grid/contract.ts'
import { formatNumber } from '../../../i18n.ts'
import { m } from '../../../messages.gen.ts'
import { loadPart } from '../../../navigation/lazy-screen.ts'
import { isVisitorPage } from '../../../session/visitor.ts'
import { trpc } from '../../../trpc.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { copyText } from '../../../ui/copy-text.ts'
import { openMenu } from '../../../ui/menu.tsx'
import { Popover } from '../../../ui/overlays.ts'
import { toast } from '../../../ui/toast.ts'
import { focusUnfinished } from '../../../ui/unfinished.ts'
import toolbar from '../../views/controls/toolbar.module.css'
import { shownFields } from '../../views/state/arrange-fields.ts'
import styles from '../bars/table-view.module.css'
import { copyToTableItems } from '../commands/copy-to-table.tsx'
import { looseLinkTarget } from '../commands/link-target.ts'
import {
  deleteChecked,
  duplicateRecords,
  idsOfAll,
  MAX_COPIES,
  readRecords,
  updateAll,
} from '../commands/record-commands.ts'
import { mayTrigger, triggerItems } from '../commands/trigger-webhooks.ts'
import { can, isWritable, shownRecords, type TableContext } from '../context/table-context.ts'
import { useFormValues } from '../panel/form-values.ts'
import { RecordField } from '../panel/record-field.tsx'
import { offerUndo, placeOf } from '../undo/undo-commands.tsx'

/** Most records that can be copied or exported at once. */
const MAX_COPIED = 10_000

export interface BulkBarProps {
  context: TableContext
  checked: CheckedRows
  /** Number of records in the view. */
  rowCount: number
  /** True while asking for the field to set. */
  isEditing: boolean
  onEditing: (editing: boolean) => void
}

/** Bulk actions for the checked records. */
export function BulkBar({ context, checked, rowCount, isEditing, onEditing }: BulkBarProps) {
  const [anchor, setAnchor] = useState<HTMLElement | null>(null)
  useEffect(() => () => onEditing(false), [onEditing])
  const count = checked.kind === 'some' ? checked.ids.size : rowCount - checked.except.size
  const ids = (): Promise<RecordId[]> =>
    checked.kind === 'some' ? Promise.resolve([...checked.ids]) : idsOfAll(context, checked.except)
  const clear = () => shownRecords(context)?.clearChecked()
  const run = (work: () => Promise<unknown>) =>
    void work().catch((error) => toast.error({ text: messageOf(error) }))

  const duplicate = async () => {
    await duplicateRecords(context, await ids())
    clear()
  }
  /** All records without exceptions are selected by the view's query, so no ids are sent. */
  const isWhole = checked.kind === 'all' && checked.except.size === 0
  const exportChecked = async () => {
    const { downloadView } = await loadPart(() => import('../../views/manage/download-view.ts'))
    downloadView(context.schema, context.state.view, {
      search: context.store.query().search,
      ...(!isWhole && { recordIds: await ids() }),
    })
  }
  const remove = async () => {
    if (await deleteChecked(context, checked)) clear()
  }

  /** Disables a button for more than `max` records, and says why. */
  const limited = (max: number) =>
    count > max && {
      disabled: true,
      'data-tip': m.records_too_many_at_once({ max: formatNumber(max) }),
    }

  const hooks = trpc.hooks.manual.useQuery(
    { tableId: context.schema.table.id },
    { enabled: mayTrigger(context), staleTime: 0 },
  )
  const chooseCopy = async (anchor: HTMLElement) =>
    openMenu(anchor, copyToTableItems(context, await ids(), clear), m.records_copy_or_move())
  const chooseWebhook = async (anchor: HTMLElement) =>
    openMenu(anchor, triggerItems(context, await ids()), m.records_trigger())

  return (
    <section className={styles.bulk} aria-label={m.records_selected_records()} data-testid="bulk-bar">
      <strong>{m.records_records_selected({ count })}</strong>
      {can(context, 'record.update') && (
        <Button
          size="small"
          variant="ghost"
          icon={Pencil}
          ref={setAnchor}
          aria-expanded={isEditing}
          onClick={() => onEditing(!isEditing)}
        >
          {m.records_edit_field()}
        </Button>
      )}
      {can(context, 'record.create') && (
        <Button
          size="small"
          variant="ghost"
          icon={Files}
          {...limited(MAX_COPIES)}
          onClick={() => run(duplicate)}
        >
          {m.common_duplicate()}
        </Button>
      )}
      <Button
        size="small"
        variant="ghost"
        icon={Copy}
        {...limited(MAX_COPIED)}
        onClick={() => run(async () => copyRecords(context, await ids()))}
      >
        {m.common_copy()}
      </Button>
      {!isVisitorPage && (
        <Button
          size="small"
          variant="ghost"
          icon={CopyPlus}
          aria-haspopup="menu"
          {...limited(MAX_COPIED_IN_JOB)}
          onClick={({ currentTarget }) => run(() => chooseCopy(currentTarget))}
        >
          {m.records_copy_or_move()}
        </Button>
      )}
      {can(context, 'record.export') && !isVisitorPage && (
        <Button
          size="small"
          variant="ghost"
          icon={Download}
          {...(!isWhole && limited(MAX_COPIED))}
          onClick={() => run(exportChecked)}
        >
          {m.common_export()}
        </Button>
      )}
      {hooks.data && hooks.data.length > 0 && (
        <Button
          size="small"
          variant="ghost"
          icon={Webhook}
          aria-haspopup="menu"
          {...limited(MAX_TRIGGERED)}
          onClick={({ currentTarget }) => run(() => chooseWebhook(currentTarget))}
        >
          {m.records_trigger()}
        </Button>
      )}
      {can(context, 'record.delete') && (
        <Button size="small" variant="ghost" icon={Trash2} onClick={() => run(remove)}>
          {m.records_delete()}
        </Button>
      )}
      <IconButton icon={X} size="small" iconSize={14} label={m.records_clear_selection()} onClick={clear} />
      {anchor && isEditing && (
        <Popover
          anchor={anchor}
          onClose={() => onEditing(false)}
          label={m.records_edit_field_of_selected_records()}
          className={toolbar.panel}
          isSheetOnPhones
        >
          <BulkEdit
            context={context}
            count={count}
            onApply={(field, value) => {
              onEditing(false)
              run(() => setForAll(context, checked, field, value, count))
            }}
          />
        </Popover>
      )}
    </section>
  )
}

function BulkEdit(props: {
  context: TableContext
  count: number
  onApply: (field: Field, value: CellValue) => void
}) {
  const { context, count, onApply } = props
  const fields = shownFields(context.schema.fields, context.state.view).map(({ field }) => field)
  const writable = fields.filter(isWritable)
  const [fieldId, setFieldId] = useState(writable[0]?.id ?? '')
  // By field, so that what arrives late stays with the field it is for.
  const { values, set, fileTarget, isUploading } = useFormValues()
  const box = useRef<HTMLDivElement>(null)
  const field = writable.find(({ id }) => id === fieldId)
  if (!field) return <p className={toolbar.hint}>{m.records_no_editable_fields_view()}</p>
  const value = values[field.id] ?? null
  const onChange = (next: CellValue) => set(field, next)
  return (
    <div ref={box} className={styles.bulkEdit}>
      <select
        className={toolbar.select}
        aria-label={m.common_field()}
        data-autofocus
        value={fieldId}
        onChange={(event) => setFieldId(event.target.value)}
      >
        {writable.map((one) => (
          <option key={one.id} value={one.id}>
            {one.title}
          </option>
        ))}
      </select>
      <RecordField
        recordId={null}
        key={field.id}
        field={field}
        value={value}
        canEdit
        files={CELLS[field.type].takesFiles ? fileTarget(field) : undefined}
        links={looseLinkTarget(context, field, { value, onChange }) ?? undefined}
        onCommit={onChange}
        hidesLabel
      />
      <Button
        size="small"
        variant="primary"
        busy={isUploading}
        onClick={() => {
          // A refused text or file is not the value: without this, it would empty the field.
          if (!focusUnfinished(box.current)) onApply(field, value)
        }}
      >
        {m.records_change_records({ count })}
      </Button>
    </div>
  )
}

async function setForAll(
  context: TableContext,
  checked: CheckedRows,
  field: Field,
  value: CellValue,
  count: number,
): Promise<void> {
  const values = { [field.id]: value ?? fieldType(field.type).initial ?? null }
  const written =
    checked.kind === 'all'
      ? await updateAll(context, checked.except, values)
      : await context.store.writeRows([...checked.ids].map((id) => ({ id, values })))
  if (written) {
    offerUndo(placeOf(context), m.records_records_changed({ count }), written.id)
  }
}

async function copyRecords(context: TableContext, ids: readonly RecordId[]): Promise<void> {
  const { schema, state, people } = context
  const fields = shownFields(schema.fields, state.view).map(({ field }) => field)
  const rows = await readRecords(context, ids, fields)
  const forms = clipboardForms(fields, rows, new Map(people.map((person) => [person.id, person])))
  if ((await writeToClipboard(forms)) || (await copyText(forms['text/plain'])))
    toast.success({ text: m.records_records_copied({ count: rows.length }) })
}
