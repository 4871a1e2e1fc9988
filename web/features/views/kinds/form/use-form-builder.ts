import { useMemo, useState } from 'react'
import type { Field } from '../../../../../src/core/model.ts'
import { defaultSettings, isFormField, questionsOf } from '../../../../../src/core/views/form-answers.ts'
import type { FormField, FormOptions } from '../../../../../src/core/views/index.ts'
import type { Question } from '../../../../../src/core/views/question.ts'
import { type FieldArrangement, moveFields } from '../../state/arrange-fields.ts'
import { useKindOptions, type ViewState } from '../../state/view-state.ts'

/** State of the form builder and its operations. Each change is saved at once. */
export interface FormBuilder {
  questions: Question[]
  /** All possible questions; those in the form first, in its order. */
  askable: { field: Field; isAsked: boolean }[]
  options: FormOptions
  /** Updates the form's options. */
  change: (patch: Partial<FormOptions>) => void
  /** Updates a field's form settings. */
  updateQuestion: (fieldId: string, patch: Partial<FormField>) => void
  /** Adds questions at the end or before another one, or removes them. */
  setAsked: (fieldIds: readonly string[], isAsked: boolean, before?: string | null) => void
  /** Moves a question before another; null: to the end. */
  move: (fieldId: string, before: string | null) => void
  /** Moves a question up or down by one. */
  step: (fieldId: string, by: 1 | -1) => void
  selected: Question | null
  select: (fieldId: string | null) => void
}

/** The builder of a form view. */
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

  const arrangementsBefore = (fieldIds: readonly string[], before: string | null): FieldArrangement[] =>
    moveFields(fields, view, fieldIds, before)
  const move = (fieldId: string, before: string | null) => arrange(arrangementsBefore([fieldId], before))
  return {
    questions,
    askable,
    options,
    change,
    move,
    select,
    selected: questions.find(({ field }) => field.id === selectedId) ?? null,
    updateQuestion(fieldId, patch) {
      const settings = view.fields.find((one) => one.fieldId === fieldId)?.form ?? defaultSettings()
      arrange([{ fieldId, form: { ...settings, ...patch } }])
    },
    setAsked(fieldIds, isAsked, before = null) {
      const moves = isAsked ? arrangementsBefore(fieldIds, before) : []
      const changes = new Map(moves.map((one) => [one.fieldId, one]))
      for (const fieldId of fieldIds)
        changes.set(fieldId, { ...changes.get(fieldId), fieldId, show: isAsked })
      arrange([...changes.values()])
    },
    step(fieldId, by) {
      const ids = questions.map(({ field }) => field.id)
      const others = ids.filter((id) => id !== fieldId)
      const at = ids.indexOf(fieldId) + by
      if (at >= 0 && at < ids.length) move(fieldId, others[at] ?? null)
    },
  }
}
