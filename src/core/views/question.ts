import type { Choice } from '../fields/choices.ts'
import type { Field } from '../fields/field.ts'
import type { FormField } from './form.ts'

/** A field of a form with its form settings. */
export interface Question {
  field: Field
  form: FormField
  /** Required by the form or the table. */
  isRequired: boolean
}

/** The options of a select field that its form offers; all if none of the offered options exists any more. */
export function offeredChoices(
  field: Pick<Field, 'options'>,
  form: Pick<FormField, 'limitOptions'>,
): Choice[] {
  const choices = (field.options as { choices?: Choice[] }).choices ?? []
  const { limitOptions } = form
  if (limitOptions === null) return choices
  const left = choices.filter(({ title }) => limitOptions.includes(title))
  return left.length === 0 ? choices : left
}
