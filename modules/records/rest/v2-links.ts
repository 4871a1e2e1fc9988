import { Elysia } from 'elysia'
import type { Kernel } from '../../../src/kernel.ts'
import { scalar } from '../../../src/wire/answer.ts'
import { restBase } from '../../../src/wire/rest-base.ts'
import type { AuthService } from '../../auth/index.ts'
import type { LinkPlace, RestLinks } from './link-operations.ts'
import { queryOf } from './query-of.ts'

interface Deps {
  auth: AuthService
  links: RestLinks
}

const placeOf = ({ tableId, linkFieldId, recordId }: Record<string, string>): LinkPlace => ({
  tableId: tableId ?? '',
  column: linkFieldId ?? '',
  recordId: recordId ?? '',
})

/** Links over `/api/v2/tables/{tableId}/links/{linkFieldId}/records` (wire reference §16.1). */
export const linksV2 = (kernel: Kernel, { auth, links }: Deps) =>
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
