import { type OptionsOf, readOptions } from '../../../../src/core/fields/index.ts'
import { m } from '../../../messages.gen.ts'
import type { AnswerProps } from './answer.ts'
import styles from './answers.module.css'

/** A box to tick. */
export function TickAnswer({ question, run, id, labelId, describedBy, isInvalid, isReadOnly }: AnswerProps) {
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

/** Signs without a form of their own for "none" are drawn faint. */
const SIGNS = { star: '★', heart: '♥', circle: '●', thumb: '👍', flag: '⚑' } as const

/** Stars as one choice of several: arrow keys walk along them. */
export function StarsAnswer({ question, run, labelId, describedBy, isInvalid, isReadOnly }: AnswerProps) {
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
            // The same star once more takes them away.
            onClick={() => star === stars && set(0)}
            onChange={() => set(star)}
          />
          <span aria-hidden>{SIGNS[icon]}</span>
        </label>
      ))}
    </div>
  )
}
