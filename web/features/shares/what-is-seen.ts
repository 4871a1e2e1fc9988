import type { TableSchema, View } from '../../../src/core/model.ts'
import { questionsOf } from '../../../src/core/views/form-answers.ts'
import { collectsAnswers, stacksOf } from '../../../src/core/views/index.ts'
import { t, tn } from '../../i18n.ts'
import { completeFilter, conditionsOf } from '../views/filter/filter-edit.ts'
import { fieldsInOrder, shownFields } from '../views/state/arrange-fields.ts'

/** What a visitor of a view's link will see, in sentences. */
export function whatIsSeen({ fields }: Pick<TableSchema, 'fields'>, view: View): string[] {
  if (collectsAnswers(view)) {
    const asked = questionsOf(view, fields).length
    return [
      tn('Visitors see 1 question.', 'Visitors see {n} questions.', asked),
      t('Records are not visible.'),
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
      ? [tn('1 hidden field is not accessible.', '{n} hidden fields are not accessible.', hidden)]
      : []),
    conditions > 0
      ? tn(
          'Only records that match 1 condition are visible.',
          'Only records that match {n} conditions are visible.',
          conditions,
        )
      : hasHiddenStacks(view)
        ? t('Only records in visible stacks are shown.')
        : t('All records are visible.'),
    ...(conditions > 0 && hasHiddenStacks(view) ? [t('Records in hidden stacks are not shown.')] : []),
  ]
}

const hasHiddenStacks = (view: View): boolean => (stacksOf(view)?.hidden.length ?? 0) > 0
