import { ListOrdered } from 'lucide-react'
import { autoNumber } from '../../src/core/fields/auto-number.ts'
import { defineCell } from './cell.ts'
import styles from './view.module.css'

/** The number that a record got when it was made; read-only. */
export const autoNumberCell = defineCell(autoNumber, {
  Icon: ListOrdered,
  align: 'end',
  minWidth: 50,
  View: ({ value }) => (value === null ? null : <span className={styles.number}>{String(value)}</span>),
})
