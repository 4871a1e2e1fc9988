import type { Field } from '../fields/field.ts'
import { isNamedLink } from '../fields/field.ts'
import { checkFilter, type Filter, isGroup } from '../filters/index.ts'
import type { FormField, FormOptions } from './form.ts'
import { canBeAsked } from './form-answers.ts'
import { findRule } from './form-rules.ts'

/** Of a linked record a form does not know the name, so a condition can ask no more than whether there is one. */
const LINK_OPERATORS: readonly string[] = ['blank', 'notblank']

/**
 * What is wrong with what a form says of a field, in words that name the field; null: nothing. `field` gives a
 * live field by its id. Conditions on fields that are gone are no problem: they have no effect.
 */
export function formFieldProblem(
  asked: Field,
  form: FormField,
  field: (fieldId: string) => Field | undefined,
): string | null {
  for (const { rule: key, value } of form.rules) {
    const rule = findRule(key)
    if (!rule?.fits(asked)) return `Field "${asked.title}" has no rule '${key}'`
    const problem = rule.problem(value)
    if (problem !== null) return `The rule '${key}' of field "${asked.title}": ${problem}`
  }
  return form.showIf === null ? null : conditionProblem(form.showIf, asked, field)
}

function conditionProblem(
  filter: Filter,
  asked: Field,
  field: (fieldId: string) => Field | undefined,
): string | null {
  if (isGroup(filter)) {
    for (const child of filter.children) {
      const problem = conditionProblem(child, asked, field)
      if (problem !== null) return problem
    }
    return null
  }
  const named = field(filter.fieldId)
  if (!named) return null
  if (named.id === asked.id) return `Field "${asked.title}" can’t depend on its own answer`
  if (!canBeAsked(named)) return `Field "${named.title}" is not in the form`
  if (isNamedLink(named) && !LINK_OPERATORS.includes(filter.operator)) {
    return `A form condition can only check whether field "${named.title}" has a linked record`
  }
  return checkFilter(filter, field)[0]?.message ?? null
}

/** Why a form takes no more answers; null where it does. */
export function formClosed(
  { closesAt, maxAnswers }: Pick<FormOptions, 'closesAt' | 'maxAnswers'>,
  { now, answers }: { now: Date; answers: number },
): 'over' | 'full' | null {
  if (closesAt !== null && now.getTime() >= Date.parse(closesAt)) return 'over'
  return maxAnswers !== null && answers >= maxAnswers ? 'full' : null
}

/**
 * Where the browser goes after submitting, with the record's id filled in; null where there is no such address
 * or it is none of the web: nothing but http and https may be opened.
 */
export function redirectAddress(redirectUrl: string | null, recordId: string | number | null): URL | null {
  const filled = redirectUrl?.replaceAll('{record_id}', encodeURIComponent(String(recordId ?? ''))) ?? ''
  if (!/^https?:\/\//i.test(filled) || !URL.canParse(filled)) return null
  return new URL(filled)
}
