import { titlesIn } from '../fields/choice-titles.ts'
import { type Field, isNamedLink } from '../fields/field.ts'
import type { CellValue, Read } from '../fields/field-type.ts'
import { fieldType } from '../fields/index.ts'
import { linkOf } from '../fields/link-options.ts'
import { readLinkIds, writeLinks } from '../fields/list-value.ts'
import { readValue } from '../fields/read.ts'
import { hasChoices, hasMultipleChoices, holdsPeople, isBoolean } from '../fields/traits.ts'
import { checkFilter, type Filter, type FilterMoment, isGroup, matchesFilter } from '../filters/index.ts'
import { m } from '../messages.gen.ts'
import type { View } from '../model.ts'
import { type FormField, formField } from './form.ts'
import { findRule } from './form-rules.ts'
import { offeredChoices, type Question } from './question.ts'

/** Answers by field id: cell values or unvalidated input. */
export type Answers = Readonly<Record<string, unknown>>

/** Time and user of an answer; servers omit unknown parts. */
type AnswerMoment = Partial<FilterMoment>

/** The error message for an answer, in the current language; English on the server. */
export interface AnswerProblem {
  fieldId: string
  message: string
}

/** Validated answers. `values` holds only visible questions, ready to be written. */
interface CheckedAnswers {
  values: Record<string, CellValue>
  problems: AnswerProblem[]
}

type FormView = Pick<View, 'fields'>

let cachedDefaults: FormField | null = null

/** Form settings of a field without any. Created lazily, because programs configure zod first. */
export const defaultSettings = (): FormField => {
  cachedDefaults ??= formField.parse({})
  return cachedDefaults
}

/** True for fields that a form can include: editable ones, and neither keys, system fields nor computed fields. */
export function isFormField(field: Field): boolean {
  const type = fieldType(field.type)
  if (field.isSystem || field.isPrimaryKey || field.readOnlyReason !== null || field.error !== null)
    return false
  if (type.readOnly || type.internal) return false
  return type.computed === undefined || type.computed === 'link'
}

/** All questions of a form in order, whether or not their conditions are met. */
export function questionsOf(view: FormView, fields: readonly Field[]): Question[] {
  const byId = new Map(fields.map((field) => [field.id, field]))
  const shown = view.fields.filter((line) => line.show).toSorted((a, b) => a.order - b.order)
  return shown.flatMap(({ fieldId, form }) => {
    const field = byId.get(fieldId)
    if (!field || !isFormField(field)) return []
    const settings = form ?? defaultSettings()
    return [{ field, form: settings, isRequired: settings.required || (field.required && !isBoolean(field)) }]
  })
}

/**
 * The questions visible with these answers, in order. A condition sees only earlier questions; hidden ones
 * count as empty. Conditions on later questions or fields outside the form have no effect.
 */
export function visibleQuestions(
  view: FormView,
  fields: readonly Field[],
  values: Answers,
  moment: AnswerMoment = {},
): Question[] {
  return walk(view, fields, values, moment).map(({ question }) => question)
}

/**
 * Validates answers against the field types, required questions, rules and offered options of a form, both in
 * the browser and on the server. Omits values of hidden questions; absent values stay absent, so that the
 * field's default applies.
 */
export function checkAnswers({
  view,
  fields,
  values,
  ...moment
}: { view: FormView; fields: readonly Field[]; values: Answers } & AnswerMoment): CheckedAnswers {
  const checked: CheckedAnswers = { values: {}, problems: [] }
  for (const { question, read, isGiven } of walk(view, fields, values, moment)) {
    const { id } = question.field
    if (read.ok && isGiven) checked.values[id] = read.value
    const problem = read.ok ? problemOf(question, read.value, isGiven, moment) : read.message
    if (problem !== null) checked.problems.push({ fieldId: id, message: problem })
  }
  return checked
}

/** True for an empty answer: blank, or the type's initial value (unchecked, no stars). */
function isUnanswered({ type }: Pick<Field, 'type'>, value: CellValue): boolean {
  if (value === null || (typeof value === 'string' && value.trim() === '')) return true
  const { initial } = fieldType(type)
  return initial !== undefined && Number(value) === Number(initial)
}

interface Step {
  question: Question
  read: Read
  isGiven: boolean
}

/** Evaluates the questions in order: each sees the earlier answers. */
function walk(view: FormView, fields: readonly Field[], values: Answers, moment: AnswerMoment): Step[] {
  const row: Record<string, CellValue> = {}
  const ahead = new Map<string, Field>()
  const steps: Step[] = []
  for (const question of questionsOf(view, fields)) {
    const { field, form } = question
    if (meets(form.showIf, row, ahead, moment)) {
      const given = Object.hasOwn(values, field.id) ? values[field.id] : undefined
      const read = readAnswer(field, given)
      row[field.id] = read.ok ? asCell(field, read.value) : null
      steps.push({ question, read, isGiven: given !== undefined })
    }
    ahead.set(field.id, field)
  }
  return steps
}

function meets(
  showIf: Filter | null,
  row: Record<string, CellValue>,
  ahead: ReadonlyMap<string, Field>,
  moment: AnswerMoment,
): boolean {
  if (showIf === null) return true
  return matchesFilter(showIf, row, {
    ...moment,
    now: moment.now ?? new Date(),
    field: (fieldId) => ahead.get(fieldId),
  })
}

/** Treats blank text as no answer. */
const readAnswer = (field: Field, given: unknown): Read =>
  readValue(field, typeof given === 'string' && given.trim() === '' ? null : given)

/** Converts an answer to a cell for filters. A form knows the ids of linked records, but not their names. */
function asCell(field: Field, value: CellValue): CellValue {
  const ids = linkOf(field) === null ? null : readLinkIds(value)
  if (ids === null) return value
  return writeLinks({ count: ids.length, records: ids.map((id) => ({ id, title: String(id) })) })
}

function problemOf(
  { field, form, isRequired }: Question,
  value: CellValue,
  isGiven: boolean,
  moment: AnswerMoment,
): string | null {
  if (isUnanswered(field, value)) {
    // Visitors see nobody: a public form does not show the question.
    const isShown = !holdsPeople(field) || (moment.people ?? []).length > 0
    // The default value satisfies a table's requirement unless the user cleared the answer.
    const hasDefault = !isGiven && !form.required && field.defaultValue !== null
    return isRequired && isShown && !hasDefault ? missingMessage(field) : null
  }
  return limitProblem(field, form, value) ?? ruleProblem(field, form, value, moment)
}

const missingMessage = (field: Field): string =>
  isBoolean(field) ? m.answer_box_required() : m.answer_required()

function limitProblem(field: Field, form: FormField, value: CellValue): string | null {
  if (form.limitOptions === null || !hasChoices(field)) return null
  const offered = new Set(offeredChoices(field, form).map(({ title }) => title))
  const chosen = hasMultipleChoices(field) ? titlesIn(String(value)) : [String(value)]
  const unavailable = chosen.find((title) => !offered.has(title))
  return unavailable === undefined ? null : m.answer_option_not_available({ option: unavailable })
}

function ruleProblem(field: Field, form: FormField, value: CellValue, moment: AnswerMoment): string | null {
  const at = { now: moment.now ?? new Date(), timeZone: moment.timeZone }
  for (const { rule: key, value: limit, message } of form.rules) {
    const rule = findRule(key)
    // Ignores rules left over from an earlier field type.
    if (!rule?.fits(field) || rule.problem(limit) !== null) continue
    const broken = rule.broken(value, limit, field, at)
    if (broken) return message || broken
  }
  return null
}

/** Forms do not know the names of linked records, so conditions can only test their presence. */
const LINK_OPERATORS: readonly string[] = ['blank', 'notblank']

/**
 * Error message that names the field if its form settings are invalid; null if they are valid. `field` finds a live
 * field by its id. Conditions on deleted fields are allowed: they have no effect.
 */
export function formFieldProblem(
  asked: Field,
  form: FormField,
  field: (fieldId: string) => Field | undefined,
): string | null {
  for (const { rule: key, value } of form.rules) {
    const rule = findRule(key)
    if (!rule?.fits(asked)) return m.form_error_no_rule({ field: asked.title, rule: key })
    const problem = rule.problem(value)
    if (problem !== null) return m.form_error_rule({ rule: key, field: asked.title, problem })
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
  if (named.id === asked.id) return m.form_error_own_answer({ field: asked.title })
  if (!isFormField(named)) return m.form_error_not_in_form({ field: named.title })
  if (isNamedLink(named) && !LINK_OPERATORS.includes(filter.operator)) {
    return m.form_error_link_condition({ field: named.title })
  }
  return checkFilter(filter, field)[0]?.message ?? null
}

/** The redirect URL after submission, with the record's id filled in; null if unset or not http(s). */
export function redirectAddress(redirectUrl: string | null, recordId: string | number | null): URL | null {
  const filled = redirectUrl?.replaceAll('{record_id}', encodeURIComponent(String(recordId ?? ''))) ?? ''
  if (!/^https?:\/\//i.test(filled) || !URL.canParse(filled)) return null
  return new URL(filled)
}
