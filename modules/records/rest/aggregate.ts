import { Elysia } from 'elysia'
import type { Actor } from '../../../src/core/actor.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { restBase } from '../../../src/wire/rest-base.ts'
import type { AuthService } from '../../auth/index.ts'
import type { ViewsService } from '../../views/index.ts'
import type { RecordsService } from '../service.ts'
import { readFilter } from './parameters.ts'
import { queryOf } from './query-of.ts'

interface Deps {
  records: RecordsService
  views: ViewsService
  auth: AuthService
}

/**
 * The footer of a grid: a value for each shown field that the view sums up, by title.
 *
 * @throws as `records.open`; 422 for a bad `where`
 */
export async function readFooter(
  records: Pick<RecordsService, 'open' | 'summaries'>,
  actor: Actor,
  { tableId, viewId }: { tableId: string; viewId?: string },
  query: URLSearchParams,
): Promise<Record<string, CellValue>> {
  const { context, model } = await records.open(actor, tableId, viewId)
  const wanted = (context.view?.fields ?? []).flatMap(({ fieldId, show, summary }) =>
    show && summary !== null ? [{ fieldId, summary }] : [],
  )
  const selection = { tableId, viewId, filter: readFilter(model, query) }
  const values = await records.summaries(actor, selection, wanted)
  return Object.fromEntries(
    wanted.map(({ fieldId }) => [model.field(fieldId)?.title ?? fieldId, values[fieldId] ?? null]),
  )
}

const isOfView = (actor: Actor): boolean => actor.kind === 'share' && actor.grant.kind === 'view'

/**
 * The footer of a grid over `/api/v2/tables/{tableId}/aggregate`; the default view's unless `viewId` names
 * another (wire reference, aggregation).
 */
export const aggregateRest = (kernel: Kernel, { records, views, auth }: Deps) =>
  new Elysia({ prefix: '/api/v2/tables/:tableId/aggregate', tags: ['Records'] })
    .use(restBase(kernel, auth))
    .get(
      '/',
      async ({ actor, params: { tableId }, request }) => {
        const query = new URLSearchParams(queryOf(request))
        const findDefault = async () => (await views.ofTable(tableId)).find((view) => view.isDefault)?.id
        // By a link to a view there is no other.
        const viewId = query.get('viewId') ?? (isOfView(actor) ? undefined : await findDefault())
        return readFooter(records, actor, { tableId, viewId }, query)
      },
      { detail: { summary: 'Read the summaries of a grid' } },
    )
