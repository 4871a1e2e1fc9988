import { Plus } from 'lucide-react'
import { type DragEvent, useRef, useState } from 'react'
import { m } from '../../../../messages.gen.ts'
import { RichText } from '../../../../rich-text/rich-text.tsx'
import { RichTextEditor } from '../../../../rich-text/rich-text-editor.tsx'
import { ControlGroup } from '../../../../ui/composite.tsx'
import { SortableList } from '../../../../ui/sortable.tsx'
import formStyles from '../../../forms/form.module.css'
import { pageStyle } from '../../../forms/page-style.ts'
import type { FormRun } from '../../../forms/use-form-run.ts'
import styles from './builder.module.css'
import { InlineText } from './inline-text.tsx'
import { PictureSlots } from './picture-slots.tsx'
import { FIELD_DRAG, QuestionCard } from './question-card.tsx'
import type { FormBuilder } from './use-form-builder.ts'

/** The form as respondents see it; click a text to edit it. */
export function Canvas({
  builder,
  run,
  title,
  tableId,
}: {
  builder: FormBuilder
  run: FormRun
  title: string
  tableId: string
}) {
  const { options, questions, change } = builder
  const [isOver, setOver] = useState(false)
  const takesField = (event: DragEvent) => event.dataTransfer.types.includes(FIELD_DRAG)
  return (
    <div className={styles.canvas} style={pageStyle(options.backgroundColor, null)} data-testid="form-canvas">
      <div className={formStyles.form}>
        <PictureSlots builder={builder} pictures={run.source.pictures} tableId={tableId} />
        <header className={formStyles.header}>
          <InlineText
            label={m.form_form_title()}
            value={options.heading ?? title}
            placeholder={title}
            maxLength={500}
            className={styles.heading}
            onCommit={(text) => change({ heading: text === '' || text === title ? null : text })}
          />
          <InlineRichText
            label={m.form_form_description()}
            value={options.subheading ?? ''}
            placeholder={m.form_add_a_description()}
            onCommit={(text) => change({ subheading: text.trim() === '' ? null : text })}
          />
        </header>
        <div className={formStyles.body}>
          <SortableList ids={questions.map(({ field }) => field.id)} onMove={builder.move}>
            {questions.map((question) => (
              <QuestionCard key={question.field.id} question={question} builder={builder} run={run} />
            ))}
          </SortableList>
          <ControlGroup
            className={styles.dropEnd}
            data-over={isOver || undefined}
            onDragOver={(event) => {
              if (!takesField(event)) return
              event.preventDefault()
              setOver(true)
            }}
            onDragLeave={() => setOver(false)}
            onDrop={(event) => {
              event.preventDefault()
              setOver(false)
              builder.setAsked([event.dataTransfer.getData(FIELD_DRAG)], true)
            }}
          >
            <Plus size={14} aria-hidden />
            {questions.length === 0 ? m.form_add_fields_list_drag_here() : m.form_drop_a_field_here()}
          </ControlGroup>
          <div className={formStyles.actions}>
            <InlineText
              label={m.form_button_text()}
              value={options.submitLabel ?? m.form_submit()}
              placeholder={m.form_submit()}
              maxLength={100}
              className={styles.submitLabel}
              onCommit={(text) =>
                change({ submitLabel: text === '' || text === m.form_submit() ? null : text })
              }
            />
          </div>
        </div>
      </div>
    </div>
  )
}

/** A rich text with inline editing. */
function InlineRichText(props: {
  label: string
  value: string
  placeholder: string
  onCommit: (text: string) => void
}) {
  const { label, value, placeholder, onCommit } = props
  const [isEditing, setEditing] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const close = () => {
    setEditing(false)
    queueMicrotask(() => button.current?.focus())
  }
  if (isEditing) {
    return (
      <ControlGroup
        onBlur={({ currentTarget, relatedTarget }) => {
          if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) setEditing(false)
        }}
      >
        <RichTextEditor
          label={label}
          value={value}
          placeholder={placeholder}
          autoFocus
          onCommit={onCommit}
          onCancel={close}
        />
      </ControlGroup>
    )
  }
  return (
    <button
      ref={button}
      type="button"
      className={styles.inlineRich}
      aria-label={`${label}: ${value || placeholder}`}
      onClick={() => setEditing(true)}
    >
      {value === '' ? <span className={styles.faint}>{placeholder}</span> : <RichText text={value} />}
    </button>
  )
}
