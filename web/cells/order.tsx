import { ArrowDownUp } from 'lucide-react'
import { order } from '../../src/core/fields/order.ts'
import { defineCell } from './cell.ts'
import styles from './view.module.css'

/** The record's place in its table: for the product's own use, shown only where system fields are. */
export const orderCell = defineCell(order, {
  Icon: ArrowDownUp,
  align: 'end',
  minWidth: 50,
  View: ({ value }) => (value === null ? null : <span className={styles.number}>{String(value)}</span>),
})
