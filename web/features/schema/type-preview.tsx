import { ArrowRight } from 'lucide-react'
import { shownType } from '../../../src/core/fields/field.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import type { Field } from '../../../src/core/model.ts'
import { messageOf } from '../../errors.ts'
import { t, tn } from '../../i18n.ts'
import { trpc } from '../../trpc.ts'
import { Skeleton } from '../../ui/states.tsx'
import type { FieldDraft } from './field-draft.ts'
import styles from './field-editor.module.css'

/** What converting a field would do to its values, before anything is saved. */
export function TypePreview({ field, draft }: { field: Field; draft: FieldDraft }) {
  const preview = trpc.schema.previewType.useQuery(
    { fieldId: field.id, type: draft.type, options: draft.options },
    { staleTime: 0, retry: false },
  )
  if (preview.error) {
    return (
      <p role="alert" className={styles.error}>
        {messageOf(preview.error)}
      </p>
    )
  }
  if (!preview.data) return <Skeleton height={34} />
  const { total, converted, lost, samples } = preview.data
  const shown = shownType(field)
  const text = (value: CellValue, type: Field['type'], options: Field['options']) => {
    if (value === null) return t('(empty)')
    // What becomes a link is told by the names of the records.
    return fieldType(type).computed === 'link' ? String(value) : fieldType(type).format(value, options)
  }
  return (
    <div
      className={styles.preview}
      data-lossy={lost > 0 || undefined}
      data-testid="type-preview"
      role="status"
    >
      {total === 0 && t('This field has no values yet.')}
      {total > 0 &&
        lost === 0 &&
        tn('1 value will be converted.', 'All {n} values will be converted.', converted)}
      {lost > 0 && (
        <strong>
          {tn(
            '1 value can’t be fully converted and will lose data.',
            '{n} values can’t be fully converted and will lose data.',
            lost,
          )}{' '}
        </strong>
      )}
      {lost > 0 && tn('1 will be converted.', '{n} will be converted.', converted)}
      {lost > 0 && ` ${t('Undo brings them back.')}`}
      {samples.length > 0 && (
        <ul className={styles.samples}>
          {samples.slice(0, 4).map((sample) => (
            <li key={sample.recordId} className={styles.sample}>
              <span dir="auto">{text(sample.from, shown.type.name as Field['type'], shown.options)}</span>
              <ArrowRight size={13} className="flip-in-rtl" aria-label={t('becomes')} />
              <span dir="auto">{text(sample.to, draft.type, draft.options)}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
