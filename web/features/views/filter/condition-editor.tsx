import type { Condition } from '../../../../src/core/filters/index.ts'
import type { Field, Person } from '../../../../src/core/model.ts'
import { m } from '../../../messages.gen.ts'
import toolbar from '../controls/toolbar.module.css'
import { ConditionValue } from './condition-value.tsx'
import { operatorChoices, withField, withOperator } from './filter-edit.ts'
import styles from './filter-menu.module.css'

export interface ConditionEditorProps {
  condition: Condition
  fields: readonly Field[]
  people: readonly Person[]
  /** False while it lacks a value: drawn grey, without effect. */
  isActive: boolean
  onChange: (condition: Condition) => void
}

/** One comparison: field, operator, value. */
export function ConditionEditor({ condition, fields, people, isActive, onChange }: ConditionEditorProps) {
  const field = fields.find(({ id }) => id === condition.fieldId)
  return (
    <div className={styles.condition} data-inactive={!isActive || undefined}>
      <select
        className={`${toolbar.select} ${styles.field}`}
        aria-label={m.common_field()}
        value={condition.fieldId}
        onChange={(event) => {
          const next = fields.find(({ id }) => id === event.target.value)
          if (next) onChange(withField(condition, next, field))
        }}
      >
        {!field && <option value={condition.fieldId}>{m.views_deleted_field()}</option>}
        {fields.map((one) => (
          <option key={one.id} value={one.id}>
            {one.title}
          </option>
        ))}
      </select>
      {field && (
        <>
          <select
            className={`${toolbar.select} ${styles.operator}`}
            aria-label={m.views_operator()}
            value={condition.operator}
            onChange={(event) => onChange(withOperator(condition, event.target.value, field))}
          >
            {operatorChoices(field, condition.operator).map(({ key, label }) => (
              <option key={key} value={key}>
                {label}
              </option>
            ))}
          </select>
          <ConditionValue
            // Another kind of value is another input: nothing of the old text may linger in it.
            key={`${field.id} ${condition.operator}`}
            condition={condition}
            field={field}
            people={people}
            onChange={onChange}
          />
        </>
      )}
    </div>
  )
}
