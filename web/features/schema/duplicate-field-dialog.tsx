import { useState } from 'react'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import type { Field } from '../../../src/core/model.ts'
import { m } from '../../messages.gen.ts'
import { Checkbox } from '../../ui/checkbox.tsx'
import styles from '../copies/copies.module.css'
import { CopyDialog, type StartedCopy } from '../copies/copy-dialog.tsx'

export interface DuplicateFieldDialogProps {
  tableId: string
  field: Field
  start: (withData: boolean) => Promise<StartedCopy>
  onClose: () => void
}

/** Asks whether to copy the values or links of a duplicated field. */
export function DuplicateFieldDialog({ tableId, field, start, onClose }: DuplicateFieldDialogProps) {
  const [withData, setWithData] = useState(true)
  const link = linkOf(field)
  return (
    <CopyDialog
      title={field.title}
      waiting={m.schema_duplicating_field_appears_next_original()}
      start={() => start(withData)}
      onClose={onClose}
    >
      <Checkbox
        label={link ? m.schema_include_links() : m.schema_include_values()}
        checked={withData}
        onChange={setWithData}
      />
      {link && link.relatedTableId !== tableId && (
        <p className={styles.text}>{m.schema_copy_link_field_hint()}</p>
      )}
      {field.unique && <p className={styles.text}>{m.schema_the_copy_allows_duplicate_values()}</p>}
    </CopyDialog>
  )
}
