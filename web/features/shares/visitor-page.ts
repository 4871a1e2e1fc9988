import type { TableSchema, View } from '../../../src/core/model.ts'
import { questionsOf } from '../../../src/core/views/form-answers.ts'
import { collectsAnswers, stacksOf } from '../../../src/core/views/index.ts'
import { m } from '../../messages.gen.ts'
import { completeFilter, conditionsOf } from '../views/filter/filter-edit.ts'
import { fieldsInOrder, shownFields } from '../views/state/arrange-fields.ts'

/** Sentences that describe what visitors of a view's public link see. */
export function visitorSummary({ fields }: Pick<TableSchema, 'fields'>, view: View): string[] {
  if (collectsAnswers(view)) {
    const asked = questionsOf(view, fields).length
    return [m.shares_visitors_see_questions({ count: asked }), m.shares_records_are_not_visible()]
  }
  const shown = shownFields(fields, view).length
  // Display field and primary key are always sent.
  const hidden = fieldsInOrder(fields, view).filter(
    ({ field, column }) => !column.show && !field.isDisplay && !field.isPrimaryKey,
  ).length
  const conditions = conditionsOf(completeFilter(view.filter, fields)).length
  return [
    m.shares_visitors_see_fields({ count: shown }),
    ...(hidden > 0 ? [m.shares_hidden_fields_are_not_accessible({ count: hidden })] : []),
    conditions > 0
      ? m.shares_only_records_match_conditions_visible({ count: conditions })
      : hasHiddenStacks(view)
        ? m.shares_only_records_visible_stacks_shown()
        : m.shares_all_records_are_visible(),
    ...(conditions > 0 && hasHiddenStacks(view) ? [m.shares_records_hidden_stacks_not_shown()] : []),
  ]
}

const hasHiddenStacks = (view: View): boolean => (stacksOf(view)?.hidden.length ?? 0) > 0

/** HTML that shows a public page within another site. */
export const embedCode = (address: string, title: string): string =>
  `<iframe src="${escapeHtml(address)}" title="${escapeHtml(title)}" width="100%" height="700" ` +
  'style="border: 1px solid #e3e6eb; border-radius: 8px" allow="clipboard-write" loading="lazy"></iframe>'

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
