import { type ComponentType, type ReactNode, useState } from 'react'
import { titlesIn } from '../../../../src/core/fields/choice-titles.ts'
import type { CellValue } from '../../../../src/core/fields/field-type.ts'
import type { FieldTypeName, OptionsOf } from '../../../../src/core/fields/index.ts'
import { offeredChoices, type Question } from '../../../../src/core/views/question.ts'
import { m } from '../../../messages.gen.ts'
import { lazyPart } from '../../../navigation/lazy-screen.ts'
import { Group } from '../../../ui/composite.tsx'
import { Skeleton } from '../../../ui/states.tsx'
import type { AnswerProps } from './answer.ts'
import styles from './answers.module.css'
import { CellAnswer, loadCells, loadedCell } from './cells.ts'
import { EarlyAnswer, hasEarlyText } from './early-answer.tsx'

const FileAnswer = lazyPart(() => import('./file-answer.tsx'), 'FileAnswer', <Skeleton height={32} />)
const ScanButton = lazyPart(() => import('./scan-button.tsx'), 'ScanButton')
const LinkAnswer = lazyPart(() => import('./link-answer.tsx'), 'LinkAnswer', <Skeleton height={32} />)

/** Field types with a form-specific input; other types use their cell editor. */
const INPUTS: Partial<Record<FieldTypeName, ComponentType<AnswerProps>>> = {
  Checkbox: TickAnswer,
  Rating: StarsAnswer,
  SingleSelect: ChoiceAnswer,
  MultiSelect: ChoicesAnswer,
  Attachment: FileAnswer,
  Links: LinkAnswer,
  LinkToAnotherRecord: LinkAnswer,
}

/**
 * Loads the inputs of these questions before they are drawn, so that the form does not shift as they arrive.
 */
export async function loadInputs(questions: readonly Question[]): Promise<void> {
  const inputs = new Set(questions.map(({ field }) => INPUTS[field.type]))
  await Promise.all([
    inputs.has(FileAnswer) && FileAnswer.preload(),
    inputs.has(LinkAnswer) && LinkAnswer.preload(),
    questions.some(usesCell) && loadCells(questions.filter(usesCell).map(({ field }) => field.type)),
  ])
}

/** True for a question that the page draws at once: its input needs no editor of a cell, or has a plain one before it. */
export const hasEarlyInput = (question: Question): boolean =>
  usesCell(question) ? hasEarlyText(question) : !isLazyInput(INPUTS[question.field.type])

const isLazyInput = (input: ComponentType<AnswerProps> | undefined): boolean =>
  input === FileAnswer || input === LinkAnswer

const usesCell = ({ field, form }: Question): boolean =>
  !INPUTS[field.type] || (INPUTS[field.type] === ChoicesAnswer && form.layout !== 'list')

/** The input of a question, chosen by field type and layout. */
export function AnswerInput(props: AnswerProps): ReactNode {
  const OwnInput = INPUTS[props.question.field.type] ?? EditorAnswer
  return <OwnInput {...props} />
}

/** The editor of the field's cell or, until it has been loaded and while one types in it, a plain input. */
function EditorAnswer(props: AnswerProps): ReactNode {
  const { question, isReadOnly } = props
  const cell = loadedCell(question.field.type)
  const [isEarly, setEarly] = useState(cell === undefined && hasEarlyText(question))
  const [typed, setTyped] = useState('')
  if (isEarly) {
    return (
      <EarlyAnswer
        {...props}
        text={typed}
        onType={setTyped}
        isDue={cell !== undefined}
        onDone={() => setEarly(false)}
      />
    )
  }
  if (!cell) return <Skeleton height={32} />
  const answer = <CellAnswer {...props} cell={cell} typed={typed === '' ? null : typed} />
  if (!question.form.enableScanner || isReadOnly || !canScan()) return answer
  return (
    <div className={styles.scanned}>
      {answer}
      <ScanButton {...props} />
    </div>
  )
}

/** True if the question has a single control that its label can point to, not a group of controls. */
export const isOneControl = ({ field, form }: Question): boolean => {
  const input = INPUTS[field.type]
  if (input === ChoiceAnswer || input === ChoicesAnswer) return form.layout !== 'list'
  return input !== StarsAnswer
}

/** True if the browser supports the Barcode Detection API and camera access. */
const canScan = (): boolean => 'BarcodeDetector' in globalThis && 'mediaDevices' in navigator

function TickAnswer({ question, run, id, labelId, describedBy, isInvalid, isReadOnly }: AnswerProps) {
  const { field } = question
  return (
    <span className={styles.choice}>
      <input
        id={id}
        type="checkbox"
        checked={run.value(field.id) === true}
        disabled={isReadOnly}
        aria-labelledby={labelId}
        aria-describedby={describedBy}
        aria-invalid={isInvalid || undefined}
        onChange={(event) => {
          run.set(field.id, event.target.checked)
          run.leave(field.id)
        }}
      />
    </span>
  )
}

/** Rating icons by option; CSS dims the unset ones. */
const SIGNS = { star: '★', heart: '♥', circle: '●', thumb: '👍', flag: '⚑' } as const

/** A rating as a radio group, so that arrow keys change it. */
function StarsAnswer({ question, run, labelId, describedBy, isInvalid, isReadOnly }: AnswerProps) {
  const { field } = question
  const { max, icon, color } = field.options as OptionsOf<'Rating'>
  const stars = Number(run.value(field.id) ?? 0)
  const set = (next: number) => {
    run.set(field.id, next)
    run.leave(field.id)
  }
  return (
    <div
      role="radiogroup"
      aria-labelledby={labelId}
      aria-describedby={describedBy}
      className={styles.stars}
      style={{ color }}
    >
      {Array.from({ length: max }, (_, at) => at + 1).map((star) => (
        <label key={star} className={styles.star} data-on={star <= stars || undefined}>
          <input
            type="radio"
            className="visually-hidden"
            name={labelId}
            checked={star === stars}
            disabled={isReadOnly}
            aria-invalid={isInvalid || undefined}
            aria-label={m.form_stars_of_max({ stars: star, max })}
            // Clicking the current rating clears it.
            onClick={() => star === stars && set(0)}
            onChange={() => set(star)}
          />
          <span aria-hidden>{SIGNS[icon]}</span>
        </label>
      ))}
    </div>
  )
}

/** A single select as radio buttons or as a native list. */
function ChoiceAnswer(props: AnswerProps) {
  return props.question.form.layout === 'list' ? (
    <ChoiceList {...props} isSeveral={false} />
  ) : (
    <ChoiceSelect {...props} />
  )
}

/** A multi-select as checkboxes or as the editor of its cell. */
function ChoicesAnswer(props: AnswerProps) {
  return props.question.form.layout === 'list' ? (
    <ChoiceList {...props} isSeveral />
  ) : (
    <EditorAnswer {...props} />
  )
}

/** All options as checkboxes (multi-select) or radio buttons (single select). */
function ChoiceList(props: AnswerProps & { isSeveral: boolean }) {
  const { question, run, labelId, describedBy, isInvalid, isReadOnly, isSeveral } = props
  const { field, form } = question
  const value = run.value(field.id)
  const chosen = value === null ? [] : isSeveral ? titlesIn(String(value)) : [String(value)]
  const choices = offeredChoices(field, form)
  const set = (next: CellValue) => {
    run.set(field.id, next)
    run.leave(field.id)
  }
  const toggle = (title: string, isOn: boolean) => {
    // Stores titles in the field's option order, not in click order.
    const titles = choices.map((choice) => choice.title)
    set(titles.filter((one) => (one === title ? isOn : chosen.includes(one))).join(',') || null)
  }
  return (
    <Group
      role={isSeveral ? 'group' : 'radiogroup'}
      aria-labelledby={labelId}
      aria-describedby={describedBy}
      className={styles.choices}
    >
      {choices.map(({ id, title, color }) => (
        <label key={id} className={styles.choice} data-invalid={isInvalid || undefined}>
          <input
            type={isSeveral ? 'checkbox' : 'radio'}
            name={labelId}
            checked={chosen.includes(title)}
            disabled={isReadOnly}
            aria-invalid={isInvalid || undefined}
            onChange={(event) => (isSeveral ? toggle(title, event.target.checked) : set(title))}
          />
          <span className={styles.dot} style={{ background: color }} aria-hidden />
          <span dir="auto">{title}</span>
        </label>
      ))}
      {choices.length === 0 && <span className={styles.faint}>{m.form_no_options_yet()}</span>}
      {!isSeveral && value !== null && !isReadOnly && (
        <button type="button" className={styles.clear} onClick={() => set(null)}>
          {m.form_clear_selection()}
        </button>
      )}
    </Group>
  )
}

/** A single select as a native `<select>`, which phones and screen readers support best. */
function ChoiceSelect({ question, run, id, describedBy, isInvalid, isReadOnly }: AnswerProps) {
  const { field, form } = question
  const value = run.value(field.id)
  return (
    <select
      id={id}
      className={styles.select}
      value={value === null ? '' : String(value)}
      disabled={isReadOnly}
      aria-invalid={isInvalid || undefined}
      aria-describedby={describedBy}
      onChange={(event) => {
        run.set(field.id, event.target.value || null)
        run.leave(field.id)
      }}
    >
      <option value="">{m.common_choose()}</option>
      {offeredChoices(field, form).map(({ id, title }) => (
        <option key={id} value={title}>
          {title}
        </option>
      ))}
    </select>
  )
}
