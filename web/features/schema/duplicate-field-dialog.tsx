import { useState } from 'react'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import type { Field, Table } from '../../../src/core/model.ts'
import { t } from '../../i18n.ts'
import styles from '../copies/copies.module.css'
import { CopyDialog, Tick } from '../copies/copy-dialog.tsx'
import { type FieldPlace, startFieldCopy } from './start-field-copy.ts'

export interface DuplicateFieldDialogProps {
  table: Pick<Table, 'id' | 'baseId'>
  field: Field
  place: FieldPlace
  onClose: () => void
}

/** Copies a field that has values, or links: asks whether they go along. */
export function DuplicateFieldDialog({ table, field, place, onClose }: DuplicateFieldDialogProps) {
  const [withData, setWithData] = useState(true)
  const link = linkOf(field)
  return (
    <CopyDialog
      title={field.title}
      waiting={t('Duplicating the field. It appears next to the original when ready.')}
      start={() => startFieldCopy(table, field, { ...place, withData })}
      onClose={onClose}
    >
      <Tick
        label={link ? t('Include links') : t('Include values')}
        checked={withData}
        onChange={setWithData}
      />
      {link && link.relatedTableId !== table.id && (
        <p className={styles.text}>
          {t('Creates a new link field, with a matching field in the linked table.')}
        </p>
      )}
      {field.unique && <p className={styles.text}>{t('The copy allows duplicate values.')}</p>}
    </CopyDialog>
  )
}
