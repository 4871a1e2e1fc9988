import { byLink } from '../shares/world.ts'
import type { World } from './world.ts'

/**
 * What visitors of public links may use, by the names of `PROCEDURES` and `ROUTES`. Whatever does not stand here
 * refuses them, whichever right it asks for; what is for anyone is not tried.
 */
export interface LinkDoors {
  base: readonly string[]
  view: readonly string[]
}

const RECORD_READS = ['list', 'count', 'get', 'summaries', 'groups', 'position', 'positions', 'linked'].map(
  (name) => `records.${name}`,
)
const NAMES = ['records.signFiles', 'records.formerPeople', 'records.people']

const LIST_ROUTES = [
  'GET /api/v2/tables/:tableId/aggregate',
  'POST /api/v2/tables/:tableId/bulk/dataList',
  'POST /api/v2/tables/:tableId/bulk/datalist',
  'POST /api/v2/tables/:tableId/bulk/group',
  'GET RECORDS',
  'GET RECORDS/count',
  'GET RECORDS/:recordId',
  'GET /api/v2/downloadAttachment/:tableId/:fieldId/:recordId',
]
const V1_LISTS = [
  'GET D',
  'GET D/count',
  'GET D/find-one',
  'GET D/groupby',
  'GET D/groupby/count',
  'GET D/group/:columnId',
  'GET D/:recordId',
  'GET D/:recordId/exist',
  'GET D/export/:type',
]

export const LINK_DOORS: LinkDoors = {
  base: [
    'bases.get',
    'schema.tables',
    'schema.table',
    'schema.diagram',
    'records.linkable',
    ...RECORD_READS,
    ...NAMES,
    ...LIST_ROUTES,
    ...V1_LISTS,
    'GET /api/v1/db/calendar-data/:orgs/:base/:table/views/:view',
    'GET /api/v1/db/calendar-data/:orgs/:base/:table/views/:view/countByDate',
    'GET D/:recordId/:relation/:column',
    'GET D/:recordId/:relation/:column/exclude',
    'GET LINKS/:recordId',
    'POST /api/v2/export/:viewId/:type',
    'GET M/projects/:baseId',
    'GET M/projects/:baseId/has-empty-or-null-filters',
    'GET M/projects/:baseId/search',
    'GET M/projects/:baseId/swagger.json',
    'GET M/projects/:baseId/tables',
    'GET M/projects/:baseId/:sourceId/tables',
    'GET M/tables/:tableId',
    'GET M/tables/:tableId/columns/hash',
    'GET M/tables/:tableId/views',
    'GET M/views/:viewId/columns',
    'GET M/views/:viewId/filters',
    'GET M/views/:viewId/sorts',
    'GET M/views/:viewId/row-color',
    'GET M/filters/:filterId',
    'GET M/filters/:filterId/children',
    'GET M/sorts/:sortId',
    'GET M/grids/:viewId/grid-columns',
    'GET M/forms/:viewId',
    'GET M/galleries/:viewId',
    'GET M/kanbans/:viewId',
    'GET M/maps/:viewId',
    'GET M/calendars/:viewId',
  ],
  view: ['schema.table', ...RECORD_READS, ...NAMES, ...LIST_ROUTES, ...V1_LISTS],
}

/** Opens a link to the base and one to its view, and gives the headers of who comes by each. */
export async function openLinks({ trpc, baseId, viewId }: World) {
  const open = (kind: 'base' | 'view', targetId: string) =>
    trpc.shares.save.mutate({ kind, targetId, patch: {} })
  const [base, view] = [await open('base', baseId), await open('view', viewId)]
  return { base: byLink('base', base.id), view: byLink('view', view.id) }
}
