import type { ComponentType, ReactNode } from 'react'
import { titlesIn } from '../../../../src/core/fields/choices.ts'
import type { CellValue } from '../../../../src/core/fields/field-type.ts'
import type { FieldTypeName } from '../../../../src/core/fields/index.ts'
import { type OptionsOf, readOptions } from '../../../../src/core/fields/index.ts'
import { linkOf } from '../../../../src/core/fields/link-options.ts'
import {
  hasChoices,
  hasMultipleChoices,
  hasSingleChoice,
  holdsFiles,
} from '../../../../src/core/fields/traits.ts'
import type { Field } from '../../../../src/core/model.ts'
import { offeredChoices } from '../../../../src/core/views/form-answers.ts'
import { m } from '../../../messages.gen.ts'
import { lazyPart } from '../../../navigation/lazy-screen.ts'
import { Group } from '../../../ui/composite.tsx'
import { Skeleton } from '../../../ui/states.tsx'
import type { AnswerProps } from './answer.ts'
import styles from './answers.module.css'
import { CellAnswer } from './cell-answer.tsx'
import { loadCells, loadedCell } from './cells.ts'

const FileAnswer = lazyPart(() => import('./file-answer.tsx'), 'FileAnswer', <Skeleton height={32} />)
const ScanButton = lazyPart(() => import('./scan-button.tsx'), 'ScanButton')
const LinkAnswer = lazyPart(() => import('./link-answer.tsx'), 'LinkAnswer', <Skeleton height={32} />)

/** Field types with a form-specific input; other types use their cell editor. */
const INPUTS: Partial<Record<FieldTypeName, ComponentType<AnswerProps>>> = {
  Checkbox: TickAnswer,
  Rating: StarsAnswer,
  Attachment: FileAnswer,
}

/**
 * Loads the inputs of these fields before the first render, so that the form does not shift as they arrive. Those of
 * most forms are there already.
 */
export async function loadInputs(fields: readonly Field[]): Promise<void> {
  const others = fields.filter((field) => !loadedCell(field.type) && !hasSingleChoice(field))
  await Promise.all([
    others.some(holdsFiles) && FileAnswer.preload(),
    others.some((field) => linkOf(field) !== null) && LinkAnswer.preload(),
    others.some(({ type }) => !INPUTS[type]) && loadCells(),
  ])
}

/** The input of a question, chosen by field type and layout. */
export function AnswerInput(props: AnswerProps): ReactNode {
  const { field, form } = props.question
  const OwnInput = INPUTS[field.type]
  if (OwnInput) return <OwnInput {...props} />
  if (linkOf(field) !== null) return <LinkAnswer {...props} />
  if (hasChoices(field)) {
    if (form.layout === 'list') return <ChoiceList {...props} />
    if (hasSingleChoice(field)) return <ChoiceSelect {...props} />
  }
  const cell = loadedCell(field.type)
  if (!cell) return <Skeleton height={32} />
  if (!form.enableScanner || props.isReadOnly || !canScan()) return <CellAnswer {...props} cell={cell} />
  return (
    <div className={styles.scanned}>
      <CellAnswer {...props} cell={cell} />
      <ScanButton {...props} />
    </div>
  )
}

/** True if the question has a single control that its label can point to, not a group of controls. */
export const isOneControl = ({ field, form }: AnswerProps['question']): boolean =>
  INPUTS[field.type] !== StarsAnswer && !(form.layout === 'list' && hasChoices(field))

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
  const { max, icon, color } = readOptions('Rating', field.options) as OptionsOf<'Rating'>
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

/** All options as checkboxes (multi-select) or radio buttons (single select). */
function ChoiceList({ question, run, labelId, describedBy, isInvalid, isReadOnly }: AnswerProps) {
  const { field, form } = question
  const value = run.value(field.id)
  const isSeveral = hasMultipleChoices(field)
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
