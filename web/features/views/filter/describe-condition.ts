import { formatDay } from '../../../../src/core/fields/date-text.ts'
import { dayFormatOf, shownType } from '../../../../src/core/fields/field.ts'
import type { CellValue } from '../../../../src/core/fields/field-type.ts'
import { ME } from '../../../../src/core/fields/people.ts'
import { type Condition, type DateOperand, operandNeeds } from '../../../../src/core/filters/index.ts'
import type { Field, Person, Sort } from '../../../../src/core/model.ts'
import { m } from '../../../messages.gen.ts'
import { arityOf, operatorChoices, setOfField } from './filter-edit.ts'

/** Label of a relative date. */
export const operandLabel = (operand: DateOperand): string => OPERAND_LABELS[operand]()

const OPERAND_LABELS: Record<DateOperand, () => string> = {
  today: () => m.views_today(),
  tomorrow: () => m.views_tomorrow(),
  yesterday: () => m.views_yesterday(),
  oneWeekAgo: () => m.views_one_week_ago(),
  oneWeekFromNow: () => m.views_one_week_from_now(),
  oneMonthAgo: () => m.views_one_month_ago(),
  oneMonthFromNow: () => m.views_one_month_from_now(),
  daysAgo: () => m.views_days_ago(),
  daysFromNow: () => m.views_days_from_now(),
  exactDate: () => m.views_exact_date(),
  pastWeek: () => m.views_the_past_week(),
  pastMonth: () => m.views_the_past_month(),
  pastYear: () => m.views_the_past_year(),
  nextWeek: () => m.views_the_next_week(),
  nextMonth: () => m.views_the_next_month(),
  nextYear: () => m.views_the_next_year(),
  pastNumberOfDays: () => m.views_the_past_days(),
  nextNumberOfDays: () => m.views_the_next_days(),
}

/** A condition as a sentence: `Status is Done`, `Due is before today`, `Who has any of Ann`. */
export function describeCondition(
  condition: Condition,
  field: Field,
  people: readonly Person[] = [],
): string {
  const operator = operatorChoices(field, condition.operator).find(({ key }) => key === condition.operator)
  return [field.title, operator?.label ?? condition.operator, describeValue(condition, field, people)]
    .filter((part) => part !== '')
    .join(' ')
}

function describeValue(condition: Condition, field: Field, people: readonly Person[]): string {
  const { operand, value } = condition
  // A value may be kept for another operator.
  if (arityOf(condition.operator, setOfField(field)) === 'none') return ''
  if (setOfField(field) === 'date' && operand && operand !== 'exactDate') {
    return operandNeeds(operand) === 'days'
      ? `${String(value ?? '')} ${operandLabel(operand)}`
      : operandLabel(operand)
  }
  const { type, options } = shownType(field)
  const list = (Array.isArray(value) ? value : [value]).filter((each) => each !== null && each !== '')
  const nameOf = (id: string) => {
    const person = people.find((one) => one.id === id)
    return id === ME ? m.views_me() : ((person?.displayName || person?.email) ?? id)
  }
  const isPeople = setOfField(field) === 'user'
  const isDay = setOfField(field) === 'date'
  // Links are compared by their count, which is not a value of the field.
  const format = (each: CellValue) =>
    setOfField(field) === 'links' ? String(each) : type.format(each, options)
  const shown = (each: string) =>
    isPeople ? nameOf(each) : isDay ? formatDay(each.slice(0, 10), dayFormatOf(field)) : each
  return list.map((each) => (typeof each === 'string' ? shown(each) : format(each))).join(', ')
}

/** Labels of the two sort directions for the field's type. */
export function directionLabels(field: Field): Record<Sort['direction'], string> {
  switch (setOfField(field)) {
    case 'number':
    case 'links':
      return { asc: m.views_sort_numbers_ascending(), desc: m.views_sort_numbers_descending() }
    case 'date':
    case 'time':
      return { asc: m.views_sort_earliest_first(), desc: m.views_sort_latest_first() }
    case 'checkbox':
      return { asc: m.views_sort_unchecked_first(), desc: m.views_sort_checked_first() }
    case 'select':
      return { asc: m.views_sort_options_ascending(), desc: m.views_sort_options_descending() }
    default:
      return { asc: m.views_sort_text_ascending(), desc: m.views_sort_text_descending() }
  }
}
