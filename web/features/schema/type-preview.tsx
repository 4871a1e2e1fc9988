import { ArrowRight } from 'lucide-react'
import { shownType } from '../../../src/core/fields/field.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import type { Field } from '../../../src/core/model.ts'
import { messageOf } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
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
    if (value === null) return m.common_empty()
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
      {total === 0 && m.schema_field_no_values_yet()}
      {total > 0 && lost === 0 && m.schema_all_values_will_be_converted({ count: converted })}
      {lost > 0 && <strong>{m.schema_values_cant_fully_converted_lose({ count: lost })} </strong>}
      {lost > 0 && m.schema_will_be_converted({ count: converted })}
      {lost > 0 && ` ${m.schema_undo_brings_them_back()}`}
      {samples.length > 0 && (
        <ul className={styles.samples}>
          {samples.slice(0, 4).map((sample) => (
            <li key={sample.recordId} className={styles.sample}>
              <span dir="auto">{text(sample.from, shown.type.name as Field['type'], shown.options)}</span>
              <ArrowRight size={13} className="flip-in-rtl" aria-label={m.schema_becomes()} />
              <span dir="auto">{text(sample.to, draft.type, draft.options)}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
