import {
  type DraftColumn,
  type DraftTarget,
  type DraftUpdate,
  keyCandidates,
  keyFields,
} from '../../../src/core/imports/draft.ts'
import { m } from '../../messages.gen.ts'
import styles from './draft-view.module.css'

interface UpdateOptionsProps {
  columns: readonly DraftColumn[]
  target: Extract<DraftTarget, { kind: 'append' }>
  onChange: (target: DraftTarget) => void
}

/** Whether rows become new records or change existing ones, and how they find these. */
export function UpdateOptions({ columns, target, onChange }: UpdateOptionsProps) {
  const { update } = target
  const keys = new Set(keyFields(columns, target).map(({ id }) => id))
  const candidates = keyCandidates(columns, target)

  function change(patch: Partial<DraftUpdate>): void {
    onChange({
      ...target,
      update: { mode: 'updateAndAdd', emptyCells: 'keep', keys: null, ...update, ...patch },
    })
  }

  return (
    <div className={styles.options}>
      <label className={styles.option}>
        <span>{m.imports_rows()}</span>
        <select
          className={`${styles.select} ${styles.wide}`}
          value={update?.mode ?? 'append'}
          onChange={({ target: { value } }) => {
            if (value === 'append') onChange({ ...target, update: undefined })
            else change({ mode: value as DraftUpdate['mode'] })
          }}
        >
          <option value="append">{m.imports_add_records()}</option>
          <option value="updateAndAdd">{m.imports_update_and_add_records()}</option>
          <option value="update">{m.imports_only_update_records()}</option>
          <option value="add">{m.imports_only_add_records()}</option>
        </select>
      </label>
      {update && (
        <>
          <fieldset className={styles.keys}>
            <legend>{m.imports_find_records_by()}</legend>
            {candidates.map((field) => (
              <label key={field.id} className={styles.option}>
                <input
                  type="checkbox"
                  checked={keys.has(field.id)}
                  disabled={field.isPrimaryKey}
                  onChange={({ target: { checked } }) => {
                    const chosen = new Set(keys)
                    if (checked) chosen.add(field.id)
                    else chosen.delete(field.id)
                    change({ keys: [...chosen] })
                  }}
                />
                <bdi>{field.title}</bdi>
              </label>
            ))}
          </fieldset>
          {update.mode !== 'add' && (
            <label className={styles.option}>
              <span>{m.imports_empty_cells()}</span>
              <select
                className={styles.select}
                value={update.emptyCells}
                onChange={({ target: { value } }) =>
                  change({ emptyCells: value as DraftUpdate['emptyCells'] })
                }
              >
                <option value="keep">{m.imports_empty_cells_keep()}</option>
                <option value="clear">{m.imports_empty_cells_clear()}</option>
              </select>
            </label>
          )}
        </>
      )}
    </div>
  )
}
