import type { LucideIcon } from 'lucide-react'
import type { FieldType } from '../../src/core/fields/field-type.ts'
import type { InstantOptions } from '../../src/core/fields/instant-text.ts'
import { type Cell, defineCell } from './cell.ts'
import { showInstant } from './instant.ts'
import styles from './view.module.css'

/** An instant that the server fills in: shown like any other, never edited. */
export const systemTimeCell = (type: FieldType<InstantOptions>, Icon: LucideIcon): Cell<InstantOptions> =>
  defineCell<InstantOptions>(type, {
    Icon,
    align: 'start',
    minWidth: 120,
    shownText: (value, options) => (value === null ? undefined : showInstant(value, options)),
    View: ({ value, options }) =>
      value === null ? null : (
        <span className={styles.date} dir="ltr">
          {showInstant(value, options)}
        </span>
      ),
  })
