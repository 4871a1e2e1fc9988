import { ChevronLeft, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { fieldType } from '../../../../../src/core/fields/index.ts'
import { holdsPeople } from '../../../../../src/core/fields/traits.ts'
import type { Person, TableSchema } from '../../../../../src/core/model.ts'
import { isFormField } from '../../../../../src/core/views/form-answers.ts'
import { CELLS } from '../../../../cells/index.ts'
import { m } from '../../../../messages.gen.ts'
import { Button } from '../../../../ui/button.tsx'
import { SearchInput } from '../../../../ui/search-input.tsx'
import { Tabs } from '../../../../ui/tabs.tsx'
import toolbar from '../../controls/toolbar.module.css'
import styles from './builder.module.css'
import { FormSettings } from './form-settings.tsx'
import { FIELD_DRAG } from './question-card.tsx'
import { QuestionSettings } from './question-settings.tsx'
import type { FormBuilder } from './use-form-builder.ts'

export interface SidePanelProps {
  builder: FormBuilder
  schema: TableSchema
  people: readonly Person[]
}

/** Panel with the list of fields, the settings of the selected question, and those of the form. */
export function SidePanel({ builder, schema, people }: SidePanelProps) {
  const [chosen, setTab] = useState<'fields' | 'form'>('fields')
  const { selected } = builder
  // Settings of the selected question are in the fields tab.
  const tab = selected ? 'fields' : chosen
  return (
    <aside className={styles.panel} aria-label={m.form_form_settings()} data-testid="form-panel">
      <Tabs
        label={m.form_form_settings()}
        tabs={[
          { id: 'fields', label: m.form_questions() },
          { id: 'form', label: m.form_form() },
        ]}
        selected={tab}
        onSelect={(one) => {
          setTab(one)
          builder.select(null)
        }}
        className={styles.tabs}
        panelClassName={styles.panelBody}
      >
        {selected ? (
          <>
            <Button
              size="small"
              variant="ghost"
              icon={Back}
              onClick={() => {
                builder.select(null)
                setTab('fields')
              }}
            >
              {m.form_all_questions()}
            </Button>
            <QuestionSettings
              key={selected.field.id}
              question={selected}
              builder={builder}
              people={people}
              baseId={schema.table.baseId}
            />
          </>
        ) : tab === 'fields' ? (
          <FieldList builder={builder} schema={schema} />
        ) : (
          <FormSettings builder={builder} />
        )}
      </Tabs>
    </aside>
  )
}

const Back = (props: { size?: number | string }) => <ChevronLeft {...props} className="flip-in-rtl" />

/** All possible questions, with check boxes and drag handles. */
function FieldList({ builder, schema }: { builder: FormBuilder; schema: TableSchema }) {
  const [text, setText] = useState('')
  const { askable, setAsked, select } = builder
  const needle = text.trim().toLowerCase()
  const found = askable.filter(({ field }) => field.title.toLowerCase().includes(needle))
  // Omits internal fields, such as foreign keys of links.
  const others = schema.fields.filter(
    (field) =>
      !field.isSystem && !field.isPrimaryKey && !fieldType(field.type).internal && !isFormField(field),
  )
  const setAll = (isAsked: boolean) =>
    setAsked(
      found.filter((one) => one.isAsked !== isAsked).map(({ field }) => field.id),
      isAsked,
    )
  return (
    <>
      <SearchInput label={m.form_find_a_field()} value={text} onSearch={setText} className={styles.search} />
      <div className={styles.row}>
        <Button size="small" disabled={found.every(({ isAsked }) => isAsked)} onClick={() => setAll(true)}>
          {m.form_add_all()}
        </Button>
        <Button size="small" disabled={!found.some(({ isAsked }) => isAsked)} onClick={() => setAll(false)}>
          {m.form_remove_all()}
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
                aria-label={m.form_include_field({ field: field.title })}
                onChange={(event) => {
                  setAsked([field.id], event.target.checked)
                }}
              />
              <button
                type="button"
                className={styles.fieldName}
                disabled={!isAsked}
                data-tip={isAsked ? m.form_question_settings() : undefined}
                onClick={() => select(field.id)}
              >
                <Icon size={14} aria-hidden />
                <span dir="auto">{field.title}</span>
                {field.required && <span className={styles.star}>*</span>}
              </button>
              {field.required && (!isAsked || holdsPeople(field)) && field.defaultValue === null && (
                <span
                  role="img"
                  className={styles.warning}
                  aria-label={m.form_required_field_responses_cant_saved()}
                  data-tip={m.form_required_field_responses_cant_saved()}
                >
                  <TriangleAlert size={14} aria-hidden />
                </span>
              )}
            </li>
          )
        })}
      </ul>
      {found.length === 0 && <p className={toolbar.hint}>{m.form_no_matching_fields()}</p>}
      {others.length > 0 && (
        <p className={styles.note}>
          {m.form_not_available_forms_read_only({
            fields: others.map(({ title }) => title).join(', '),
          })}
        </p>
      )}
    </>
  )
}
