import { Braces } from 'lucide-react'
import { json } from '../../src/core/fields/json.ts'
import { defineCell } from './cell.ts'
import { JsonEditor } from './json-editor.tsx'
import styles from './mono.module.css'
import { TextView } from './text-view.tsx'
import view from './view.module.css'

/** JSON on one line; edited as text, which is checked as one types, or as a tree. */
export const jsonCell = defineCell(json, {
  Icon: Braces,
  align: 'start',
  minWidth: 80,
  View: ({ value, variant, lines }) =>
    value === null || value === '' ? null : variant === 'record' ? (
      <code className={`${view.recordText} ${styles.code}`} dir="ltr">
        {String(value)}
      </code>
    ) : (
      <code className={styles.codeLine} dir="ltr">
        <TextView value={oneLine(String(value))} variant={variant} lines={lines} />
      </code>
    ),
  Editor: JsonEditor,
})

/** A grid's cell shows the beginning; line breaks between its parts would hide all but a bracket. */
const oneLine = (text: string): string =>
  text.slice(0, 2000).replace(/\s+/g, (blank) => (blank.includes('\n') ? ' ' : blank))
