import type { TableSchema, View } from '../../../src/core/model.ts'
import { questionsOf } from '../../../src/core/views/form-answers.ts'
import { optionsOf } from '../../../src/core/views/index.ts'
import { t, tn } from '../../i18n.ts'
import { fieldsInOrder, shownFields } from '../views/arrange-fields.ts'
import { completeFilter, conditionsOf } from '../views/filter-edit.ts'

/** What a visitor of a view's link will see, in sentences. */
export function whatIsSeen({ fields }: Pick<TableSchema, 'fields'>, view: View): string[] {
  if (view.kind === 'form') {
    const asked = questionsOf(view, fields).length
    return [
      tn('Visitors are asked 1 question.', 'Visitors are asked {n} questions.', asked),
      t('They see no records.'),
    ]
  }
  const shown = shownFields(fields, view).length
  // The number of a record goes along with it, shown or not.
  const hidden = fieldsInOrder(fields, view).filter(
    ({ field, column }) => !column.show && !field.isDisplay && !field.isPrimaryKey,
  ).length
  const conditions = conditionsOf(completeFilter(view.filter, fields)).length
  return [
    tn('Visitors see 1 field.', 'Visitors see {n} fields.', shown),
    ...(hidden > 0
      ? [tn('1 hidden field cannot be reached.', '{n} hidden fields cannot be reached.', hidden)]
      : []),
    conditions > 0
      ? tn(
          'They see only the records that meet 1 condition.',
          'They see only the records that meet {n} conditions.',
          conditions,
        )
      : hasHiddenStacks(view)
        ? t('They see only the records of stacks that are not hidden.')
        : t('They see all records.'),
    ...(conditions > 0 && hasHiddenStacks(view) ? [t('Records of hidden stacks are left out.')] : []),
  ]
}

const hasHiddenStacks = (view: View): boolean =>
  view.kind === 'kanban' && optionsOf(view, 'kanban').stacks.some(({ isHidden }) => isHidden)
