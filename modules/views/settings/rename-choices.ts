import { eq } from 'drizzle-orm'
import type { ChoiceTitles } from '../../../src/core/fields/choice-titles.ts'
import {
  collectsAnswers,
  renameInColoring,
  renameInFilter,
  renameInForm,
  viewKind,
} from '../../../src/core/views/index.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import type { TableModel } from '../../schema/index.ts'
import type { ViewFieldRow, ViewRow, ViewsContext } from '../model/index.ts'

/** The settings of a view that name options by their titles. */
export type ChoiceSettings = Pick<ViewRow, 'filter' | 'coloring' | 'options'>

/** The settings with renamed options: filters, coloring and kanban stacks. */
export function withRenamedChoices(
  { filter, coloring, options, ...row }: ChoiceSettings & Pick<ViewRow, 'kind'>,
  fieldId: string,
  titles: ChoiceTitles,
): ChoiceSettings {
  const kind = viewKind(row.kind)
  return {
    filter: filter && renameInFilter(filter, fieldId, titles),
    coloring: coloring && renameInColoring(coloring, fieldId, titles),
    options:
      options && kind.renameChoices
        ? kind.renameChoices(kind.options.parse(options), fieldId, titles)
        : options,
  }
}

/** The settings of a form for one field, with renamed options. */
export const formWithRenamedChoices = (
  { form, fieldId: askedId }: Pick<ViewFieldRow, 'form' | 'fieldId'>,
  fieldId: string,
  titles: ChoiceTitles,
): ViewFieldRow['form'] => form && renameInForm(form, fieldId, titles, askedId === fieldId)

/**
 * The statements that carry renamed select options into the views of a table: filters, coloring, kanban stacks and the
 * choices of forms.
 */
export async function renameChoices(
  { db, store }: ViewsContext,
  { table }: TableModel,
  fieldId: string,
  titles: ChoiceTitles,
): Promise<MetaStatement[]> {
  const { views, viewFields } = store
  const statements: MetaStatement[] = []
  for (const row of await store.rowsOf(table.id)) {
    const { filter, coloring, options } = row
    const after = withRenamedChoices(row, fieldId, titles)
    if (!Bun.deepEquals(after, { filter, coloring, options })) {
      statements.push(db.update(views).set(after).where(eq(views.id, row.id)))
    }
    if (!collectsAnswers(row)) continue
    for (const line of await store.fieldRowsOf(row.id)) {
      const form = formWithRenamedChoices(line, fieldId, titles)
      if (!Bun.deepEquals(form, line.form)) {
        statements.push(db.update(viewFields).set({ form }).where(eq(viewFields.id, line.id)))
      }
    }
  }
  return statements
}
