import { type ReactNode, useId, useState } from 'react'
import { acceptsNow, NOW } from '../../../src/core/fields/default-value.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { idsIn, joinIds, ME } from '../../../src/core/fields/people.ts'
import { hasSingleChoice, holdsPeople, isBoolean } from '../../../src/core/fields/traits.ts'
import { m } from '../../messages.gen.ts'
import { trpc } from '../../trpc.ts'
import { TextArea, TextField } from '../../ui/field.tsx'
import toolbar from '../views/controls/toolbar.module.css'
import { choicesOf } from './field-commands.tsx'
import type { FieldDraft } from './field-draft.ts'
import styles from './field-editor.module.css'

type ValueDraft = Pick<FieldDraft, 'type' | 'options' | 'defaultValue'>

interface ValueTexts {
  label: () => string
  /** Of a ticked checkbox. */
  checked: () => string
  /** The person that `@me` stands for. */
  me: () => string
}

const DEFAULT_TEXTS: ValueTexts = {
  label: m.schema_default_value,
  checked: m.schema_checked_in_new_records,
  me: m.schema_creator_of_the_record,
}

interface DefaultValueProps {
  baseId: string
  draft: ValueDraft
  /** For a value that is written at another time than the default of a new record. */
  texts?: ValueTexts
  onChange: (value: CellValue) => void
}

/** Editor of a field's default value. */
export function DefaultValue({ baseId, draft, texts = DEFAULT_TEXTS, onChange }: DefaultValueProps) {
  const { type, defaultValue } = draft
  if (isBoolean({ type })) {
    return (
      <label className={styles.check}>
        <input
          type="checkbox"
          checked={defaultValue === true}
          onChange={(event) => onChange(event.target.checked || null)}
        />
        {texts.checked()}
      </label>
    )
  }
  if (holdsPeople(draft)) {
    const multiple = draft.options.multiple === true
    return (
      <DefaultPeople
        baseId={baseId}
        value={defaultValue}
        multiple={multiple}
        texts={texts}
        onChange={onChange}
      />
    )
  }
  if (hasSingleChoice({ type })) {
    return (
      <DefaultSelect
        label={texts.label()}
        value={typeof defaultValue === 'string' ? defaultValue : ''}
        onChange={(value) => onChange(value || null)}
      >
        {choicesOf(draft).map(({ title }) => (
          <option key={title} value={title}>
            {title}
          </option>
        ))}
      </DefaultSelect>
    )
  }
  if (acceptsNow(type)) return <MomentDefault key={type} draft={draft} texts={texts} onChange={onChange} />
  // `key`: another type starts with an empty text.
  return <TypedDefault key={type} draft={draft} label={texts.label()} onChange={onChange} />
}

/** Default of a date or time field: none, the creation time, or a fixed value. */
function MomentDefault({ draft, texts, onChange }: Required<Omit<DefaultValueProps, 'baseId'>>) {
  const { type, defaultValue } = draft
  const [isFixed, setFixed] = useState(defaultValue !== null && defaultValue !== NOW)
  const other = isFixed ? 'fixed' : ''
  return (
    <>
      <DefaultSelect
        label={texts.label()}
        value={defaultValue === NOW ? 'now' : other}
        onChange={(value) => {
          setFixed(value === 'fixed')
          onChange(value === 'now' ? NOW : null)
        }}
      >
        <option value="now">{nowLabel(type)}</option>
        <option value="fixed">
          {fieldType(type).storage === 'time' ? m.schema_specific_time() : m.schema_specific_date()}
        </option>
      </DefaultSelect>
      {isFixed && <TypedDefault draft={draft} label={m.schema_specific_value()} onChange={onChange} />}
    </>
  )
}

function nowLabel(type: FieldDraft['type']): string {
  const { storage } = fieldType(type)
  if (storage === 'time') return m.schema_current_time()
  return storage === 'date' ? m.schema_current_date() : m.schema_current_date_and_time()
}

function TypedDefault({
  draft,
  label,
  onChange,
}: {
  draft: ValueDraft
  label: string
  onChange: (value: CellValue) => void
}) {
  const type = fieldType(draft.type)
  const [text, setText] = useState(() =>
    draft.defaultValue === null ? '' : type.format(draft.defaultValue, draft.options),
  )
  const isUnfit = text.trim() !== '' && type.parse(text, draft.options) === null
  const input = {
    label,
    placeholder: type.example,
    value: text,
    error: isUnfit ? m.schema_invalid_type_not_saved() : null,
    onChange({ target }: { target: { value: string } }) {
      setText(target.value)
      onChange(target.value.trim() === '' ? null : type.parse(target.value, draft.options))
    },
  }
  // Inputs of one line remove the line breaks of their value.
  return type.storage === 'longText' ? <TextArea {...input} /> : <TextField {...input} />
}

interface DefaultPeopleProps {
  baseId: string
  value: CellValue
  multiple: boolean
  texts: ValueTexts
  onChange: (value: CellValue) => void
}

/** Default of a user field: the record's creator, or members of the base. */
function DefaultPeople({ baseId, value, multiple, texts, onChange }: DefaultPeopleProps) {
  const people = trpc.records.people.useQuery({ baseId }).data ?? []
  const ids = idsIn(value)
  const offered = [
    { id: ME, name: texts.me() },
    ...people.map((person) => ({ id: person.id, name: person.displayName || person.email })),
  ]
  if (multiple) {
    return (
      <fieldset className={styles.people}>
        <legend>{texts.label()}</legend>
        {offered.map((one) => (
          <label key={one.id} className={styles.check}>
            <input
              type="checkbox"
              checked={ids.includes(one.id)}
              onChange={({ target }) =>
                onChange(joinIds(target.checked ? [...ids, one.id] : ids.filter((each) => each !== one.id)))
              }
            />
            <span dir="auto">{one.name}</span>
          </label>
        ))}
      </fieldset>
    )
  }
  return (
    <DefaultSelect label={texts.label()} value={ids[0] ?? ''} onChange={(value) => onChange(value || null)}>
      {offered.map((one) => (
        <option key={one.id} value={one.id}>
          {one.name}
        </option>
      ))}
    </DefaultSelect>
  )
}

interface DefaultSelectProps {
  label: string
  value: string
  onChange: (value: string) => void
  /** The options besides "None". */
  children: ReactNode
}

function DefaultSelect({ label, value, onChange, children }: DefaultSelectProps) {
  const id = useId()
  return (
    <div className={styles.part}>
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        className={toolbar.select}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      >
        <option value="">{m.common_none()}</option>
        {children}
      </select>
    </div>
  )
}
