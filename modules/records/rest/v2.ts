import { Elysia } from 'elysia'
import type { Kernel } from '../../../src/kernel.ts'
import { scalar } from '../../../src/wire/answer.ts'
import { restBase } from '../../../src/wire/rest-base.ts'
import type { AuthService } from '../../auth/index.ts'
import type { RecordsService } from '../service.ts'
import { parseRecordId } from '../table/index.ts'
import { readBodies, requireKey, requireKeyField } from './body.ts'
import type { RestLists } from './list.ts'
import type { RestOperations } from './operations.ts'
import { queryOf, readFilter } from './parameters.ts'
import { presentKey } from './present.ts'

interface Deps {
  records: RecordsService
  auth: AuthService
  lists: RestLists
  operations: RestOperations
}

/** Records over `/api/v2/tables/{tableId}/records` (wire §16). */
export function recordsV2(kernel: Kernel, { records, auth, lists, operations }: Deps) {
  const update = async ({
    actor,
    params,
    body,
  }: {
    actor: Parameters<RecordsService['apply']>[0]
    params: { tableId: string }
    body: unknown
  }) => {
    const { bodies, isList } = readBodies(body)
    const { model, ids } = await operations.update(actor, params.tableId, bodies, requireKey)
    const keys = ids.map((id) => presentKey(model, id))
    return isList ? keys : keys[0]
  }

  return new Elysia({ prefix: '/api/v2/tables/:tableId/records', tags: ['Records'] })
    .use(restBase(kernel, auth))
    .get(
      '/',
      async ({ actor, params, request }) => {
        const search = queryOf(request)
        const viewId = search.includes('viewId=')
          ? (new URLSearchParams(search).get('viewId') ?? undefined)
          : undefined
        return lists.list(actor, params.tableId, search, viewId)
      },
      { detail: { summary: 'List records' } },
    )
    .get(
      '/count',
      async ({ actor, params, request }) => {
        const query = new URLSearchParams(queryOf(request))
        const opened = await records.open(actor, params.tableId, query.get('viewId') ?? undefined)
        return { count: await records.countOpened(opened, { filter: readFilter(opened.model, query) }) }
      },
      { detail: { summary: 'Count records' } },
    )
    .get(
      '/:recordId',
      async ({ actor, params, request }) =>
        operations.get(actor, params.tableId, params.recordId, new URLSearchParams(queryOf(request))),
      { detail: { summary: 'Read a record' } },
    )
    .post(
      '/',
      async ({ actor, params, body }) => {
        const { bodies, isList } = readBodies(body)
        const { model, ids } = await operations.create(actor, params.tableId, bodies)
        const keys = ids.map((id) => presentKey(model, id))
        return isList ? keys : keys[0]
      },
      { detail: { summary: 'Create one record or several' } },
    )
    .patch('/', update, { detail: { summary: 'Update one record or several' } })
    .put('/', update, { detail: { summary: 'Update one record or several' } })
    .delete(
      '/',
      async ({ actor, params, body }) => {
        const { bodies, isList } = readBodies(body)
        const model = await operations.enter(actor, 'record.delete', params.tableId)
        const ids = bodies.map((item) => requireKeyField(model, item))
        await operations.remove(actor, params.tableId, ids)
        const keys = ids.map((id) => presentKey(model, id))
        return isList ? keys : keys[0]
      },
      { detail: { summary: 'Delete one record or several' } },
    )
    .post(
      '/:recordId/move',
      async ({ actor, params, request }) => {
        const model = await operations.enter(actor, 'record.update', params.tableId)
        const before = new URLSearchParams(queryOf(request)).get('before')
        await records.apply(actor, {
          baseId: model.table.baseId,
          operations: [
            {
              kind: 'move',
              tableId: params.tableId,
              ids: [parseRecordId(model, params.recordId)],
              before: before === null ? null : parseRecordId(model, before),
            },
          ],
        })
        return scalar(true, 201)
      },
      { detail: { summary: 'Move a record before another, or to the end' } },
    )
}
