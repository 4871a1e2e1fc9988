import { ArrowDownUp, Fingerprint, KeyRound, ListOrdered } from 'lucide-react'
import { autoNumber } from '../../src/core/fields/auto-number.ts'
import { foreignKey } from '../../src/core/fields/foreign-key.ts'
import { id } from '../../src/core/fields/id.ts'
import { order } from '../../src/core/fields/order.ts'
import { defineCell } from './cell.ts'
import styles from './view.module.css'

/** The record's number; read-only. */
export const idCell = defineCell(id, {
  Icon: Fingerprint,
  align: 'end',
  minWidth: 50,
  View: ({ value }) => (value === null ? null : <span className={styles.number}>{String(value)}</span>),
})

/** The record's place in its table: for the product's own use, shown only where system fields are. */
export const orderCell = defineCell(order, {
  Icon: ArrowDownUp,
  align: 'end',
  minWidth: 50,
  View: ({ value }) => (value === null ? null : <span className={styles.number}>{String(value)}</span>),
})

/** The number that a record got when it was made; read-only. */
export const autoNumberCell = defineCell(autoNumber, {
  Icon: ListOrdered,
  align: 'end',
  minWidth: 50,
  View: ({ value }) => (value === null ? null : <span className={styles.number}>{String(value)}</span>),
})

/** The key of a linked record: hidden unless a person shows it, changed through the link. */
export const foreignKeyCell = defineCell(foreignKey, {
  Icon: KeyRound,
  align: 'end',
  minWidth: 50,
  View: ({ value }) => (value === null ? null : <span className={styles.number}>{String(value)}</span>),
})
