import { TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { fieldType } from '../../../../../src/core/fields/index.ts'
import type { TableSchema } from '../../../../../src/core/model.ts'
import { canBeAsked } from '../../../../../src/core/views/form-answers.ts'
import { CELLS } from '../../../../cells/index.ts'
import { t } from '../../../../i18n.ts'
import { Button } from '../../../../ui/button.tsx'
import toolbar from '../../controls/toolbar.module.css'
import styles from './builder.module.css'
import { FIELD_DRAG } from './question-card.tsx'
import type { FormBuilder } from './use-form-builder.ts'

/** Every field that the form can ask for: ticked where it does, to be dragged into its place. */
export function FieldList({ builder, schema }: { builder: FormBuilder; schema: TableSchema }) {
  const [text, setText] = useState('')
  const { askable, ask, select } = builder
  const wanted = text.trim().toLowerCase()
  const found = askable.filter(({ field }) => field.title.toLowerCase().includes(wanted))
  // What people never see elsewhere, e.g. the key that a link is kept by, is not spoken of here either.
  const others = schema.fields.filter(
    (field) =>
      !field.isSystem && !field.isPrimaryKey && !fieldType(field.type).internal && !canBeAsked(field),
  )
  const setAll = (isAsked: boolean) =>
    ask(
      found.filter((one) => one.isAsked !== isAsked).map(({ field }) => field.id),
      isAsked,
    )
  return (
    <>
      <input
        type="search"
        className={toolbar.input}
        placeholder={t('Find a field')}
        aria-label={t('Find a field')}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <div className={styles.row}>
        <Button size="small" disabled={found.every(({ isAsked }) => isAsked)} onClick={() => setAll(true)}>
          {t('Add all')}
        </Button>
        <Button size="small" disabled={!found.some(({ isAsked }) => isAsked)} onClick={() => setAll(false)}>
          {t('Remove all')}
        </Button>
      </div>
      <ul className={styles.fields}>
        {found.map(({ field, isAsked }) => {
          const { Icon } = CELLS[field.type]
          return (
            <li
              key={field.id}
              className={styles.field}
              data-testid="form-field"
              draggable
              onDragStart={(event) => {
                event.dataTransfer.setData(FIELD_DRAG, field.id)
                event.dataTransfer.effectAllowed = 'move'
              }}
            >
              <input
                type="checkbox"
                checked={isAsked}
                aria-label={t('Include {field}', { field: field.title })}
                onChange={(event) => {
                  ask([field.id], event.target.checked)
                }}
              />
              <button
                type="button"
                className={styles.fieldName}
                disabled={!isAsked}
                data-tip={isAsked ? t('Question settings') : undefined}
                onClick={() => select(field.id)}
              >
                <Icon size={14} aria-hidden />
                <span dir="auto">{field.title}</span>
                {field.required && <span className={styles.star}>*</span>}
              </button>
              {field.required && !isAsked && field.defaultValue === null && (
                <span
                  role="img"
                  className={styles.warning}
                  aria-label={t('Required field: responses can’t be saved without it')}
                  data-tip={t('Required field: responses can’t be saved without it')}
                >
                  <TriangleAlert size={14} aria-hidden />
                </span>
              )}
            </li>
          )
        })}
      </ul>
      {found.length === 0 && <p className={toolbar.hint}>{t('No matching fields')}</p>}
      {others.length > 0 && (
        <p className={styles.note}>
          {t('Not available in forms (read-only): {fields}', {
            fields: others.map(({ title }) => title).join(', '),
          })}
        </p>
      )}
    </>
  )
}
