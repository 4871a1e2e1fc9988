import { Fingerprint } from 'lucide-react'
import { id } from '../../src/core/fields/id.ts'
import { defineCell } from './cell.ts'
import styles from './view.module.css'

/** The record's number; read-only. */
export const idCell = defineCell(id, {
  Icon: Fingerprint,
  align: 'end',
  minWidth: 50,
  View: ({ value }) => (value === null ? null : <span className={styles.number}>{String(value)}</span>),
})
