import { m } from '../../../messages.gen.ts'
import { Dialog } from '../../../ui/overlays.ts'
import styles from './paste-dialog.module.css'

/** Maximum listed texts. */
const MAX_LISTED = 500

/** A text that its field cannot store. */
export interface LeftOutText {
  /** Row number as the grid shows it, from 1. */
  row: number
  field: string
  text: string
  reason?: string | undefined
}

/** Texts that a paste or fill skipped, with their rows and fields. */
export function LeftOutDialog(props: { texts: readonly LeftOutText[]; onClose: () => void }) {
  const { texts, onClose } = props
  return (
    <Dialog title={m.records_invalid_values()} onClose={onClose}>
      <p className={styles.note}>{m.records_these_cells_were_not_changed()}</p>
      <table className={styles.table}>
        <thead>
          <tr>
            <th>{m.records_row()}</th>
            <th>{m.common_field()}</th>
            <th>{m.records_text()}</th>
          </tr>
        </thead>
        <tbody>
          {texts.slice(0, MAX_LISTED).map(({ row, field, text, reason }) => (
            <tr key={`${row} ${field}`}>
              <td>{row}</td>
              <td dir="auto">{field}</td>
              <td>
                <span dir="auto">{text}</span>
                {reason && <small className={styles.detail}>{reason}</small>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {texts.length > MAX_LISTED && (
        <p className={styles.note}>{m.common_more_count({ count: texts.length - MAX_LISTED })}</p>
      )}
    </Dialog>
  )
}
