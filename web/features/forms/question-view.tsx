import { useId } from 'react'
import type { Question } from '../../../src/core/views/question.ts'
import { m } from '../../messages.gen.ts'
import { RichText } from '../../rich-text/rich-text.tsx'
import { AnswerInput, isOneControl } from './answers/answer-input.tsx'
import styles from './form.module.css'
import type { FormRun } from './use-form-run.ts'

/** A question with its label, help, input and, below it, the problem of its answer. */
export function QuestionView({ question, run }: { question: Question; run: FormRun }) {
  const { field, form, isRequired } = question
  const id = useId()
  const labelId = `${id}-label`
  const problem = run.problem(field.id)
  const help = form.help ?? field.description
  const notes = [help ? `${id}-help` : '', problem ? `${id}-problem` : ''].filter(Boolean).join(' ')
  const label = (
    <>
      <span dir="auto">{form.label ?? field.title}</span>
      {isRequired && (
        <span role="img" className={styles.star} aria-label={m.common_required()}>
          *
        </span>
      )}
    </>
  )
  return (
    <div
      className={styles.question}
      // What would be typed while the answers are sent would not be among them.
      inert={run.status.kind === 'sending'}
      data-question={field.id}
      data-testid="question"
    >
      {isOneControl(question) ? (
        <label id={labelId} htmlFor={id} className={styles.label}>
          {label}
        </label>
      ) : (
        <div id={labelId} className={styles.label}>
          {label}
        </div>
      )}
      {help && (
        <div id={`${id}-help`} className={styles.help}>
          <RichText text={help} />
        </div>
      )}
      <AnswerInput
        question={question}
        run={run}
        id={id}
        labelId={labelId}
        describedBy={notes || undefined}
        isInvalid={problem !== null}
        isReadOnly={run.isReadOnly(field.id)}
      />
      {problem !== null && (
        <p id={`${id}-problem`} className={styles.problem} role="alert">
          {problem}
        </p>
      )}
    </div>
  )
}

/** Focuses a question's input and scrolls it into view. */
export function focusQuestion(fieldId: string, root: ParentNode = document): void {
  const box = root.querySelector(`[data-question="${CSS.escape(fieldId)}"]`)
  const control =
    box?.querySelector<HTMLElement>('input:checked') ??
    box?.querySelector<HTMLElement>(
      'input:not([type="file"]):not(:disabled), select, textarea, button:not(:disabled)',
    )
  control?.focus({ preventScroll: true })
  box?.scrollIntoView({ block: 'center' })
}
