import type { ReactNode } from 'react'
import { type CellValue, completeOptions } from '../../src/core/fields/field-type.ts'
import type { Field } from '../../src/core/model.ts'
import { m } from '../messages.gen.ts'
import { keyed } from '../ui/keyed.ts'
import { Dialog } from '../ui/overlays.ts'
import { cellOf } from './cell.ts'
import { cellText } from './cell-text.ts'
import { listIn } from './link-value.ts'
import styles from './list-dialog.module.css'

/** Maximum number of values drawn; the dialog counts the rest. */
const MAX_DRAWN = 1000

interface ListDialogProps {
  field: Field
  value: CellValue
  onClose: () => void
}

/** All values of a list cell. */
export function ListDialog({ field, value, onClose }: ListDialogProps): ReactNode {
  const { result } = field
  if (!result) return null
  const { View, type } = cellOf(result.type)
  const options = completeOptions(type, result.options)
  const values = listIn(value)
  const rest = values.length - MAX_DRAWN
  return (
    <Dialog title={field.title} onClose={onClose}>
      <ul className={styles.list} aria-label={cellText(field, value).slice(0, 200)} data-testid="list-dialog">
        {keyed(values.slice(0, MAX_DRAWN)).map(({ key, item: one }) => (
          <li key={key} className={styles.value}>
            {one === null || one === '' ? (
              <span className={styles.nothing}>{m.common_empty()}</span>
            ) : (
              <View value={one} field={field} options={options} variant="record" width={null} lines={1000} />
            )}
          </li>
        ))}
      </ul>
      {rest > 0 && <p className={styles.nothing}>{m.common_more_count({ count: rest })}</p>}
    </Dialog>
  )
}
