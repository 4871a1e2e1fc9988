import { eq } from 'drizzle-orm'
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
 * The statements after which the views of a table mean the same options as before, under their new titles:
 * in filters and colours, as the stacks of a kanban, and among what a form offers.
 */
export async function renameChoices(
  { db, store }: ViewsContext,
  { table }: TableModel,
  fieldId: string,
  renamed: ReadonlyMap<string, string>,
): Promise<MetaStatement[]> {
  const { views, viewFields } = store
  const rename = (title: string) => renamed.get(title) ?? title
  const statements: MetaStatement[] = []
  for (const row of await store.rowsOf(table.id)) {
    const after = renamedView(row, fieldId, rename)
    if (!Bun.deepEquals(after, partsOf(row))) {
      statements.push(db.update(views).set(after).where(eq(views.id, row.id)))
    }
    if (!collectsAnswers(row)) continue
    for (const line of await store.linesOf(row.id)) {
      const form = line.form && renameInForm(line.form, fieldId, rename, line.fieldId === fieldId)
      if (!Bun.deepEquals(form, line.form)) {
        statements.push(db.update(viewFields).set({ form }).where(eq(viewFields.id, line.id)))
      }
    }
  }
  return statements
}

type Renamable = Pick<ViewRow, 'filter' | 'coloring' | 'options'>

const partsOf = ({ filter, coloring, options }: Renamable): Renamable => ({ filter, coloring, options })

function renamedView(
  { kind, filter, coloring, options }: ViewRow,
  fieldId: string,
  rename: (title: string) => string,
): Renamable {
  const definition = viewKind(kind)
  return {
    filter: filter && renameInFilter(filter, fieldId, rename),
    coloring: coloring && renameInColoring(coloring, fieldId, rename),
    options:
      options && definition.renameChoices
        ? definition.renameChoices(definition.options.parse(options), fieldId, rename)
        : options,
  }
}
