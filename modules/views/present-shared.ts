import { notFound } from '../../src/core/errors.ts'
import { publicView } from '../../src/core/views/public-view.ts'
import { narrowModel } from '../schema/index.ts'
import type { WireLink } from './kinds/wire-kind.ts'
import { fieldsOfView, type ViewRow } from './model.ts'
import { forVisitors, presentFilter, presentLine, presentSort, presentView, shownView } from './present.ts'
import type { ViewsStore } from './store.ts'
import { eachNode, toNodes } from './wire-filters.ts'

/**
 * A view as REST clients get it who came by a link to it (wire reference §17): with its columns, filter and
 * sorts, as far as these are of fields that it shows.
 *
 * @throws VIEW_NOT_FOUND
 */
export async function presentSharedView(store: ViewsStore, viewId: string, link: WireLink) {
  const { view, model: whole } = await store.load(viewId)
  const found = await store.findRow(viewId)
  if (!found) throw notFound('View', viewId)
  const model = narrowModel(whole, view)
  const { fields, filter, sorts } = publicView(view, model.fields)
  // Who made it, and what other clients keep with it, is for members.
  const row: ViewRow = { ...found, meta: {}, createdBy: null, ownedBy: null, filter, sorts }
  const shown = { ...forVisitors(shownView(model, row)), link }
  const kept = new Map((await store.linesOf(viewId)).map((line) => [line.fieldId, line]))
  const said = new Map(fields.map((line) => [line.fieldId, line.form]))
  const columns = fieldsOfView(model, row.kind, [...kept.values()]).map((line) =>
    presentLine(shown, {
      ...line,
      id: kept.get(line.fieldId)?.id ?? '',
      viewId,
      form: said.get(line.fieldId) ?? null,
    }),
  )
  const children = [...eachNode(toNodes(filter))].map((node) => presentFilter(model.table, row, node))
  return {
    ...presentView(shown, { detailed: false }),
    filter: { is_group: true, logical_op: 'and', children },
    sorts: sorts.map((sort, index) => presentSort(model.table, row, sort, index + 1)),
    columns,
  }
}
