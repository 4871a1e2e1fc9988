import { type Choice, titlesIn } from '../fields/choices.ts'
import { type Field, isNamedLink } from '../fields/field.ts'
import type { CellValue, Read } from '../fields/field-type.ts'
import { fieldType } from '../fields/index.ts'
import { linkOf } from '../fields/link-options.ts'
import { readLinkIds, writeLinks } from '../fields/list-value.ts'
import { readValue } from '../fields/read.ts'
import { hasChoices, hasMultipleChoices, isBoolean } from '../fields/traits.ts'
import { checkFilter, type Filter, type FilterMoment, isGroup, matchesFilter } from '../filters/index.ts'
import { m } from '../messages.gen.ts'
import type { View } from '../model.ts'
import { type FormField, type FormOptions, formField } from './form.ts'
import { findRule } from './form-rules.ts'

/** A field that a form asks for, with all that the form says of it. */
export interface Question {
  field: Field
  form: FormField
  /** An answer is needed, because the form or the table says so. */
  isRequired: boolean
}

/** Answers by field id: cells, as far as they have been read, or what came from outside. */
export type Answers = Readonly<Record<string, unknown>>

/** When and by whom a form is filled in; a server leaves out what it does not know. */
type AnswerMoment = Partial<FilterMoment>

/** The error message for an answer, in the current language; English on the server. */
export interface AnswerProblem {
  fieldId: string
  message: string
}

/** Answers that were looked at. `values` holds only questions that are asked, ready to be written. */
interface CheckedAnswers {
  values: Record<string, CellValue>
  problems: AnswerProblem[]
}

type FormView = Pick<View, 'fields'>

let nothing: FormField | null = null

/** Form settings of a field without any. Created lazily, because programs configure zod first. */
export const nothingSaid = (): FormField => {
  nothing ??= formField.parse({})
  return nothing
}

/**
 * True for a field that a form can ask for: one whose values people write. Never a key, a field of the
 * product's own, or one that is worked out.
 */
export function canBeAsked(field: Field): boolean {
  const type = fieldType(field.type)
  if (field.isSystem || field.isPrimaryKey || field.readOnlyReason !== null || field.error !== null)
    return false
  if (type.readOnly || type.internal) return false
  return type.computed === undefined || type.computed === 'link'
}

/** Every question of a form in its order, whether or not its condition is met. */
export function questionsOf(view: FormView, fields: readonly Field[]): Question[] {
  const byId = new Map(fields.map((field) => [field.id, field]))
  const shown = view.fields.filter((line) => line.show).toSorted((a, b) => a.order - b.order)
  return shown.flatMap(({ fieldId, form }) => {
    const field = byId.get(fieldId)
    if (!field || !canBeAsked(field)) return []
    const said = form ?? nothingSaid()
    return [{ field, form: said, isRequired: said.required || (field.required && !isBoolean(field)) }]
  })
}

/**
 * The questions that are asked with these answers, in order. A condition sees only what stands ahead of its
 * question: of questions that are not asked, nothing, and a part of it about a later question or a field that
 * the form does not ask for has no effect.
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
 * Holds answers against a form: against the types of the fields, what is required, the rules and the options
 * that are offered. Browser and server call the same, so that they agree. Values of anything that is not asked
 * are left out; a question without a value stays without one, so that the field's default applies.
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

/** The options of a select field that its form offers: all where none of those that it is limited to is left. */
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

/** True for an answer without content: blank, or the value that the type starts from (unchecked, no stars). */
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

/** Goes through the questions as a person does: each sees the answers ahead of it. */
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

/** The empty text of an input is no answer. */
const readAnswer = (field: Field, given: unknown): Read =>
  readValue(field, typeof given === 'string' && given.trim() === '' ? null : given)

/** An answer as a filter reads cells: of linked records the form knows how many, and not what they are called. */
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
    // Of a field that the table requires, its default is an answer as long as nobody has taken it away.
    const hasDefault = !isGiven && !form.required && field.defaultValue !== null
    return isRequired && !hasDefault ? needed(field) : null
  }
  return limitProblem(field, form, value) ?? ruleProblem(field, form, value, moment)
}

const needed = (field: Field): string => (isBoolean(field) ? m.answer_box_required() : m.answer_required())

function limitProblem(field: Field, form: FormField, value: CellValue): string | null {
  if (form.limitOptions === null || !hasChoices(field)) return null
  const offered = new Set(offeredChoices(field, form).map(({ title }) => title))
  const chosen = hasMultipleChoices(field) ? titlesIn(String(value)) : [String(value)]
  const odd = chosen.find((title) => !offered.has(title))
  return odd === undefined ? null : m.answer_option_not_available({ option: odd })
}

function ruleProblem(field: Field, form: FormField, value: CellValue, moment: AnswerMoment): string | null {
  const at = { now: moment.now ?? new Date(), timeZone: moment.timeZone }
  for (const { rule: key, value: limit, message } of form.rules) {
    const rule = findRule(key)
    // A rule may be left over from when the field was of another type.
    if (!rule?.fits(field) || rule.problem(limit) !== null) continue
    const broken = rule.broken(value, limit, field, at)
    if (broken) return message || broken
  }
  return null
}

/** Of a linked record a form does not know the name, so a condition can ask no more than whether there is one. */
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
