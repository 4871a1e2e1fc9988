import { notFound } from '../../src/core/errors.ts'
import { publicView } from '../../src/core/views/public-view.ts'
import type { ShareRow } from '../auth/index.ts'
import { narrowModel } from '../schema/index.ts'
import { fieldsOfView, type ViewRow } from './model.ts'
import { forVisitors, shownView, type ViewWithLines, viewShare } from './shown-view.ts'
import type { ViewsStore } from './store.ts'

/**
 * A view for visitors of its public link: its lines, filter and sorts cover only the fields that it shows.
 *
 * @throws VIEW_NOT_FOUND
 */
export async function openSharedView(
  store: ViewsStore,
  viewId: string,
  share: Pick<ShareRow, 'id' | 'settings'>,
): Promise<ViewWithLines> {
  const { view, model: whole } = await store.load(viewId)
  const found = await store.findRow(viewId)
  if (!found) throw notFound('View', viewId)
  const model = narrowModel(whole, view)
  const { fields, filter, sorts } = publicView(view, model.fields)
  // Who made it, and what other clients keep with it, is for members.
  const row: ViewRow = { ...found, meta: {}, createdBy: null, ownedBy: null, filter, sorts }
  const kept = new Map((await store.linesOf(viewId)).map((line) => [line.fieldId, line]))
  const forms = new Map(fields.map((line) => [line.fieldId, line.form]))
  const lines = fieldsOfView(model, row.kind, [...kept.values()]).map((line) => ({
    ...line,
    id: kept.get(line.fieldId)?.id ?? '',
    viewId,
    form: forms.get(line.fieldId) ?? null,
  }))
  const visible = forVisitors(shownView(model, row))
  return { shown: { ...visible, share: viewShare({ ...share, passwordHash: null }) }, lines }
}
