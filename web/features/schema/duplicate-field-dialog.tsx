import { useState } from 'react'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import type { Field, Table } from '../../../src/core/model.ts'
import { m } from '../../messages.gen.ts'
import styles from '../copies/copies.module.css'
import { CopyDialog, Tick } from '../copies/copy-dialog.tsx'
import { type FieldPlace, startFieldCopy } from './start-field-copy.ts'

export interface DuplicateFieldDialogProps {
  table: Pick<Table, 'id' | 'baseId'>
  field: Field
  place: FieldPlace
  onClose: () => void
}

/** Asks whether to copy the values or links of a duplicated field. */
export function DuplicateFieldDialog({ table, field, place, onClose }: DuplicateFieldDialogProps) {
  const [withData, setWithData] = useState(true)
  const link = linkOf(field)
  return (
    <CopyDialog
      title={field.title}
      waiting={m.schema_duplicating_field_appears_next_original()}
      start={() => startFieldCopy(table, field, { ...place, withData })}
      onClose={onClose}
    >
      <Tick
        label={link ? m.schema_include_links() : m.schema_include_values()}
        checked={withData}
        onChange={setWithData}
      />
      {link && link.relatedTableId !== table.id && (
        <p className={styles.text}>{m.schema_copy_link_field_hint()}</p>
      )}
      {field.unique && <p className={styles.text}>{m.schema_the_copy_allows_duplicate_values()}</p>}
    </CopyDialog>
  )
}
