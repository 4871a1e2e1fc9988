import { Elysia } from 'elysia'
import type { Authenticator } from '../../../src/caller.ts'
import { collectsAnswers } from '../../../src/core/views/index.ts'
import { rightOfSetting } from '../../../src/core/views/setting-right.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { scalar } from '../../../src/wire/answer.ts'
import { readBody, restBase } from '../../../src/wire/rest-base.ts'
import { refuseUnstorable } from '../../schema/index.ts'
import { liveOptions } from '../model/index.ts'
import type { ViewsService } from '../service.ts'
import { rightsFor } from '../settings/index.ts'
import { columnsRest } from './column-routes.ts'
import { filtersRest } from './filter-routes.ts'
import { WIRE_KINDS } from './kinds/index.ts'
import type { WireKind } from './kinds/wire-kind.ts'
import { presentColumn, presentKind, presentOneView, presentView, presentViewList } from './present.ts'
import { rowColorsRest } from './row-color-routes.ts'
import { readVisibility, ViewBody, ViewPatchBody } from './view-bodies.ts'

const PREFIXES = ['/api/v1/db/meta', '/api/v2/meta']

/** The paths of bases in the two API versions. */
const BASE_PREFIXES = ['/api/v1/db/meta/projects', '/api/v2/meta/bases']

/** Views, their columns, filters and sorts as REST clients know them (wire §9, §10). */
export const viewsRest = (kernel: Kernel, { views, auth }: { views: ViewsService; auth: Authenticator }) => {
  const app = new Elysia({ name: 'views-rest' })
  for (const prefix of PREFIXES) {
    app.use(viewRoutes(prefix, views, kernel, auth))
    for (const kind of Object.values(WIRE_KINDS)) app.use(kindRoutes(prefix, kind, views, kernel, auth))
    app
      .use(columnsRest(prefix, views, kernel, auth))
      .use(filtersRest(prefix, views, kernel, auth))
      .use(rowColorsRest(prefix, views, kernel, auth))
  }
  for (const prefix of BASE_PREFIXES) {
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

/** The routes of one kind, which find views of that kind only. */
function kindRoutes(
  prefix: string,
  wire: WireKind,
  views: ViewsService,
  kernel: Kernel,
  auth: Authenticator,
) {
  const { kind, path } = wire
  const right = rightOfSetting(wire, 'options')
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
      const change = wire.read(body, { model, options: liveOptions(model, row), title: row.title })
      refuseUnstorable(change)
      const rights = rightsFor(row, Object.keys(change))
      await views.change(actor, params.viewId, [right, ...rights], (current, model) => {
        const before = liveOptions(model, current)
        const { meta, options, ...settings } = wire.read(body, {
          model,
          options: before,
          title: current.title,
        })
        return {
          ...settings,
          ...(meta && { meta: { ...current.meta, ...meta } }),
          ...(options && { options: { ...before, ...options } }),
        }
      })
      return presentOneView(views, actor, params.viewId)
    })
  if (wire.hasNoOptions) return app
  return app.get(`/${path}/:viewId`, async ({ actor, params }) => {
    const presented = presentKind(await views.openShown(actor, 'view.list', params.viewId, kind))
    if (!collectsAnswers(wire)) return presented
    const { shown, fields } = await views.openWithFields(actor, 'view.list', params.viewId)
    return { ...presented, columns: fields.map((field) => presentColumn(shown, field)) }
  })
}
