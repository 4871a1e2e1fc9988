import { fieldType } from '../../../src/core/fields/index.ts'
import { type Condition, type DateOperand, operandNeeds } from '../../../src/core/filters/index.ts'
import type { Field, Sort } from '../../../src/core/model.ts'
import { t } from '../../i18n.ts'
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

/** A condition as a sentence: `Status is Done`, `Due is before today`. */
export function describeCondition(condition: Condition, field: Field): string {
  const operator = operatorChoices(field, condition.operator).find(({ key }) => key === condition.operator)
  return [field.title, t(operator?.label ?? condition.operator), describeValue(condition, field)]
    .filter((part) => part !== '')
    .join(' ')
}

function describeValue(condition: Condition, field: Field): string {
  const { operand, value } = condition
  if (setOfField(field) === 'date' && operand && operand !== 'exactDate') {
    return operandNeeds(operand) === 'days'
      ? `${String(value ?? '')} ${operandLabel(operand)}`
      : operandLabel(operand)
  }
  const type = fieldType(field.type)
  const list = (Array.isArray(value) ? value : [value]).filter((each) => each !== null && each !== '')
  return list.map((each) => (typeof each === 'string' ? each : type.format(each, field.options))).join(', ')
}

/** The two directions of a sort in words of the field's type. */
export function directionLabels(field: Field): Record<Sort['direction'], string> {
  switch (setOfField(field)) {
    case 'number':
      return { asc: t('1 → 9'), desc: t('9 → 1') }
    case 'date':
      return { asc: t('Earliest → latest'), desc: t('Latest → earliest') }
    case 'checkbox':
      return { asc: t('Unchecked → checked'), desc: t('Checked → unchecked') }
    case 'select':
      return { asc: t('First option → last'), desc: t('Last option → first') }
    default:
      return { asc: t('A → Z'), desc: t('Z → A') }
  }
}
