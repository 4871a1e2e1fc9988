import { ArrowDownUp, Fingerprint, KeyRound, ListOrdered, type LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { autoNumber } from '../../src/core/fields/auto-number.ts'
import type { FieldType } from '../../src/core/fields/field-type.ts'
import { foreignKey } from '../../src/core/fields/foreign-key.ts'
import { id } from '../../src/core/fields/id.ts'
import { order } from '../../src/core/fields/order.ts'
import { type Cell, defineCell, type ViewProps } from './cell.ts'
import styles from './view.module.css'

/** A read-only key or number that the server assigns. */
const keyCell = <O,>(type: FieldType<O>, Icon: LucideIcon): Cell<O> =>
  defineCell<O>(type, {
    Icon,
    align: 'end',
    minWidth: 50,
    View: KeyText,
  })

const KeyText = ({ value }: Pick<ViewProps, 'value'>): ReactNode =>
  value === null ? null : <span className={styles.number}>{String(value)}</span>

/** The record's number. */
export const idCell = keyCell(id, Fingerprint)

/** The record's position in its table; internal, shown only among system fields. */
export const orderCell = keyCell(order, ArrowDownUp)

/** A number assigned when the record is created. */
export const autoNumberCell = keyCell(autoNumber, ListOrdered)

/** The key of a linked record; hidden by default and changed through the link. */
export const foreignKeyCell = keyCell(foreignKey, KeyRound)
