import { defineSlot, type Registry } from '../../../src/registry.ts'
import type { TableModel } from '../model/index.ts'
import type { SchemaReader } from '../reader.ts'
import { presentWholeTable } from './present.ts'
import type { WireSurroundings } from './wire-computed.ts'

/** How views are sent to REST clients. */
export interface PresentedViews {
  /** As in lists of views: each view also names its table. */
  detailed: boolean
  /** Without what is for members only. */
  forVisitors?: boolean
}

/** The views of a table as REST clients know them, in their order. */
export type PresentTableViews = (
  model: TableModel,
  options: PresentedViews,
) => Promise<Record<string, unknown>[]>

/** A table is sent with its views, whose module comes after this one: app.ts fills this slot with its presenter. */
export const VIEW_PRESENTER = defineSlot<PresentTableViews>('schema.rest.views')

/**
 * A table as REST clients get it, with its columns and views.
 *
 * @param detailed as a table fetched by its id has them: each view then names its table too
 */
export async function presentFull(
  schema: SchemaReader,
  registry: Registry,
  tableId: string,
  { detailed = false, forVisitors = false }: Partial<PresentedViews> = {},
) {
  const model = await schema.load(tableId)
  const views = await schema.viewsOf(model)
  const presented = await registry.get(VIEW_PRESENTER)(model, { detailed, forVisitors })
  return presentWholeTable(model, views, presented, await surroundingsOf(schema, tableId))
}

/** What the columns of a table speak of: the record ids of tables linked with it, fields in formulas, its engine. */
export async function surroundingsOf(
  schema: Pick<SchemaReader, 'loadReachable' | 'load' | 'clientOf'>,
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
