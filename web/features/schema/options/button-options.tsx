import { Plus, X } from 'lucide-react'
import { isComputed } from '../../../../src/core/fields/field.ts'
import type { CellValue } from '../../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../../src/core/fields/index.ts'
import { holdsFiles, isSecret } from '../../../../src/core/fields/traits.ts'
import type { Field, Table } from '../../../../src/core/model.ts'
import { m } from '../../../messages.gen.ts'
import { hrefOf, paths } from '../../../navigation/paths.ts'
import { trpc } from '../../../trpc.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { SelectField } from '../../../ui/field.tsx'
import { QueryError, Skeleton } from '../../../ui/states.tsx'
import { DefaultValue } from '../default-value.tsx'
import optionStyles from './options.module.css'

interface ButtonWebhookProps {
  table: Pick<Table, 'id' | 'baseId'>
  webhookId: unknown
  onChange: (webhookId: string | null) => void
}

/** Chooses one of the webhooks that are triggered by hand. */
export function ButtonWebhook({ table, webhookId, onChange }: ButtonWebhookProps) {
  const hooks = trpc.hooks.manual.useQuery({ tableId: table.id }, { staleTime: 0 })
  if (hooks.error && !hooks.data) return <QueryError title={m.hooks_load_failed()} query={hooks} />
  if (!hooks.data) return <Skeleton height={60} />
  const isKnown = hooks.data.some(({ id }) => id === webhookId)
  return (
    <>
      <SelectField
        label={m.hooks_webhook()}
        value={isKnown ? String(webhookId) : ''}
        error={typeof webhookId === 'string' && !isKnown ? m.schema_button_webhook_gone() : null}
        onChange={({ target }) => onChange(target.value || null)}
      >
        <option value="">{m.common_choose()}</option>
        {hooks.data.map(({ id, title }) => (
          <option key={id} value={id}>
            {title}
          </option>
        ))}
      </SelectField>
      {hooks.data.length === 0 && (
        <p className={optionStyles.note}>
          {m.schema_button_no_webhooks()}{' '}
          <a href={hrefOf(paths.webhooks(table.baseId, { tableId: table.id }))}>{m.hooks_webhooks()}</a>
        </p>
      )}
    </>
  )
}

const PRESS_TEXTS = { label: m.hooks_value, checked: m.schema_button_checked, me: m.schema_button_me }

interface ButtonValuesProps {
  table: Pick<Table, 'id' | 'baseId'>
  values: Readonly<Record<string, CellValue>>
  onChange: (values: Record<string, CellValue>) => void
}

/** The fields that a press changes, with their new values. */
export function ButtonValues({ table, values, onChange }: ButtonValuesProps) {
  const schema = trpc.schema.table.useQuery({ tableId: table.id })
  if (schema.error && !schema.data)
    return <QueryError title={m.schema_button_fields_failed()} query={schema} />
  if (!schema.data) return <Skeleton height={60} />
  const writable = schema.data.fields.filter(isWritable)
  const free = writable.filter(({ id }) => !(id in values))
  const [next] = free
  const without = (fieldId: string) =>
    Object.fromEntries(Object.entries(values).filter(([id]) => id !== fieldId))
  return (
    <>
      {Object.entries(values).map(([fieldId, value]) => {
        const field = writable.find(({ id }) => id === fieldId)
        return (
          <div key={fieldId} className={optionStyles.buttonValue} data-testid="button-value">
            <SelectField
              label={m.common_field()}
              value={fieldId}
              onChange={({ target }) => onChange({ ...without(fieldId), [target.value]: null })}
            >
              {!field && <option value={fieldId}>{m.views_deleted_field()}</option>}
              {writable
                .filter(({ id }) => id === fieldId || !(id in values))
                .map(({ id, title }) => (
                  <option key={id} value={id}>
                    {title}
                  </option>
                ))}
            </SelectField>
            {field && (
              <DefaultValue
                baseId={table.baseId}
                draft={{ type: field.type, options: field.options, defaultValue: value }}
                texts={PRESS_TEXTS}
                onChange={(changed) => onChange({ ...values, [fieldId]: changed })}
              />
            )}
            <IconButton
              icon={X}
              size="small"
              label={m.schema_button_remove_value({ field: field?.title ?? '' })}
              onClick={() => onChange(without(fieldId))}
            />
          </div>
        )
      })}
      {next && (
        <Button
          size="small"
          icon={Plus}
          className={optionStyles.add}
          onClick={() => onChange({ ...values, [next.id]: null })}
        >
          {m.schema_button_add_value()}
        </Button>
      )}
    </>
  )
}

/** True for fields that a button can write a fixed value into. */
function isWritable(field: Field): boolean {
  const { readOnly, systemColumn } = fieldType(field.type)
  const isGiven = isComputed(field) || readOnly || systemColumn !== undefined || field.isSystem
  return !isGiven && field.readOnlyReason === null && !holdsFiles(field) && !isSecret(field)
}
