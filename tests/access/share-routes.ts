import type { RouteCase } from './routes.ts'
import type { World } from './world.ts'

/** A link that there is none of: whoever has one is tried in tests/wire/public.test.ts. */
const nowhere = () => ({ uuid: 'nowhere', rowId: '1', relation: 'hm', type: 'csv' })
const open = { gate: 'anyone', params: nowhere, answers: 404 } as const
const shared = async ({ rest, viewId, baseId }: World) => {
  await rest.post(`/api/v1/db/meta/views/${viewId}/share`)
  await rest.post(`/api/v1/db/meta/projects/${baseId}/shared`)
  return {}
}

/** The routes of public links, for `ROUTES`. */
export const SHARE_ROUTES: Record<string, RouteCase> = {
  'POST M/views/:viewId/share': { gate: 'view.share' },
  'PATCH M/views/:viewId/share': { gate: 'view.share', params: shared },
  'DELETE M/views/:viewId/share': { gate: 'view.share' },
  'GET M/tables/:tableId/share': { gate: 'view.share' },
  'GET M/projects/:baseId/shared': { gate: 'base.share' },
  'POST M/projects/:baseId/shared': { gate: 'base.share' },
  'PATCH M/projects/:baseId/shared': { gate: 'base.share', params: shared },
  'DELETE M/projects/:baseId/shared': { gate: 'base.share' },
  'POST M/projects/:baseId/bases/:sourceId/share/erd': { gate: 'base.share' },
  'DELETE M/projects/:baseId/bases/:sourceId/share/erd': { gate: 'base.share' },
  'GET P/shared-view/:uuid/meta': open,
  'GET P/shared-view/:uuid/rows': open,
  'POST P/shared-view/:uuid/rows': open,
  'GET P/shared-view/:uuid/rows/:rowId/:relation/:columnId': open,
  'GET P/shared-view/:uuid/downloadAttachment/:columnId/:rowId': open,
  'GET P/shared-view/:uuid/group/:columnId': open,
  'GET P/shared-view/:uuid/groupby': open,
  'GET P/shared-view/:uuid/groupby/count': open,
  'GET P/shared-view/:uuid/count': open,
  'GET P/shared-view/:uuid/aggregate': open,
  'GET P/calendar-view/:uuid': open,
  'GET P/calendar-view/:uuid/countByDate': open,
  'POST P/shared-view/:uuid/bulk/dataList': open,
  'POST P/shared-view/:uuid/bulk/datalist': open,
  'POST P/shared-view/:uuid/bulk/group': open,
  'GET P/shared-view/:uuid/rows/export/:type': open,
  'POST P/export/:uuid/:type': open,
  'GET P/shared-view/:uuid/nested/:columnId': open,
  'GET P/shared-base/:uuid/meta': open,
  'GET P/shared-erd/:uuid/meta': open,
}
