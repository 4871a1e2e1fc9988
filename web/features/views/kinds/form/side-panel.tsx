import { ChevronLeft } from 'lucide-react'
import { useState } from 'react'
import type { Person, TableSchema } from '../../../../../src/core/model.ts'
import { m } from '../../../../messages.gen.ts'
import { Button } from '../../../../ui/button.tsx'
import styles from './builder.module.css'
import { FieldList } from './field-list.tsx'
import { FormSettings } from './form-settings.tsx'
import { QuestionSettings } from './question-settings.tsx'
import type { FormBuilder } from './use-form-builder.ts'

export interface SidePanelProps {
  builder: FormBuilder
  schema: TableSchema
  people: readonly Person[]
}

/** Right of the canvas: what is asked, the settings of the chosen question, and those of the form. */
export function SidePanel({ builder, schema, people }: SidePanelProps) {
  const [chosen, setTab] = useState<'fields' | 'form'>('fields')
  const { selected } = builder
  // A question that is chosen on the canvas is one of the questions, whatever was looked at before.
  const tab = selected ? 'fields' : chosen
  return (
    <aside className={styles.panel} aria-label={m.form_form_settings()} data-testid="form-panel">
      <div className={styles.tabs} role="tablist">
        {(['fields', 'form'] as const).map((one) => (
          <button
            key={one}
            type="button"
            role="tab"
            aria-selected={tab === one}
            className={styles.tab}
            onClick={() => {
              setTab(one)
              builder.select(null)
            }}
          >
            {one === 'fields' ? m.form_questions() : m.form_form()}
          </button>
        ))}
      </div>
      <div className={styles.panelBody} role="tabpanel">
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
      </div>
    </aside>
  )
}

const Back = (props: { size?: number | string }) => <ChevronLeft {...props} className="flip-in-rtl" />
