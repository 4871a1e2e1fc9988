import type { TableSchema, View, ViewKind } from '../../src/core/model.ts'
import type { FormField } from '../../src/core/views/index.ts'
import { createTable, readTable, type Workshop } from '../schema/support.ts'

/** Every kind of view. */
export const KINDS: ViewKind[] = ['grid', 'form', 'gallery', 'kanban', 'calendar', 'map']

/** What a form says of a field before anybody has said anything. */
export const asked: FormField = {
  label: null,
  help: null,
  required: false,
  showIf: null,
  layout: 'dropdown',
  limitOptions: null,
  rules: [],
  defaultValue: null,
  enableScanner: false,
}

/** A table with a field for each kind. */
export const everything = (shop: Workshop): Promise<TableSchema> =>
  createTable(shop, [
    { type: 'SingleLineText', title: 'Title' },
    { type: 'SingleSelect', title: 'State', options: { choices: [{ title: 'Open' }, { title: 'Done' }] } },
    { type: 'Attachment', title: 'Files' },
    { type: 'Date', title: 'Start' },
    { type: 'Date', title: 'End' },
    { type: 'GeoData', title: 'Place' },
    { type: 'Number', title: 'N' },
    { type: 'AutoNumber', title: 'No' },
  ])

/** A new view with the kind for its title. */
export const createView = (
  { api }: Workshop,
  { table }: Pick<TableSchema, 'table'>,
  kind: ViewKind,
  options?: Record<string, unknown>,
): Promise<View> =>
  api.views.create.mutate({ tableId: table.id, title: kind, kind, ...(options && { options }) })

type Patch = Parameters<Workshop['api']['views']['update']['mutate']>[0]['patch']

/** Changes a view. */
export const updateView = ({ api }: Workshop, { id }: Pick<View, 'id'>, patch: Patch): Promise<View> =>
  api.views.update.mutate({ viewId: id, patch })

/** A view as it stands. */
export async function viewOf(shop: Workshop, { id, tableId }: Pick<View, 'id' | 'tableId'>): Promise<View> {
  const view = (await readTable(shop, tableId)).views.find((candidate) => candidate.id === id)
  if (!view) throw new Error(`View ${id} is gone`)
  return view
}

/** The titles of the fields that a view shows, in its order. */
export const shownIn = ({ fields }: Pick<TableSchema, 'fields'>, view: View): (string | undefined)[] =>
  view.fields.filter(({ show }) => show).map(({ fieldId }) => fields.find(({ id }) => id === fieldId)?.title)

/** Opens a public link to a view, and gives what stands in it. */
export async function openLink(api: Workshop['api'], viewId: string): Promise<string> {
  const { id } = await api.shares.save.mutate({ kind: 'view', targetId: viewId, patch: {} })
  return id
}
