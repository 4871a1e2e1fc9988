import { EyeOff, GitBranch, GripVertical } from 'lucide-react'
import { type DragEvent, type KeyboardEvent, useId, useState } from 'react'
import type { Question } from '../../../../../src/core/views/question.ts'
import { m } from '../../../../messages.gen.ts'
import { RichText } from '../../../../rich-text/rich-text.tsx'
import { IconButton } from '../../../../ui/button.tsx'
import { Group } from '../../../../ui/composite.tsx'
import { useSortableItem } from '../../../../ui/sortable.tsx'
import { AnswerInput } from '../../../forms/answers/answer-input.tsx'
import type { FormRun } from '../../../forms/use-form-run.ts'
import styles from './builder.module.css'
import { InlineText } from './inline-text.tsx'
import type { FormBuilder } from './use-form-builder.ts'

/** MIME type of a field dragged from the list. */
export const FIELD_DRAG = 'application/x-sheaf-field'

/** A question on the canvas. It can be moved, renamed in place, and selected for its settings. */
export function QuestionCard({
  question,
  builder,
  run,
}: {
  question: Question
  builder: FormBuilder
  run: FormRun
}) {
  const { field, form, isRequired } = question
  const { ref, style, listeners, isDragging } = useSortableItem(field.id)
  const [isOver, setOver] = useState(false)
  const id = useId()
  const isSelected = builder.selected?.field.id === field.id
  const label = form.label ?? field.title
  const help = form.help ?? field.description

  const onHandleKey = (event: KeyboardEvent) => {
    if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return
    event.preventDefault()
    builder.step(field.id, event.key === 'ArrowUp' ? -1 : 1)
  }
  const takesField = (event: DragEvent) => event.dataTransfer.types.includes(FIELD_DRAG)
  return (
    <Group
      ref={ref}
      style={style}
      role="group"
      aria-label={label}
      className={styles.card}
      data-testid="question-card"
      data-field={field.id}
      data-selected={isSelected || undefined}
      data-dragging={isDragging || undefined}
      data-over={isOver || undefined}
      onFocus={() => builder.select(field.id)}
      // On click, not on pointer down, so that an input of the settings saves on blur first.
      onClick={() => builder.select(field.id)}
      onDragOver={(event) => {
        if (!takesField(event)) return
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        if (!takesField(event)) return
        event.preventDefault()
        event.stopPropagation()
        setOver(false)
        builder.setAsked([event.dataTransfer.getData(FIELD_DRAG)], true, field.id)
      }}
    >
      <div className={styles.cardTop}>
        <button
          type="button"
          className={styles.grip}
          {...listeners}
          aria-label={m.form_move_title({ title: label })}
          data-tip={m.form_drag_move_use_arrow_keys()}
          onKeyDown={onHandleKey}
        >
          <GripVertical size={16} aria-hidden />
        </button>
        <InlineText
          label={m.form_question_for_field({ field: field.title })}
          value={label}
          placeholder={field.title}
          maxLength={1000}
          className={styles.cardLabel}
          onCommit={(text) =>
            builder.updateQuestion(field.id, { label: text === '' || text === field.title ? null : text })
          }
        />
        {isRequired && (
          <span role="img" className={styles.star} aria-label={m.common_required()}>
            *
          </span>
        )}
        {form.showIf !== null && (
          <span
            role="img"
            className={styles.mark}
            aria-label={m.form_has_a_condition()}
            data-tip={m.form_has_a_condition()}
          >
            <GitBranch size={14} aria-hidden />
          </span>
        )}
        <IconButton
          icon={EyeOff}
          size="small"
          iconSize={14}
          label={m.form_remove_field({ field: field.title })}
          onClick={() => builder.setAsked([field.id], false)}
        />
      </div>
      {help && <RichText text={help} className={styles.cardHelp} />}
      <div inert className={styles.cardInput}>
        <AnswerInput
          question={question}
          run={run}
          id={id}
          labelId={`${id}-label`}
          describedBy={undefined}
          isInvalid={false}
          isReadOnly={false}
        />
      </div>
    </Group>
  )
}
