import { Braces } from 'lucide-react'
import { json } from '../../src/core/fields/json.ts'
import { defineCell, lazyEditor } from './cell.ts'
import styles from './mono.module.css'
import { TextView } from './text-view.tsx'
import view from './view.module.css'

/** JSON on one line; edited as validated text or as a tree. */
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
  Editor: lazyEditor(() => import('./json-editor.tsx'), 'JsonEditor'),
})

/** One line for the grid cell, which would otherwise show only a bracket. */
const oneLine = (text: string): string =>
  text.slice(0, 2000).replace(/\s+/g, (blank) => (blank.includes('\n') ? ' ' : blank))
