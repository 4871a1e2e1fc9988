import { KeyRound } from 'lucide-react'
import { foreignKey } from '../../src/core/fields/foreign-key.ts'
import { defineCell } from './cell.ts'
import styles from './view.module.css'

/** The key of a linked record: hidden unless a person shows it, changed through the link. */
export const foreignKeyCell = defineCell(foreignKey, {
  Icon: KeyRound,
  align: 'end',
  minWidth: 50,
  View: ({ value }) => (value === null ? null : <span className={styles.number}>{String(value)}</span>),
})
