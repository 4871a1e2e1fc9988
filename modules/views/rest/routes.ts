import { Elysia } from 'elysia'
import type { Authenticator } from '../../../src/caller.ts'
import type { Actor } from '../../../src/core/actor.ts'
import type { BaseRight } from '../../../src/core/roles.ts'
import { collectsAnswers } from '../../../src/core/views/index.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { scalar } from '../../../src/wire/answer.ts'
import { readBody, restBase } from '../../../src/wire/rest-base.ts'
import { refuseUnstorable } from '../../schema/index.ts'
import { liveOptions } from '../model/index.ts'
import type { ViewsService } from '../service.ts'
import { rightsFor } from '../settings/index.ts'
import { linesRest } from './column-routes.ts'
import { filtersRest } from './filter-routes.ts'
import { WIRE_KINDS } from './kinds/index.ts'
import type { WireKind } from './kinds/wire-kind.ts'
import { presentKind, presentLine, presentOneView, presentView, presentViewList } from './present.ts'
import { readVisibility, ViewBody, ViewPatchBody } from './view-bodies.ts'

const PREFIXES = ['/api/v1/db/meta', '/api/v2/meta']

/** What the two generations call a base. */
const BASES = ['/api/v1/db/meta/projects', '/api/v2/meta/bases']

/** Views, their columns, filters and sorts as REST clients know them (wire reference §9, §10). */
export const viewsRest = (views: ViewsService, kernel: Kernel, auth: Authenticator) => {
  const app = new Elysia({ name: 'views-rest' })
  for (const prefix of PREFIXES) {
    app.use(viewRoutes(prefix, views, kernel, auth))
    for (const kind of Object.values(WIRE_KINDS)) app.use(kindRoutes(prefix, kind, views, kernel, auth))
    app.use(linesRest(prefix, views, kernel, auth)).use(filtersRest(prefix, views, kernel, auth))
  }
  for (const prefix of BASES) {
    app.use(
      new Elysia({ prefix })
        .use(restBase(kernel, auth))
        .get('/:baseId/has-empty-or-null-filters', async ({ actor, params }) =>
          scalar(await views.hasNullFilters(actor, params.baseId)),
        )
        .get('/:baseId/visibility-rules', async ({ actor, params }) => {
          const baseId = await views.openBase(actor, 'view.update', params.baseId)
          const shown = await views.listShownOfBase(actor, baseId)
          return shown.map((one) => presentView(one, { detailed: true }))
        })
        .post('/:baseId/visibility-rules', async ({ actor, params, body }) => {
          const baseId = await views.openBase(actor, 'view.update', params.baseId)
          await views.setVisibility(actor, baseId, readVisibility(body))
          return { msg: 'UI ACL has been created successfully' }
        }),
    )
  }
  return app
}

function viewRoutes(prefix: string, views: ViewsService, kernel: Kernel, auth: Authenticator) {
  return new Elysia({ prefix })
    .use(restBase(kernel, auth))

    .get('/tables/:tableId/views', async ({ actor, params }) => ({
      list: await presentViewList(views, actor, params.tableId),
    }))

    .patch('/views/:viewId', async ({ actor, params, body }) => {
      await views.openRow(actor, 'view.update', params.viewId)
      const {
        title,
        order,
        lock_type: lock,
        owned_by: ownedBy,
        show_system_fields: show,
        meta,
        description,
      } = readBody(ViewPatchBody, body)
      await views.update(actor, params.viewId, {
        ...(title !== undefined && { title }),
        ...(order !== undefined && { order }),
        ...(lock !== undefined && { lock }),
        ...(ownedBy !== undefined && { ownedBy }),
        ...(show !== undefined && { showSystemFields: show }),
        ...(meta !== undefined && { meta: meta ?? {} }),
        ...(description !== undefined && { description }),
      })
      return presentOneView(views, actor, params.viewId)
    })

    .delete('/views/:viewId', async ({ actor, params }) => {
      await views.delete(actor, params.viewId)
      return scalar(true)
    })
}

/** The addresses of one kind: they answer for views of that kind alone. */
function kindRoutes(
  prefix: string,
  wire: WireKind,
  views: ViewsService,
  kernel: Kernel,
  auth: Authenticator,
) {
  const { kind, path } = wire
  // Editors lay out forms, as they do with columns; the other kinds are for those who make views.
  const right: BaseRight = collectsAnswers(wire) ? 'view.arrange' : 'view.update'
  const app = new Elysia({ prefix })
    .use(restBase(kernel, auth))
    .post(`/tables/:tableId/${path}`, async ({ actor, params, body }) => {
      const model = await views.openTable(actor, 'view.create', params.tableId)
      const { title, copy_from_id: copyOf, lock_type: lock, description } = readBody(ViewBody, body)
      const options = await views.firstOptions(model, kind, copyOf ?? undefined)
      const view = await views.create(actor, model.table.id, {
        title,
        kind,
        ...(copyOf && { copyOf }),
        ...(lock && { lock }),
        ...(description != null && { description }),
        ...wire.read(body, { model, options }),
      })
      return presentOneView(views, actor, view.id)
    })
    .patch(`/${path}/:viewId`, async ({ actor, params, body }) => {
      const { row, model } = await views.openShown(actor, right, params.viewId, kind)
      const said = wire.read(body, { model, options: liveOptions(model, row) })
      refuseUnstorable(said)
      const rights = rightsFor(Object.keys(said))
      await views.change(actor, params.viewId, [right, ...rights], (current, model) => {
        const kept = liveOptions(model, current)
        const { meta, options, ...change } = wire.read(body, { model, options: kept })
        return {
          ...change,
          ...(meta && { meta: { ...current.meta, ...meta } }),
          ...(options && { options: { ...kept, ...options } }),
        }
      })
      return presentOneView(views, actor, params.viewId)
    })
  if (wire.hasNoOptions) return app
  return app.get(`/${path}/:viewId`, async ({ actor, params }) => {
    const own = presentKind(await views.openShown(actor, 'view.list', params.viewId, kind))
    return collectsAnswers(wire) ? { ...own, columns: await columnsOf(views, actor, params.viewId) } : own
  })
}

async function columnsOf(views: ViewsService, actor: Actor, viewId: string) {
  const { shown, lines } = await views.openWithLines(actor, 'view.list', viewId)
  return lines.map((line) => presentLine(shown, line))
}
