import { RotateCw } from 'lucide-react'
import { type FormEvent, type ReactNode, useRef, useState } from 'react'
import { m } from '../../messages.gen.ts'
import { Button } from '../../ui/button.tsx'
import { Group } from '../../ui/composite.tsx'
import { useOnChange } from '../../ui/effects.ts'
import styles from './form.module.css'
import { FormHeader } from './form-header.tsx'
import { focusQuestion, QuestionView } from './question-view.tsx'
import type { FormRun } from './use-form-run.ts'

export interface FormViewProps {
  run: FormRun
  title: string
  /** Replaces submitting: the button's label, and the callback for valid answers. */
  test?: { label: string; onGood: () => void }
  onCancel?: () => void
  /** Footer below the form. */
  foot?: ReactNode
  /** Why the form cannot be completed (`run.isReady`), and how to try again. */
  failure?: { message: string; onRetry: () => void } | null
}

/** A form with all questions on one page. */
export function FormView({ run, title, test, onCancel, foot, failure = null }: FormViewProps) {
  const { options, questions, source } = run
  const form = useRef<HTMLFormElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const [attempt, setAttempt] = useState(0)
  /** True while a submission waits for the rules. */
  const [isDue, setDue] = useState(false)
  const isBusy = run.status.kind === 'sending' || isDue

  const first = run.problems[0]?.fieldId
  const isRefused = run.status.kind === 'filling' && run.status.failure !== null
  useOnChange([attempt, isRefused], () => {
    if ((attempt > 0 || isRefused) && first !== undefined && form.current) focusQuestion(first, form.current)
  })

  const submit = () => {
    // Blur commits the open editor. The button keeps the focus, for where the answers cannot be sent.
    const { activeElement: active } = document
    if (active instanceof HTMLElement && active !== button.current && form.current?.contains(active))
      active.blur()
    queueMicrotask(() => {
      if (!latest.current.isReady) {
        failure?.onRetry()
        setDue(true)
        return
      }
      const isGood = test ? latest.current.check() : latest.current.submit()
      if (!isGood) setAttempt((n) => n + 1)
      else test?.onGood()
    })
  }
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    submit()
  }
  const latest = useRef(run)
  latest.current = run
  useOnChange([isDue && run.isReady, failure], () => {
    if (!isDue || !(run.isReady || failure)) return
    setDue(false)
    if (run.isReady) submit()
  })
  return (
    <div className={styles.form} data-testid="form" data-ready={run.isReady || undefined}>
      <FormHeader options={options} title={title} pictures={source.pictures} />
      <form ref={form} className={styles.body} onSubmit={onSubmit} onKeyDown={preventEnterSubmit} noValidate>
        {questions.length === 0 && <p className={styles.nothing}>{m.form_form_no_questions_yet()}</p>}
        {questions.map((question) => (
          <QuestionView key={`${run.epoch} ${question.field.id}`} question={question} run={run} />
        ))}
        <Problems run={run} onGo={(id) => form.current && focusQuestion(id, form.current)} />
        <Progress run={run} />
        {failure && (
          <div className={`${styles.problems} ${styles.failure}`} role="alert" data-testid="form-failure">
            <p>{failure.message}</p>
            <Button icon={RotateCw} onClick={failure.onRetry}>
              {m.common_try_again()}
            </Button>
          </div>
        )}
        <div className={styles.actions}>
          <Button
            ref={button}
            type="submit"
            variant="primary"
            size="large"
            busy={isBusy}
            disabled={questions.length === 0}
            className={styles.submit}
            data-testid="form-submit"
          >
            {test?.label ?? (options.submitLabel || m.form_submit())}
          </Button>
          {onCancel && (
            <Button size="large" disabled={isBusy} onClick={onCancel}>
              {m.common_cancel()}
            </Button>
          )}
          <ClearButton run={run} />
        </div>
      </form>
      {foot}
    </div>
  )
}

/** Stops Enter in an input from submitting a form that is only partly filled in. */
function preventEnterSubmit(event: React.KeyboardEvent): void {
  if (event.key === 'Enter' && event.target instanceof HTMLInputElement && event.target.type !== 'submit')
    event.preventDefault()
}

/** Lists all problems; clicking one goes to its question. */
export function Problems({ run, onGo }: { run: FormRun; onGo: (fieldId: string) => void }) {
  const { problems, status, source } = run
  const failure = status.kind === 'filling' ? status.failure : null
  if (problems.length === 0 && failure === null) return null
  const labels = new Map(
    source.fields.map(({ id, title }) => [
      id,
      source.view.fields.find(({ fieldId }) => fieldId === id)?.form?.label ?? title,
    ]),
  )
  return (
    <div className={styles.problems} role="alert" data-testid="form-problems">
      {problems.length > 0 ? (
        <>
          <p>{m.form_answers_need_your_attention({ count: problems.length })}</p>
          <ul>
            {problems.map(({ fieldId, message }) => (
              <li key={fieldId}>
                <button type="button" onClick={() => onGo(fieldId)}>
                  <b dir="auto">{labels.get(fieldId)}</b>: {message}
                </button>
              </li>
            ))}
          </ul>
        </>
      ) : (
        <p>
          {m.form_response_not_submitted_answers_still()} {failure}
        </p>
      )}
    </div>
  )
}

/** Upload progress of a submission with files. */
export function Progress({ run }: { run: FormRun }) {
  const { status } = run
  if (status.kind !== 'sending' || status.part === 0) return null
  const percent = Math.round(status.part * 100)
  return (
    <div className={styles.progress}>
      <progress max={100} value={percent} aria-label={m.form_uploading()} />
      <span>{m.form_percent_uploaded({ n: percent })}</span>
    </div>
  )
}

/** Clears the form after an inline confirmation. */
export function ClearButton({ run }: { run: FormRun }) {
  const [isAsking, setAsking] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  if (!run.isTouched) return null
  if (!isAsking) {
    return (
      <Button
        ref={button}
        variant="ghost"
        className={styles.clear}
        disabled={run.status.kind === 'sending'}
        onClick={() => setAsking(true)}
      >
        {m.form_clear_form()}
      </Button>
    )
  }
  return (
    <Group className={styles.asking} aria-label={m.form_clear_form()}>
      {m.form_clear_all_answers_confirm()}
      <Button
        size="small"
        variant="danger"
        autoFocus
        onClick={() => {
          setAsking(false)
          run.clear()
        }}
      >
        {m.common_clear()}
      </Button>
      <Button size="small" onClick={() => setAsking(false)}>
        {m.form_keep()}
      </Button>
    </Group>
  )
}
