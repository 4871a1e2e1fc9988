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
import type { ViewRow, ViewsContext } from '../model/index.ts'

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
    const kind = viewKind(row.kind)
    const after: Partial<ViewRow> = {
      filter: filter && renameInFilter(filter, fieldId, titles),
      coloring: coloring && renameInColoring(coloring, fieldId, titles),
      options:
        options && kind.renameChoices
          ? kind.renameChoices(kind.options.parse(options), fieldId, titles)
          : options,
    }
    if (!Bun.deepEquals(after, { filter, coloring, options })) {
      statements.push(db.update(views).set(after).where(eq(views.id, row.id)))
    }
    if (!collectsAnswers(row)) continue
    for (const { id, form, fieldId: askedId } of await store.fieldRowsOf(row.id)) {
      const renamedForm = form && renameInForm(form, fieldId, titles, askedId === fieldId)
      if (!Bun.deepEquals(renamedForm, form)) {
        statements.push(db.update(viewFields).set({ form: renamedForm }).where(eq(viewFields.id, id)))
      }
    }
  }
  return statements
}
