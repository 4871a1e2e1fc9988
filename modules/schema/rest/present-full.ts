import type { PresentedViews } from '../change/index.ts'
import type { SchemaService } from '../service.ts'
import { presentWholeTable } from './present.ts'
import type { WireSurroundings } from './wire-computed.ts'

/**
 * A table as REST clients get it, with its columns and views.
 *
 * @param detailed as a table fetched by its id has them: each view then names its table too
 */
export async function presentFull(
  schema: SchemaService,
  tableId: string,
  { detailed = false, forVisitors = false }: Partial<PresentedViews> = {},
) {
  const model = await schema.load(tableId)
  const views = await schema.viewsOf(model)
  const presented = await schema.presentViews(model, { detailed, forVisitors })
  return presentWholeTable(model, views, presented, await surroundingsOf(schema, tableId))
}

/** What the columns of a table speak of: the record ids of tables linked with it, fields in formulas, its engine. */
export async function surroundingsOf(
  schema: Pick<SchemaService, 'loadReachable' | 'load' | 'clientOf'>,
  tableId: string,
): Promise<WireSurroundings> {
  const reachable = await schema.loadReachable(tableId)
  const model = await schema.load(tableId)
  return {
    primaryKeyOf: (id) => reachable.get(id)?.primaryKey.id ?? null,
    fields: model.fields,
    client: await schema.clientOf(model),
  }
}
