import { ChevronDown } from 'lucide-react'
import { useState } from 'react'
import type { Choice } from '../../../src/core/fields/choices.ts'
import { hasSingleChoice, isBoolean } from '../../../src/core/fields/traits.ts'
import type { Field, TableSchema, View } from '../../../src/core/model.ts'
import { questionsOf } from '../../../src/core/views/form-answers.ts'
import { m } from '../../messages.gen.ts'
import { SelectField, TextField } from '../../ui/field.tsx'
import { canPrefill, isPrefillValue, PREFILL_MODES, type PrefillMode, prefillAddress } from './prefill.ts'
import styles from './share-dialog.module.css'
import { CopyButton } from './share-link.tsx'

export interface PrefillBuilderProps {
  address: string
  schema: TableSchema
  view: View
}

/** Builds a link to a form with prefilled answers. */
export function PrefillBuilder({ address, schema, view }: PrefillBuilderProps) {
  const [isOpen, setOpen] = useState(false)
  const [texts, setTexts] = useState<Record<string, string>>({})
  const [mode, setMode] = useState<PrefillMode>('editable')
  const fields = questionsOf(view, schema.fields)
    .map(({ field }) => field)
    .filter(canPrefill)
  const values = fields
    .map((field) => ({ title: field.title, text: texts[field.id] ?? '', field }))
    .filter(({ field, text }) => isPrefillValue(field, text))
  const link = prefillAddress(address, values, mode)

  return (
    <div className={styles.prefill}>
      <button type="button" className={styles.fold} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <ChevronDown size={14} aria-hidden />
        {m.shares_prefilled_link()}
      </button>
      {isOpen && (
        <>
          <div className={styles.prefillFields}>
            {fields.map((field) => (
              <PrefillValue
                key={field.id}
                field={field}
                text={texts[field.id] ?? ''}
                onChange={(text) => setTexts({ ...texts, [field.id]: text })}
              />
            ))}
          </div>
          <SelectField
            label={m.shares_prefilled_answers_are()}
            value={mode}
            onChange={(event) =>
              setMode(PREFILL_MODES.find((one) => one === event.target.value) ?? 'editable')
            }
          >
            <option value="editable">{m.shares_editable()}</option>
            <option value="read-only">{m.shares_read_only()}</option>
            <option value="hidden">{m.shares_hidden()}</option>
          </SelectField>
          <div className={styles.embed}>
            <textarea
              readOnly
              dir="ltr"
              rows={2}
              aria-label={m.shares_prefilled_link()}
              value={link}
              onFocus={(event) => event.currentTarget.select()}
            />
            <CopyButton text={link} />
          </div>
        </>
      )}
    </div>
  )
}

function PrefillValue({
  field,
  text,
  onChange,
}: {
  field: Field
  text: string
  onChange: (text: string) => void
}) {
  const choices = choicesOf(field)
  if (choices) {
    return (
      <SelectField label={field.title} value={text} onChange={(event) => onChange(event.target.value)}>
        <option value="">{m.shares_nothing()}</option>
        {choices.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </SelectField>
    )
  }
  return (
    <TextField
      label={field.title}
      value={text}
      error={isPrefillValue(field, text) ? null : m.shares_invalid_field_not_included()}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}

function choicesOf(field: Field): { value: string; label: string }[] | null {
  if (isBoolean(field)) {
    return [
      { value: 'true', label: m.common_checked() },
      { value: 'false', label: m.shares_unchecked() },
    ]
  }
  if (!hasSingleChoice(field)) return null
  const { choices = [] } = field.options as { choices?: Choice[] }
  return choices.map(({ title }) => ({ value: title, label: title }))
}
