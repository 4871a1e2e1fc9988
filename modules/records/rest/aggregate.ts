import { Elysia } from 'elysia'
import type { Kernel } from '../../../src/kernel.ts'
import { restBase } from '../../../src/rest.ts'
import type { AuthService } from '../../auth/index.ts'
import type { SchemaService } from '../../schema/index.ts'
import type { ViewsService } from '../../views/index.ts'
import type { RecordsService } from '../service.ts'
import { readFilter } from './parameters.ts'
import { queryOf } from './query-of.ts'

interface Deps {
  records: RecordsService
  schema: SchemaService
  views: ViewsService
  auth: AuthService
}

/**
 * The footer of a grid over `/api/v2/tables/{tableId}/aggregate`: a value for each shown field that the
 * view sums up, by title; the default view's unless `viewId` names another (wire reference, aggregation).
 */
export const aggregateRest = (kernel: Kernel, { records, schema, views, auth }: Deps) =>
  new Elysia({ prefix: '/api/v2/tables/:tableId/aggregate', tags: ['Records'] })
    .use(restBase(kernel, auth))
    .get(
      '/',
      async ({ actor, params: { tableId }, request }) => {
        const query = new URLSearchParams(queryOf(request))
        const model = await schema.load(tableId)
        const asked = query.get('viewId') ?? undefined
        const viewId = asked ?? (await views.ofTable(tableId)).find((view) => view.isDefault)?.id
        const { context } = await records.open(actor, tableId, viewId)
        const wanted = (context.view?.fields ?? []).flatMap(({ fieldId, show, summary }) =>
          show && summary !== null ? [{ fieldId, summary }] : [],
        )
        const selection = { tableId, viewId, filter: readFilter(model, query) }
        const values = await records.summaries(actor, selection, wanted)
        const titles = wanted.map(({ fieldId }) => [model.field(fieldId)?.title ?? fieldId, values[fieldId]])
        return Object.fromEntries(titles)
      },
      { detail: { summary: 'Read the summaries of a grid' } },
    )
