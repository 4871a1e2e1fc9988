import { useMemo, useState } from 'react'
import type { Field } from '../../../../../src/core/model.ts'
import {
  defaultSettings,
  isFormField,
  type Question,
  questionsOf,
} from '../../../../../src/core/views/form-answers.ts'
import type { FormField, FormOptions } from '../../../../../src/core/views/index.ts'
import { type FieldArrangement, moveFields } from '../../state/arrange-fields.ts'
import { useKindOptions, type ViewState } from '../../state/view-state.ts'

/** A form while it is built: what it asks, and the ways to change it. Each change is saved as it is made. */
export interface FormBuilder {
  questions: Question[]
  /** Every field that could be asked for, those that are asked first, in the order of the form. */
  askable: { field: Field; isAsked: boolean }[]
  options: FormOptions
  /** Changes some of what the whole form says. */
  change: (patch: Partial<FormOptions>) => void
  /** Changes some of what it says of a field. */
  say: (fieldId: string, patch: Partial<FormField>) => void
  /** Asks for fields, at the end or ahead of another question, or no longer. */
  ask: (fieldIds: readonly string[], isAsked: boolean, before?: string | null) => void
  /** Puts a question ahead of another; null: at the end. */
  move: (fieldId: string, before: string | null) => void
  /** Moves a question by one place. */
  step: (fieldId: string, by: 1 | -1) => void
  selected: Question | null
  select: (fieldId: string | null) => void
}

/** The builder of a view over its fields. */
export function useFormBuilder(fields: readonly Field[], state: ViewState): FormBuilder {
  const { view, arrange } = state
  const [options, change] = useKindOptions(state, 'form')
  const [selectedId, select] = useState<string | null>(null)
  const questions = useMemo(() => questionsOf(view, fields), [view, fields])
  const askable = useMemo(() => {
    const asked = questions.map(({ field }) => field)
    const others = fields.filter((field) => isFormField(field) && !asked.includes(field))
    return [
      ...asked.map((field) => ({ field, isAsked: true })),
      ...others.map((field) => ({ field, isAsked: false })),
    ]
  }, [questions, fields])

  const place = (fieldIds: readonly string[], before: string | null): FieldArrangement[] =>
    moveFields(fields, view, fieldIds, before)
  const move = (fieldId: string, before: string | null) => arrange(place([fieldId], before))
  return {
    questions,
    askable,
    options,
    change,
    move,
    select,
    selected: questions.find(({ field }) => field.id === selectedId) ?? null,
    say(fieldId, patch) {
      const said = view.fields.find((line) => line.fieldId === fieldId)?.form ?? defaultSettings()
      arrange([{ fieldId, form: { ...said, ...patch } }])
    },
    ask(fieldIds, isAsked, before = null) {
      const moved = new Map((isAsked ? place(fieldIds, before) : []).map((line) => [line.fieldId, line]))
      for (const fieldId of fieldIds) moved.set(fieldId, { ...moved.get(fieldId), fieldId, show: isAsked })
      arrange([...moved.values()])
    },
    step(fieldId, by) {
      const ids = questions.map(({ field }) => field.id)
      const others = ids.filter((id) => id !== fieldId)
      const at = ids.indexOf(fieldId) + by
      if (at >= 0 && at < ids.length) move(fieldId, others[at] ?? null)
    },
  }
}
