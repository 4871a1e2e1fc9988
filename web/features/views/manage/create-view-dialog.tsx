import { useRef, useState } from 'react'
import type { TableSchema, View, ViewKind } from '../../../../src/core/model.ts'
import { type Setup, viewKind } from '../../../../src/core/views/index.ts'
import { m } from '../../../messages.gen.ts'
import { goTo, paths } from '../../../navigation/paths.ts'
import { api, cache, trpc } from '../../../trpc.ts'
import { Button } from '../../../ui/button.tsx'
import { SelectField, TextField } from '../../../ui/field.tsx'
import { Dialog } from '../../../ui/overlays.ts'
import { ErrorState, Skeleton } from '../../../ui/states.tsx'
import { useSubmit } from '../../../ui/use-submit.ts'
import { setExpanded } from '../../layout/sidebar-state.ts'
import { unusedTitle } from '../../layout/unused-title.ts'
import styles from './create-view-dialog.module.css'
import { KIND_INFO } from './kind-info.tsx'
import { fieldsFor, firstSetup, needOf, setupOptions } from './new-view.ts'

export interface CreateViewDialogProps {
  baseId: string
  tableId: string
  kind: ViewKind
  onClose: () => void
}

/** Placeholder id of a field that is created with the view. */
const FRESH = 'new'

/** Dialog for a new view: its name, and the field its kind requires. Enter creates and opens it. */
export function CreateViewDialog(props: CreateViewDialogProps) {
  const { tableId, kind, onClose } = props
  const schema = trpc.schema.table.useQuery({ tableId })
  if (schema.data) return <Form {...props} schema={schema.data} />
  return (
    <Dialog title={KIND_INFO[kind].newLabel()} onClose={onClose}>
      {schema.error ? (
        <ErrorState
          title={m.views_table_load_failed()}
          error={schema.error}
          onRetry={() => void schema.refetch()}
        />
      ) : (
        <Skeleton height={120} />
      )}
    </Dialog>
  )
}

function Form({ baseId, tableId, kind, onClose, schema }: CreateViewDialogProps & { schema: TableSchema }) {
  const { label, newLabel, purpose, Icon } = KIND_INFO[kind]
  const need = needOf(kind)
  const [title, setTitle] = useState(() =>
    unusedTitle(
      label(),
      schema.views.map((view) => view.title),
    ),
  )
  const [copyOf, setCopyOf] = useState('')
  const copied = schema.views.find(({ id }) => id === copyOf)
  const fields = fieldsFor(need, schema.fields)
  // In a connected table no field can be created; the view's screen then asks for one.
  const mayMake = schema.readOnlyReason === null
  const first = (view?: View): Setup => {
    const setup = firstSetup(kind, schema.fields, view)
    return setup.fieldId === null && need && mayMake ? { ...setup, fieldId: FRESH } : setup
  }
  const [setup, setSetup] = useState(() => first())
  // Reuses a field created before the view was rejected.
  const made = useRef<string | null>(null)
  const isEmpty = title.trim() === ''

  async function create(): Promise<void> {
    if (need && setup.fieldId === FRESH && made.current === null) {
      const { title: wanted, ...field } = need.fresh()
      const created = { ...field, title: freeTitle(schema, wanted) }
      made.current = (await api.schema.createField.mutate({ tableId, field: created })).id
    }
    const fieldId = setup.fieldId === FRESH ? made.current : setup.fieldId
    const options = setupOptions(kind, { ...setup, fieldId }, copied)
    const view = await api.views.create.mutate({
      tableId,
      title: title.trim(),
      kind,
      ...(options && { options }),
      ...(copied && { copyOf: copied.id }),
    })
    await cache.schema.table.invalidate({ tableId })
    setExpanded(tableId, true)
    onClose()
    goTo(paths.table(baseId, tableId, view.id))
  }
  const { problem, setProblem, isBusy, submit } = useSubmit(create, () => {})

  return (
    <Dialog
      title={newLabel()}
      onClose={onClose}
      onSubmit={() => isEmpty || submit()}
      footer={
        <>
          <Button onClick={onClose}>{m.common_cancel()}</Button>
          <Button type="submit" variant="primary" busy={isBusy} disabled={isEmpty}>
            {m.views_create_view()}
          </Button>
        </>
      }
    >
      <div className={styles.form}>
        <p className={styles.purpose}>
          <Icon size={18} />
          {purpose()}
        </p>
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
          error={isEmpty ? m.common_enter_a_name() : problem}
        />
        {need && (
          <div className={styles.pair}>
            <SelectField
              label={need.label()}
              value={setup.fieldId ?? ''}
              help={
                setup.fieldId === FRESH && fields.length === 0 ? m.views_table_no_such_field_yet() : undefined
              }
              onChange={(event) => setSetup({ ...setup, fieldId: event.target.value || null })}
            >
              {fields.map((field) => (
                <option key={field.id} value={field.id}>
                  {field.title}
                </option>
              ))}
              {fields.length === 0 && !mayMake && (
                <option value="">{m.views_table_no_suitable_field()}</option>
              )}
              {mayMake && (
                <option value={FRESH}>
                  {m.views_new_field_title({ title: freeTitle(schema, need.fresh().title) })}
                </option>
              )}
            </SelectField>
            {viewKind(kind).setup?.hasEnd && (
              <SelectField
                label={m.views_to()}
                value={setup.toFieldId ?? ''}
                onChange={(event) => setSetup({ ...setup, toFieldId: event.target.value || null })}
              >
                <option value="">{m.views_the_same_day()}</option>
                {fields.map((field) => (
                  <option key={field.id} value={field.id} disabled={field.id === setup.fieldId}>
                    {field.title}
                  </option>
                ))}
              </SelectField>
            )}
          </div>
        )}
        <SelectField
          label={m.views_copy_from()}
          value={copyOf}
          help={copied && m.views_copies_fields_filters_sorts_colours()}
          onChange={(event) => {
            const view = schema.views.find(({ id }) => id === event.target.value)
            setCopyOf(event.target.value)
            if (view?.kind === kind) setSetup(first(view))
          }}
        >
          <option value="">{m.views_start_from_scratch()}</option>
          {schema.views.map((view) => (
            <option key={view.id} value={view.id}>
              {view.title}
            </option>
          ))}
        </SelectField>
      </div>
    </Dialog>
  )
}

/** The title, with a number appended if a field already has it. */
function freeTitle({ fields }: TableSchema, title: string): string {
  const titles = fields.map((field) => field.title)
  return titles.some((one) => one.toLowerCase() === title.toLowerCase()) ? unusedTitle(title, titles) : title
}
