import { formatDay } from '../../../../src/core/fields/date-text.ts'
import { dayFormatOf, shownType } from '../../../../src/core/fields/field.ts'
import type { CellValue } from '../../../../src/core/fields/field-type.ts'
import { ME } from '../../../../src/core/fields/people.ts'
import { type Condition, type DateOperand, operandNeeds } from '../../../../src/core/filters/index.ts'
import type { Field, Person, Sort } from '../../../../src/core/model.ts'
import { t } from '../../../i18n.ts'
import { operatorChoices, setOfField } from './filter-edit.ts'

/** What a relative date is called. */
export const operandLabel = (operand: DateOperand): string => OPERAND_LABELS[operand]()

const OPERAND_LABELS: Record<DateOperand, () => string> = {
  today: () => t('today'),
  tomorrow: () => t('tomorrow'),
  yesterday: () => t('yesterday'),
  oneWeekAgo: () => t('one week ago'),
  oneWeekFromNow: () => t('one week from now'),
  oneMonthAgo: () => t('one month ago'),
  oneMonthFromNow: () => t('one month from now'),
  daysAgo: () => t('days ago'),
  daysFromNow: () => t('days from now'),
  exactDate: () => t('exact date'),
  pastWeek: () => t('the past week'),
  pastMonth: () => t('the past month'),
  pastYear: () => t('the past year'),
  nextWeek: () => t('the next week'),
  nextMonth: () => t('the next month'),
  nextYear: () => t('the next year'),
  pastNumberOfDays: () => t('the past days'),
  nextNumberOfDays: () => t('the next days'),
}

/** A condition as a sentence: `Status is Done`, `Due is before today`, `Who has any of Ann`. */
export function describeCondition(
  condition: Condition,
  field: Field,
  people: readonly Person[] = [],
): string {
  const operator = operatorChoices(field, condition.operator).find(({ key }) => key === condition.operator)
  return [field.title, t(operator?.label ?? condition.operator), describeValue(condition, field, people)]
    .filter((part) => part !== '')
    .join(' ')
}

function describeValue(condition: Condition, field: Field, people: readonly Person[]): string {
  const { operand, value } = condition
  if (setOfField(field) === 'date' && operand && operand !== 'exactDate') {
    return operandNeeds(operand) === 'days'
      ? `${String(value ?? '')} ${operandLabel(operand)}`
      : operandLabel(operand)
  }
  const { type, options } = shownType(field)
  const list = (Array.isArray(value) ? value : [value]).filter((each) => each !== null && each !== '')
  const nameOf = (id: string) => {
    const person = people.find((one) => one.id === id)
    return id === ME ? t('me') : ((person?.displayName || person?.email) ?? id)
  }
  const isPeople = setOfField(field) === 'user'
  const isDay = setOfField(field) === 'date'
  // Links are compared by their number, which is no value of theirs.
  const format = (each: CellValue) =>
    setOfField(field) === 'links' ? String(each) : type.format(each, options)
  const shown = (each: string) =>
    isPeople ? nameOf(each) : isDay ? formatDay(each.slice(0, 10), dayFormatOf(field)) : each
  return list.map((each) => (typeof each === 'string' ? shown(each) : format(each))).join(', ')
}

/** The two directions of a sort in words of the field's type. */
export function directionLabels(field: Field): Record<Sort['direction'], string> {
  switch (setOfField(field)) {
    case 'number':
    case 'links':
      return { asc: t('1 → 9'), desc: t('9 → 1') }
    case 'date':
    case 'time':
      return { asc: t('Earliest → latest'), desc: t('Latest → earliest') }
    case 'checkbox':
      return { asc: t('Unchecked → checked'), desc: t('Checked → unchecked') }
    case 'select':
      return { asc: t('First option → last'), desc: t('Last option → first') }
    default:
      return { asc: t('A → Z'), desc: t('Z → A') }
  }
}
