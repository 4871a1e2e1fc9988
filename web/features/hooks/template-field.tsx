import { Braces } from 'lucide-react'
import { useId, useRef } from 'react'
import type { Field } from '../../../src/core/model.ts'
import { isProblem, parseTemplate, type TemplateKind } from '../../../src/core/templates/template.ts'
import { m } from '../../messages.gen.ts'
import { IconButton } from '../../ui/button.tsx'
import { TextArea, TextField } from '../../ui/field.tsx'
import { type MenuItem, openMenu } from '../../ui/menu.tsx'
import styles from './hooks.module.css'

interface TemplateFieldProps {
  label: string
  help?: string
  placeholder?: string
  value: string
  onChange: (value: string) => void
  /** What the template is the text of, which decides about its escaping and mistakes. */
  kind: TemplateKind
  /** The fields that the menu offers. */
  fields: readonly Field[]
  /** A text area of so many lines; absent: one line. */
  rows?: number
  maxLength?: number
  required?: boolean
  autoFocus?: boolean
}

/** An input for a template, with its first mistake and a menu that inserts the values of the event. */
export function TemplateField(props: TemplateFieldProps) {
  const { label, help, value, onChange, kind, fields, rows, autoFocus, ...input } = props
  const inputId = useId()
  const parsed = parseTemplate(value, kind)
  const control = useRef<HTMLInputElement | HTMLTextAreaElement>(null)
  const hold = (element: HTMLInputElement | HTMLTextAreaElement | null) => {
    control.current = element
  }

  function insert(text: string) {
    const element = control.current
    const [start, end] = [element?.selectionStart ?? value.length, element?.selectionEnd ?? value.length]
    onChange(value.slice(0, start) + text + value.slice(end))
    // After the menu has given the focus back and the new value is drawn.
    requestAnimationFrame(() => {
      element?.focus()
      element?.setSelectionRange(start + text.length, start + text.length)
    })
  }

  const menu = (
    <IconButton
      icon={Braces}
      size="small"
      label={m.hooks_insert_value()}
      className={styles.insert}
      aria-haspopup="menu"
      aria-controls={inputId}
      onClick={({ currentTarget }) =>
        openMenu(currentTarget, insertMenu(fields, insert), m.hooks_insert_value())
      }
    />
  )
  const shared = {
    ...input,
    label,
    help,
    value,
    error: isProblem(parsed) ? m.hooks_template_problem(parsed) : null,
    after: menu,
    spellCheck: false,
    // Addresses and JSON are written from left to right in every language.
    dir: kind === 'text' ? 'auto' : 'ltr',
    'data-autofocus': autoFocus || undefined,
  }
  return rows === undefined ? (
    <TextField {...shared} ref={hold} onChange={(event) => onChange(event.target.value)} />
  ) : (
    <TextArea {...shared} ref={hold} rows={rows} onChange={(event) => onChange(event.target.value)} />
  )
}

function insertMenu(fields: readonly Field[], insert: (text: string) => void): MenuItem[] {
  const item = (label: string, text: string): MenuItem => ({
    kind: 'action',
    label,
    run: () => insert(text),
  })
  return [
    item(m.hooks_whole_event(), '{{ json event }}'),
    item(m.hooks_all_records(), '{{ json event.data.rows }}'),
    item(m.hooks_table_name(), '{{ event.data.table_name }}'),
    { kind: 'separator' },
    { kind: 'heading', label: m.hooks_fields_of_record() },
    ...fields.flatMap(({ title }) => (isReferable(title) ? [item(title, valueTemplate(title))] : [])),
  ]
}

/** A template with the name of the record; empty if its field cannot be referred to. */
export function nameTemplate(fields: readonly Field[]): string {
  const title = fields.find(({ isDisplay }) => isDisplay)?.title
  return title !== undefined && isReferable(title) ? valueTemplate(title) : ''
}

const valueTemplate = (title: string): string => `{{ ${valuePath(title)} }}`

/** Templates have no escape for these characters. */
const isReferable = (title: string): boolean => !title.includes(']') && !title.includes('}}')

/** The path of a field’s value in the first record of an event, e.g. `event.data.rows.[0].[First name]`. */
const valuePath = (title: string): string =>
  `event.data.rows.[0].${/^[\p{L}_][\p{L}\p{N}_]*$/u.test(title) ? title : `[${title}]`}`
