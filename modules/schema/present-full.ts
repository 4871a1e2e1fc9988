import { presentWholeTable } from './present.ts'
import type { SchemaService } from './service.ts'

/**
 * A table as REST clients get it, with its columns and views.
 *
 * @param detailed as a table fetched by its id has them: each view then names its table too
 */
export async function presentFull(schema: SchemaService, tableId: string, detailed = false) {
  const model = await schema.load(tableId)
  const views = await schema.viewsOf(model)
  return presentWholeTable(model, views, await schema.presentViews(model, { detailed }))
}
