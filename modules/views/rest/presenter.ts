import type { Actor } from '../../../src/core/actor.ts'
import type { ShareRow } from '../../auth/index.ts'
import type { PresentTableViews } from '../../schema/index.ts'
import type { ViewsService } from '../service.ts'
import { eachNode, toNodes } from './filter-list.ts'
import { presentFilter, presentLine, presentSort, presentView } from './present.ts'

/** Presents the views of a table, for the REST adapter of the schema module. */
export const presentTableViews =
  (views: ViewsService): PresentTableViews =>
  async (model, options) =>
    (await views.shownOfTable(model, options)).map((shown) => presentView(shown, options))

/** Every view of a table as REST clients know them, for someone who may see them. @throws TABLE_NOT_FOUND */
export const presentViewList = async (views: ViewsService, actor: Actor, tableId: string) =>
  (await views.listShown(actor, tableId)).map((shown) => presentView(shown, { detailed: true }))

/** One view as REST clients know it, for someone who may see it. @throws VIEW_NOT_FOUND */
export const presentOneView = async (views: ViewsService, actor: Actor, viewId: string) =>
  presentView(await views.openShown(actor, 'view.list', viewId), { detailed: false })

/**
 * A view as visitors of its public link get it (wire reference §17): with its columns, filter and sorts, as far as
 * these are of fields that it shows.
 *
 * @throws VIEW_NOT_FOUND
 */
export async function presentSharedView(
  views: ViewsService,
  viewId: string,
  share: Pick<ShareRow, 'id' | 'settings'>,
) {
  const { shown, lines } = await views.openShared(viewId, share)
  const { model, row } = shown
  const children = [...eachNode(toNodes(row.filter))].map((node) => presentFilter(model.table, row, node))
  return {
    ...presentView(shown, { detailed: false }),
    filter: { is_group: true, logical_op: 'and', children },
    sorts: row.sorts.map((sort, index) => presentSort(model.table, row, sort, index + 1)),
    columns: lines.map((line) => presentLine(shown, line)),
  }
}
