import { ArrowLeft, ArrowRight } from 'lucide-react'
import { type KeyboardEvent, type ReactNode, useRef, useState } from 'react'
import { titlesIn } from '../../../src/core/fields/choice-titles.ts'
import { hasChoices, hasSingleChoice, isBoolean } from '../../../src/core/fields/traits.ts'
import { offeredChoices, type Question } from '../../../src/core/views/question.ts'
import { m } from '../../messages.gen.ts'
import { Button } from '../../ui/button.tsx'
import { ControlGroup } from '../../ui/composite.tsx'
import { useOnChange } from '../../ui/effects.ts'
import { letterOf } from '../../ui/shortcuts.ts'
import styles from './form.module.css'
import { FormHeader } from './form-header.tsx'
import { ClearButton, Problems, Progress } from './form-view.tsx'
import { focusQuestion, QuestionView } from './question-view.tsx'
import type { FormRun } from './use-form-run.ts'

export interface SurveyViewProps {
  run: FormRun
  title: string
  test?: { label: string; onGood: () => void }
  foot?: ReactNode
}

/** A form with one question at a time: a start card, the questions, and a submit card. */
export function SurveyView({ run, title, test, foot }: SurveyViewProps) {
  const { questions, options, source } = run
  /** `start`, `end`, or a field id. No index, because conditions may insert questions before it. */
  const [place, setPlace] = useState('start')
  const card = useRef<HTMLDivElement>(null)
  const index = questions.findIndex(({ field }) => field.id === place)
  const question = questions[index]
  const ids = ['start', ...questions.map(({ field }) => field.id), 'end']
  const at = Math.max(0, ids.indexOf(place))

  useOnChange([place], () => {
    // Focusing on load would scroll a page that embeds the survey in a frame.
    if (!card.current || (place === 'start' && window !== window.top)) return
    if (question) focusQuestion(question.field.id, card.current)
    else card.current.querySelector<HTMLElement>('[data-next]')?.focus()
  })

  const go = (step: 1 | -1) => {
    // Blur commits the open editor; flush before advancing.
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
    queueMicrotask(() => {
      if (step === 1 && question && !run.check([question.field.id])) {
        if (card.current) focusQuestion(question.field.id, card.current)
      } else later.current(step)
    })
  }
  const later = useRef<(step: 1 | -1) => void>(() => {})
  later.current = (step) => setPlace(ids[Math.max(0, Math.min(ids.length - 1, at + step))] ?? 'start')

  const submit = () => {
    const isGood = test ? run.check() : run.submit()
    if (isGood) test?.onGood()
    else {
      const first = ids.find((id) => run.problem(id) !== null)
      if (first) setPlace(first)
    }
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.nativeEvent.isComposing) return
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const { target, key } = event
    const isText =
      target instanceof HTMLTextAreaElement ||
      (target instanceof HTMLInputElement && !['radio', 'checkbox'].includes(target.type))
    const isOwnEnter = [HTMLButtonElement, HTMLTextAreaElement, HTMLAnchorElement].some(
      (kind) => target instanceof kind,
    )
    if (key === 'Enter' && !isOwnEnter) {
      event.preventDefault()
      if (place === 'end') submit()
      else go(1)
    } else if (!isText && !(target instanceof HTMLSelectElement)) {
      const letter = letterOf(event)
      const isChosen = question && /^[a-z]$/.test(letter) ? chooseByLetter(question, run, letter) : false
      const step = isChosen ? null : stepOf(key, target)
      if (isChosen || step !== null) event.preventDefault()
      if (step !== null && (step === -1 || place !== 'end')) go(step)
    }
  }
  return (
    <ControlGroup className={styles.survey} onKeyDown={onKeyDown} data-testid="survey">
      <div className={styles.bar} aria-hidden>
        <span style={{ inlineSize: `${(100 * at) / (ids.length - 1)}%` }} />
      </div>
      {place !== 'start' && (
        <h1 className="visually-hidden" dir="auto">
          {options.heading || title}
        </h1>
      )}
      <div ref={card} className={styles.card} key={place}>
        {place === 'start' && (
          <>
            <FormHeader options={options} title={title} pictures={source.pictures} />
            <div className={styles.actions}>
              <Button
                variant="primary"
                size="large"
                data-next
                disabled={questions.length === 0}
                className={styles.submit}
                onClick={() => go(1)}
              >
                {m.form_start()}
              </Button>
              <span className={styles.hint}>
                {questions.length === 0
                  ? m.form_form_no_questions_yet()
                  : m.form_questions_count({ count: questions.length })}
              </span>
            </div>
          </>
        )}
        {question && (
          <>
            <QuestionView key={`${run.epoch} ${question.field.id}`} question={question} run={run} />
            <Letters question={question} />
          </>
        )}
        {place === 'end' && <Summary run={run} onGo={setPlace} />}
        {place !== 'start' && (
          <div className={styles.actions}>
            <Button size="large" icon={Back} onClick={() => go(-1)}>
              {m.form_back()}
            </Button>
            {place === 'end' ? (
              <Button
                variant="primary"
                size="large"
                data-next
                busy={run.status.kind === 'sending'}
                className={styles.submit}
                data-testid="form-submit"
                onClick={submit}
              >
                {test?.label ?? (options.submitLabel || m.form_submit())}
              </Button>
            ) : (
              <Button
                variant="primary"
                size="large"
                icon={Forth}
                className={styles.submit}
                onClick={() => go(1)}
                data-testid="survey-next"
              >
                {m.form_next()}
              </Button>
            )}
            {question && (
              <span className={styles.hint} role="status" dir="ltr">
                {index + 1} / {questions.length}
              </span>
            )}
          </div>
        )}
      </div>
      {foot}
    </ControlGroup>
  )
}

const Back = (props: { size?: number | string }) => <ArrowLeft {...props} className="flip-in-rtl" />
const Forth = (props: { size?: number | string }) => <ArrowRight {...props} className="flip-in-rtl" />

/** The step for an arrow key, by text direction; null on radio buttons, which use arrow keys themselves. */
function stepOf(key: string, target: EventTarget): 1 | -1 | null {
  if (target instanceof HTMLInputElement && target.type === 'radio') return null
  const isRtl = target instanceof Element && getComputedStyle(target).direction === 'rtl'
  if (key === 'ArrowDown' || key === (isRtl ? 'ArrowLeft' : 'ArrowRight')) return 1
  if (key === 'ArrowUp' || key === (isRtl ? 'ArrowRight' : 'ArrowLeft')) return -1
  return null
}

/** Option titles for the keys A, B, C…; empty for questions without a list layout. */
function lettered({ field, form }: Question): string[] {
  const isList = form.layout === 'list' && hasChoices(field)
  return isList
    ? offeredChoices(field, form)
        .map(({ title }) => title)
        .slice(0, 26)
    : []
}

function chooseByLetter(question: Question, run: FormRun, key: string): boolean {
  const { field, form } = question
  if (run.isReadOnly(field.id)) return false
  if (isBoolean(field)) {
    if (key !== 'y' && key !== 'n') return false
    run.set(field.id, key === 'y')
    return true
  }
  const titles = lettered(question)
  const title = titles[key.charCodeAt(0) - 'a'.charCodeAt(0)]
  if (title === undefined) return false
  if (hasSingleChoice(field)) run.set(field.id, title)
  else {
    const chosen = titlesIn(String(run.value(field.id) ?? ''))
    // Those without a letter stay chosen.
    const offered = offeredChoices(field, form).map((choice) => choice.title)
    const next = offered.filter((one) => (one === title) !== chosen.includes(one))
    run.set(field.id, next.join(',') || null)
  }
  return true
}

function Letters({ question }: { question: Question }) {
  const count = lettered(question).length
  if (count === 0) return null
  const last = String.fromCharCode('A'.charCodeAt(0) + count - 1)
  return (
    <p className={styles.hint}>
      {count === 1 ? m.form_press_a_to_choose() : m.form_press_letter_to_choose({ last })}{' '}
      {m.form_press_enter_to_continue()}
    </p>
  )
}

/** The submit card: the number of answered questions, and problems that link to their questions. */
function Summary({ run, onGo }: { run: FormRun; onGo: (fieldId: string) => void }) {
  const answered = run.questions.filter(
    ({ field }) => run.value(field.id) !== null || run.files(field.id).length > 0,
  )
  return (
    <>
      <h2 className={styles.title}>{m.form_ready_to_submit()}</h2>
      <p className={styles.hint}>
        {m.form_answered_of_all_questions_answered({
          answered: answered.length,
          all: run.questions.length,
        })}
      </p>
      <Problems run={run} onGo={onGo} />
      <Progress run={run} />
      <ClearButton run={run} />
    </>
  )
}
