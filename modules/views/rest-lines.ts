import { Elysia } from 'elysia'
import type { Actor } from '../../src/core/actor.ts'
import type { Kernel } from '../../src/kernel.ts'
import { type Authenticator, readBody, restBase, scalar } from '../../src/rest.ts'
import { presentLine } from './present.ts'
import type { ViewsService } from './service.ts'
import { NewViewColumnBody, readLine, ViewColumnBody } from './wire-input.ts'

/** The columns of views (wire reference §9.1). */
export function linesRest(prefix: string, views: ViewsService, kernel: Kernel, auth: Authenticator) {
  const list = async (actor: Actor, viewId: string) => {
    const { row, model, lines } = await views.openWithLines(actor, 'view.list', viewId)
    return lines.map((line) => presentLine(model.table, row, line))
  }
  const update = async (actor: Actor, lineId: string, viewId: string | undefined, body: unknown) => {
    const line = await views.requireLine(lineId, viewId)
    await views.openRow(actor, 'view.arrange', line.viewId)
    const change = readLine(readBody(ViewColumnBody, body))
    await views.arrange(actor, line.viewId, [{ fieldId: line.fieldId, ...change }])
    return scalar(1)
  }
  const showAll = async (actor: Actor, viewId: string, show: boolean, request: Request) => {
    const { model } = await views.openRow(actor, 'view.arrange', viewId)
    const query = new URL(request.url).searchParams
    const ignored = new Set([...query.getAll('ignoreIds[]'), ...query.getAll('ignoreIds')])
    const changed = model.fields
      .filter((field) => !field.isSystem && !ignored.has(field.id) && (show || !field.isDisplay))
      .map((field) => ({ fieldId: field.id, show }))
    if (changed.length > 0) await views.arrange(actor, viewId, changed)
    return scalar(true)
  }
  return new Elysia({ prefix })
    .use(restBase(kernel, auth))
    .get('/grids/:viewId/grid-columns', ({ actor, params }) => list(actor, params.viewId))
    .get('/views/:viewId/columns', async ({ actor, params }) => ({ list: await list(actor, params.viewId) }))
    .post('/views/:viewId/columns', async ({ actor, params, body }) => {
      const { viewId } = params
      await views.openRow(actor, 'view.arrange', viewId)
      const { fk_column_id: fieldId, ...line } = readBody(NewViewColumnBody, body)
      await views.arrange(actor, viewId, [{ fieldId, ...readLine(line) }])
      return (await list(actor, viewId)).find((column) => column.fk_column_id === fieldId)
    })
    .patch('/views/:viewId/columns/:lineId', ({ actor, params, body }) =>
      update(actor, params.lineId, params.viewId, body),
    )
    .patch('/grid-columns/:lineId', ({ actor, params, body }) =>
      update(actor, params.lineId, undefined, body),
    )
    .post('/views/:viewId/show-all', ({ actor, params, request }) =>
      showAll(actor, params.viewId, true, request),
    )
    .post('/views/:viewId/hide-all', ({ actor, params, request }) =>
      showAll(actor, params.viewId, false, request),
    )
}
