import type { ViewKind } from '../../src/core/model.ts'
import type { RouteCase } from './routes.ts'
import type { World } from './world.ts'

const sort = async (world: World) => {
  const body = { fk_column_id: world.fieldId, direction: 'asc' }
  const made = await world.rest.post(`/api/v1/db/meta/views/${world.viewId}/sorts`, body)
  return { sortId: String(made.body.id) }
}
const filter = async (world: World) => {
  const body = { fk_column_id: world.fieldId, comparison_op: 'eq', value: 'a' }
  const made = await world.rest.post(`/api/v1/db/meta/views/${world.viewId}/filters`, body)
  return { filterId: String(made.body.id) }
}
const line = async (world: World) => {
  const { body } = await world.rest.get(`/api/v1/db/meta/views/${world.viewId}/columns`)
  return { lineId: String(body.list[0].id) }
}
const colorRule = ({ fieldId }: World) => ({
  color: '#FF0000',
  filter: { fk_column_id: fieldId, comparison_op: 'eq', value: 'a' },
})
const colored = async (world: World) => {
  const path = `/api/v1/db/meta/views/${world.viewId}/row-color-conditions`
  return { conditionId: String((await world.rest.post(path, colorRule(world))).body.id) }
}
const noCover = () => ({ fk_cover_image_col_id: null })
const newView = { gate: 'view.create', body: () => ({ title: 'New' }) } as const
const viewOf = (kind: ViewKind) => async (world: World) => {
  const made = await world.trpc.views.create.mutate({ tableId: world.tableId, title: kind, kind })
  return { viewId: made.id }
}
const formLine = async (world: World) => {
  const { viewId } = await viewOf('form')(world)
  const { body } = await world.rest.get(`/api/v1/db/meta/views/${viewId}/columns`)
  return { lineId: String(body.list[0].id) }
}

/** Those of `routes.ts` that are about views, their columns, filters and sorts. */
export const VIEW_ROUTES: Record<string, RouteCase> = {
  'GET M/tables/:tableId/views': { gate: 'view.list' },
  'POST M/tables/:tableId/grids': { gate: 'view.create', body: () => ({ title: 'New' }) },
  'POST M/tables/:tableId/forms': newView,
  'POST M/tables/:tableId/galleries': newView,
  'POST M/tables/:tableId/kanbans': newView,
  'POST M/tables/:tableId/maps': newView,
  'POST M/tables/:tableId/calendars': newView,
  'PATCH M/views/:viewId': { gate: 'view.update', body: () => ({ title: 'Renamed' }) },
  'GET M/projects/:baseId/visibility-rules': { gate: 'view.update' },
  'POST M/projects/:baseId/visibility-rules': {
    gate: 'view.update',
    body: ({ viewId }) => [{ id: viewId, disabled: { viewer: true } }],
  },
  'DELETE M/views/:viewId': { gate: 'view.delete' },
  'GET M/views/:viewId/row-color': { gate: 'view.list' },
  'DELETE M/views/:viewId/row-color': { gate: 'view.arrange' },
  // The field is no select.
  'POST M/views/:viewId/row-color-select': {
    gate: 'view.arrange',
    body: ({ fieldId }) => ({ fk_column_id: fieldId }),
    answers: 400,
  },
  'POST M/views/:viewId/row-color-conditions': { gate: 'view.arrange', body: colorRule },
  'PATCH M/views/:viewId/row-color-conditions/:conditionId': {
    gate: 'view.arrange',
    params: colored,
    body: () => ({ color: '#00FF00' }),
  },
  'DELETE M/views/:viewId/row-color-conditions/:conditionId': { gate: 'view.arrange', params: colored },
  'PATCH M/grids/:viewId': { gate: 'view.update', body: () => ({ row_height: 1 }) },
  'GET M/forms/:viewId': { gate: 'view.list', params: viewOf('form') },
  'PATCH M/forms/:viewId': {
    gate: 'view.arrange',
    params: viewOf('form'),
    body: () => ({ heading: 'Ask' }),
  },
  'GET M/galleries/:viewId': { gate: 'view.list', params: viewOf('gallery') },
  'PATCH M/galleries/:viewId': { gate: 'view.update', params: viewOf('gallery'), body: noCover },
  'GET M/kanbans/:viewId': { gate: 'view.list', params: viewOf('kanban') },
  'PATCH M/kanbans/:viewId': { gate: 'view.update', params: viewOf('kanban'), body: noCover },
  'GET M/calendars/:viewId': { gate: 'view.list', params: viewOf('calendar') },
  'PATCH M/calendars/:viewId': {
    gate: 'view.update',
    params: viewOf('calendar'),
    body: () => ({ calendar_range: [] }),
  },
  'GET M/maps/:viewId': { gate: 'view.list', params: viewOf('map') },
  'PATCH M/maps/:viewId': {
    gate: 'view.update',
    params: viewOf('map'),
    body: () => ({ fk_geo_data_col_id: null }),
  },
  'GET M/grids/:viewId/grid-columns': { gate: 'view.list' },
  'GET M/views/:viewId/columns': { gate: 'view.list' },
  'POST M/views/:viewId/columns': {
    gate: 'view.arrange',
    body: ({ fieldId }) => ({ fk_column_id: fieldId, show: true }),
  },
  'PATCH M/views/:viewId/columns/:lineId': {
    gate: 'view.arrange',
    params: line,
    body: () => ({ show: true }),
  },
  'PATCH M/grid-columns/:lineId': { gate: 'view.arrange', params: line, body: () => ({ show: true }) },
  'PATCH M/form-columns/:lineId': {
    gate: 'view.arrange',
    params: formLine,
    body: () => ({ label: 'What?' }),
  },
  'POST M/views/:viewId/show-all': { gate: 'view.arrange' },
  'POST M/views/:viewId/hide-all': { gate: 'view.arrange' },
  'GET M/views/:viewId/sorts': { gate: 'view.list' },
  'POST M/views/:viewId/sorts': { gate: 'view.arrange', body: ({ fieldId }) => ({ fk_column_id: fieldId }) },
  'GET M/sorts/:sortId': { gate: 'view.list', params: sort },
  'PATCH M/sorts/:sortId': { gate: 'view.arrange', params: sort, body: () => ({ direction: 'desc' }) },
  'DELETE M/sorts/:sortId': { gate: 'view.arrange', params: sort },
  'GET M/views/:viewId/filters': { gate: 'view.list' },
  'POST M/views/:viewId/filters': {
    gate: 'view.arrange',
    body: ({ fieldId }) => ({ fk_column_id: fieldId, comparison_op: 'eq', value: 'a' }),
  },
  'GET M/filters/:filterId': { gate: 'view.list', params: filter },
  'GET M/filters/:filterId/children': { gate: 'view.list', params: filter },
  'PATCH M/filters/:filterId': { gate: 'view.arrange', params: filter, body: () => ({ value: 'b' }) },
  'DELETE M/filters/:filterId': { gate: 'view.arrange', params: filter },
}
