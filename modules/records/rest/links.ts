import { Elysia } from 'elysia'
import type { Actor } from '../../../src/core/actor.ts'
import { AppError } from '../../../src/core/errors.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { scalar } from '../../../src/wire/answer.ts'
import { restBase } from '../../../src/wire/rest-base.ts'
import type { AuthService } from '../../auth/index.ts'
import type { LinkPlace, RestLinks } from './link-operations.ts'
import { queryOf } from './parameters.ts'
import type { Target } from './v1.ts'

interface Deps {
  auth: AuthService
  links: RestLinks
  resolve(actor: Actor, params: { base: string; table: string; view?: string }): Promise<Target>
}

interface Call {
  actor: Actor
  params: object
  request: Request
}

interface Params {
  base: string
  table: string
  view?: string
  recordId: string
  relation: string
  column: string
  refId?: string
}

/** The relations whose linked records a path may list; those of a single one are read with the record. */
const LISTED = ['hm', 'mm']
const RELATIONS = [...LISTED, 'bt', 'oo']

/** Links over `/api/v1/db/data/{orgs}/{base}/{table}/{id}/{relation}/{column}`, also through a view (wire reference §14.2). */
export const linksV1 = (kernel: Kernel, deps: Deps) =>
  new Elysia()
    .use(v1Routes(kernel, deps, '/api/v1/db/data/:orgs/:base/:table/views/:view'))
    .use(v1Routes(kernel, deps, '/api/v1/db/data/:orgs/:base/:table'))

function v1Routes(kernel: Kernel, { auth, links, resolve }: Deps, prefix: string) {
  async function enter({ actor, params: given, request }: Call, known: string[]) {
    const params = given as Params
    const { tableId } = await resolve(actor, params)
    if (!known.includes(params.relation)) {
      const { pathname } = new URL(request.url)
      throw new AppError('NOT_FOUND', `Cannot ${request.method} ${pathname}`, undefined, 'msg')
    }
    const place: LinkPlace = { tableId, column: params.column, recordId: params.recordId }
    return { params, place, query: new URLSearchParams(queryOf(request)) }
  }

  return new Elysia({ prefix, tags: ['Links v1'] })
    .use(restBase(kernel, auth))
    .get('/:recordId/:relation/:column', async (call) => {
      const { params, place, query } = await enter(call, LISTED)
      return links.list(call.actor, place, params.relation, query, 'linked')
    })
    .get('/:recordId/:relation/:column/exclude', async (call) => {
      const { params, place, query } = await enter(call, RELATIONS)
      return links.list(call.actor, place, params.relation, query, 'linkable')
    })
    .post('/:recordId/:relation/:column/:refId', async (call) => {
      const { params, place } = await enter(call, RELATIONS)
      await links.writeOne(call.actor, place, 'link', params.refId ?? '')
      return { msg: 'The relation data has been created successfully' }
    })
    .delete('/:recordId/:relation/:column/:refId', async (call) => {
      const { params, place } = await enter(call, RELATIONS)
      await links.writeOne(call.actor, place, 'unlink', params.refId ?? '')
      return { msg: 'The relation data has been deleted successfully' }
    })
}

const placeOf = ({ tableId, linkFieldId, recordId }: Record<string, string>): LinkPlace => ({
  tableId: tableId ?? '',
  column: linkFieldId ?? '',
  recordId: recordId ?? '',
})

/** Links over `/api/v2/tables/{tableId}/links/{linkFieldId}/records` (wire reference §16.1). */
export const linksV2 = (kernel: Kernel, { auth, links }: Pick<Deps, 'auth' | 'links'>) =>
  new Elysia({ prefix: '/api/v2/tables/:tableId/links/:linkFieldId/records', tags: ['Links'] })
    .use(restBase(kernel, auth))
    .get(
      '/:recordId',
      ({ actor, params, request }) =>
        links.read(actor, placeOf(params), new URLSearchParams(queryOf(request))),
      { detail: { summary: 'List linked records' } },
    )
    .post(
      '/:recordId',
      async ({ actor, params, body }) => {
        await links.write(actor, placeOf(params), 'link', body)
        return scalar(true, 201)
      },
      { detail: { summary: 'Link records' } },
    )
    .delete(
      '/:recordId',
      async ({ actor, params, body }) => {
        await links.write(actor, placeOf(params), 'unlink', body)
        return scalar(true)
      },
      { detail: { summary: 'Unlink records' } },
    )
    .post(
      '/',
      async ({ actor, params, body, set }) => {
        set.status = 201
        return links.paste(actor, params.tableId, params.linkFieldId, body)
      },
      { detail: { summary: 'Copy the links of one record to another' } },
    )
