import { Elysia } from 'elysia'
import { z } from 'zod'
import type { Kernel } from '../../../src/kernel.ts'
import { json } from '../../../src/wire/answer.ts'
import { readBody, restBase } from '../../../src/wire/rest-base.ts'
import type { AuthService } from '../../auth/index.ts'
import { IndexTerms } from '../input.ts'
import type { IndexesService } from '../service.ts'

const CreateBody = z.strictObject({ terms: IndexTerms })

/** Indexes of tables over REST. */
export function indexesRest(
  kernel: Kernel,
  { indexes, auth }: { indexes: IndexesService; auth: AuthService },
) {
  return new Elysia({ prefix: '/api/v2/meta/tables/:tableId', tags: ['Indexes'] })
    .use(restBase(kernel, auth))
    .get('/indexes', async ({ actor, params }) => ({ list: await indexes.list(actor, params.tableId) }), {
      detail: { summary: 'List the indexes of a table' },
    })
    .post(
      '/indexes',
      async ({ actor, params, body }) => {
        // Access is checked before the body.
        await indexes.list(actor, params.tableId)
        return json(await indexes.create(actor, params.tableId, readBody(CreateBody, body).terms), 200)
      },
      { detail: { summary: 'Create an index' } },
    )
    .delete(
      '/indexes/:indexId',
      async ({ actor, params }) => {
        await indexes.drop(actor, params.tableId, params.indexId)
        return json({ deleted: 1 }, 200)
      },
      { detail: { summary: 'Drop an index' } },
    )
    .get('/performance', async ({ actor, params }) => indexes.performance(actor, params.tableId), {
      detail: { summary: 'Show how each view of a table is read' },
    })
    .get(
      '/performance/:viewId',
      async ({ actor, params }) => indexes.measure(actor, params.tableId, params.viewId),
      { detail: { summary: 'Read the first page of a view and take the time' } },
    )
}
