import { titlesIn } from '../../../../src/core/fields/choices.ts'
import type { CellValue } from '../../../../src/core/fields/field-type.ts'
import { hasMultipleChoices } from '../../../../src/core/fields/traits.ts'
import { offeredChoices } from '../../../../src/core/views/form-answers.ts'
import { m } from '../../../messages.gen.ts'
import { Group } from '../../../ui/composite.tsx'
import type { AnswerProps } from './answer.ts'
import styles from './answers.module.css'

/** Options in a row to be ticked, or to choose one of. */
export function ChoiceList({ question, run, labelId, describedBy, isInvalid, isReadOnly }: AnswerProps) {
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
    // In the order of the field, whatever the order of the clicks.
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

/** One of the options from a list that opens: the browser's own, which phones and readers know best. */
export function ChoiceSelect({ question, run, id, describedBy, isInvalid, isReadOnly }: AnswerProps) {
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
