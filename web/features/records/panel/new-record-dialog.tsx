import { ChevronDown, ChevronRight } from 'lucide-react'
import { type KeyboardEvent, useId, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import type { Values } from '../../../../src/core/changes.ts'
import { defaultsToNow, startValue } from '../../../../src/core/fields/default-value.ts'
import type { Field, RecordId } from '../../../../src/core/model.ts'
import { CELLS } from '../../../cells/index.ts'
import { detailsOf, messageOf } from '../../../errors.ts'
import { m } from '../../../messages.gen.ts'
import { recordsApi } from '../../../records/api.ts'
import { runInQueue } from '../../../records/base-queue.ts'
import { orderOf } from '../../../records/record-order.ts'
import { Alert } from '../../../ui/alert.tsx'
import { Button } from '../../../ui/button.tsx'
import { ControlGroup } from '../../../ui/composite.tsx'
import { Dialog } from '../../../ui/overlays.ts'
import { focusUnfinished } from '../../../ui/unfinished.ts'
import { fieldsInOrder } from '../../views/state/arrange-fields.ts'
import { looseLinkTarget } from '../commands/link-target.ts'
import { createOption } from '../commands/record-commands.ts'
import { can, type GetContext, isWritable } from '../context/table-context.ts'
import { offerUndo, placeOf } from '../undo/undo-commands.tsx'
import { useFormValues } from './form-values.ts'
import styles from './new-record.module.css'
import { RecordField } from './record-field.tsx'

export interface NewRecordOptions {
  /** Initial values from the stack, day or location in which it is created. */
  values?: Values
  /** Inserts before this record; absent or null: at the end. */
  before?: RecordId | null
  /** Called with the id of the created record. */
  onCreated?: (id: RecordId) => void
}

export interface NewRecordDialogProps extends NewRecordOptions {
  getContext: GetContext
  onClose: () => void
  /** Called with the unsaved input when the dialog closes. */
  onAbandoned: (values: Values) => void
}

/** Dialog for a new record with its fields in view order, created by one change. */
export function NewRecordDialog(props: NewRecordDialogProps) {
  const { getContext, values: start = NO_VALUES, before = null, onClose, onCreated, onAbandoned } = props
  const context = getContext()
  const { schema, state } = context
  const [error, setError] = useState<unknown>(null)
  const { values, latest, set, fileTarget, isUploading } = useFormValues(start, () => setError(null))
  const [moments] = useState(() => momentsOf(schema.fields))
  const form = useRef<HTMLDivElement>(null)
  const more = useRef<HTMLDivElement>(null)
  /** Whether the hidden fields are shown; null: never yet. They stay once they are drawn, with what they hold. */
  const [showsMore, setShowsMore] = useState<boolean | null>(null)
  const [isBusy, setBusy] = useState(false)
  const moreId = useId()
  const { fieldId: namedId } = detailsOf(error)

  const all = fieldsInOrder(schema.fields, state.view).filter(({ field }) => isWritable(field))
  const isFirst = ({ field, column }: (typeof all)[number]) =>
    column.show || field.isDisplay || field.required || field.id in start || field.id === namedId
  const first = all.filter(isFirst)
  const others = all.filter((one) => !isFirst(one))

  const leave = () => {
    onClose()
    if (latest() !== start) onAbandoned(latest())
  }

  async function create() {
    if (isBusy || isUploading) return
    // Blur commits the open editor, or marks it unfinished.
    flushSync(() => document.activeElement instanceof HTMLElement && document.activeElement.blur())
    if (more.current?.querySelector('[data-unfinished]')) flushSync(() => setShowsMore(true))
    if (focusUnfinished(form.current)) return
    setBusy(true)
    try {
      const { baseId, id: tableId } = schema.table
      const operation = {
        kind: 'insert' as const,
        tableId,
        rows: [{ values: { ...moments, ...latest() } }],
        before,
        viewId: before === null ? undefined : orderOf(context.store.query()).orderViewId,
      }
      const change = { baseId, operations: [operation], clientId: crypto.randomUUID() }
      const written = await runInQueue(baseId, () => recordsApi.apply(change))
      context.store.applyStored(written)
      onClose()
      offerUndo(placeOf(context), m.records_record_added(), written.id)
      const [id] = written.inserted
      if (id !== undefined) onCreated?.(id)
    } catch (refused) {
      setError(refused)
      setBusy(false)
    }
  }

  const shown: Values = { ...moments, ...values }
  const draw = ({ field }: (typeof all)[number]) => (
    <RecordField
      recordId={null}
      key={field.id}
      field={field}
      value={shown[field.id] === undefined ? field.defaultValue : (shown[field.id] ?? null)}
      canEdit
      error={field.id === namedId ? messageOf(error) : null}
      files={CELLS[field.type].takesFiles ? fileTarget(field) : undefined}
      links={
        looseLinkTarget(context, field, {
          value: values[field.id] ?? null,
          onChange: (value) => set(field, value),
        }) ?? undefined
      }
      createOption={
        can(context, 'field.update') ? (title) => createOption(getContext(), field.id, title) : undefined
      }
      onCommit={(value) => set(field, value)}
    />
  )

  return (
    <Dialog
      title={m.common_new_record()}
      onClose={leave}
      closable={!isBusy}
      footer={
        <>
          <Button disabled={isBusy} onClick={leave}>
            {m.common_cancel()}
          </Button>
          <Button
            variant="primary"
            busy={isBusy || isUploading}
            data-testid="create-record"
            onClick={() => void create()}
          >
            {m.records_add_record()}
          </Button>
        </>
      }
    >
      <ControlGroup
        ref={form}
        className={styles.fields}
        onKeyDown={(event: KeyboardEvent) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
          event.preventDefault()
          void create()
        }}
      >
        {error !== null && !first.some(({ field }) => field.id === namedId) && (
          <Alert tone="error">{messageOf(error)}</Alert>
        )}
        {first.map(draw)}
        {others.length > 0 && (
          <Button
            size="small"
            variant="ghost"
            icon={showsMore ? ChevronDown : ChevronRight}
            aria-expanded={showsMore === true}
            aria-controls={moreId}
            onClick={() => setShowsMore(!showsMore)}
          >
            {m.records_hidden_fields_count({ count: others.length })}
          </Button>
        )}
        {showsMore !== null && (
          <div id={moreId} ref={more} className={styles.fields} hidden={!showsMore}>
            {others.map(draw)}
          </div>
        )}
      </ControlGroup>
    </Dialog>
  )
}

const NO_VALUES: Values = {}

/** Current time for fields that default to it, fixed when the dialog opens so that the shown value is stored. */
const momentsOf = (fields: readonly Field[]): Values => {
  const ms = Date.now()
  return Object.fromEntries(
    fields.filter(defaultsToNow).map((field) => [field.id, startValue(field, { ms })]),
  )
}
