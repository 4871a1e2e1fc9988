import { useId } from 'react'
import type { CellValue } from '../../../../src/core/fields/field-type.ts'
import type { Field, RecordId } from '../../../../src/core/model.ts'
import type { FileTarget } from '../../../attachments/file-target.ts'
import type { LinkTarget } from '../../../cells/cell.ts'
import { CellInput } from '../../../cells/cell-input.tsx'
import { CELLS } from '../../../cells/index.ts'
import { m } from '../../../messages.gen.ts'
import { FieldEditor } from '../../presence/others-at.tsx'
import { LinkedList } from './linked-list.tsx'
import styles from './record-panel.module.css'

export interface RecordFieldProps {
  /** The open record; null for one that is not saved yet. */
  recordId: RecordId | null
  field: Field
  value: CellValue
  canEdit: boolean
  /** Called on blur with a changed value; `opened` is the value at the beginning of the edit. */
  onCommit: (value: CellValue, opened: CellValue) => void
  error?: string | null
  createOption?: (title: string) => Promise<boolean>
  files?: FileTarget
  links?: LinkTarget
  /** Hides the label visually when the field's title is shown next to it. */
  hidesLabel?: boolean
}

/** A field of an open record below its title. */
export function RecordField(props: RecordFieldProps) {
  const { field, value, canEdit, onCommit, error, createOption, hidesLabel = false } = props
  const id = useId()
  const { Icon } = CELLS[field.type]
  return (
    <div className={styles.field} data-testid="record-field" data-field={field.id}>
      <label htmlFor={id} className={hidesLabel ? 'visually-hidden' : styles.label}>
        <Icon size={13} aria-hidden />
        <span dir="auto">{field.title}</span>
        {field.required && (
          <span role="img" className={styles.required} aria-label={m.common_required()}>
            *
          </span>
        )}
      </label>
      {props.recordId !== null && <FieldEditor recordId={props.recordId} fieldId={field.id} />}
      {props.links ? (
        <LinkedList id={id} field={field} value={value} links={props.links} error={error ?? null} />
      ) : (
        <CellInput
          id={id}
          field={field}
          value={value}
          readOnly={!canEdit}
          error={error}
          createOption={createOption}
          files={props.files}
          onCommit={onCommit}
          commitsOnRemoval={props.recordId !== null}
        />
      )}
      {field.description && (
        <small className={styles.help} dir="auto">
          {field.description}
        </small>
      )}
    </div>
  )
}
