import { Elysia } from 'elysia'
import type { Actor } from '../../src/core/actor.ts'
import { AppError } from '../../src/core/errors.ts'
import type { View } from '../../src/core/model.ts'
import type { Kernel } from '../../src/kernel.ts'
import { type Authenticator, readBody, restBase, scalar } from '../../src/rest.ts'
import { presentView } from './present.ts'
import { filtersRest } from './rest-filters.ts'
import { linesRest } from './rest-lines.ts'
import type { ViewsService } from './service.ts'
import { GridPatchBody, rowHeightOf, ViewBody, ViewPatchBody } from './wire-input.ts'

const PREFIXES = ['/api/v1/db/meta', '/api/v2/meta']

/** What the two generations call a base. */
const BASES = ['/api/v1/db/meta/projects', '/api/v2/meta/bases']

/** Kinds of view that clients may ask for and that do not exist here yet. */
const OTHER_KINDS = {
  forms: 'form',
  galleries: 'gallery',
  kanbans: 'kanban',
  maps: 'map',
  calendars: 'calendar',
}

/** Views, their columns, filters and sorts as REST clients know them (wire reference §9, §10). */
export const viewsRest = (views: ViewsService, kernel: Kernel, auth: Authenticator) => {
  const app = new Elysia({ name: 'views-rest' })
  for (const prefix of PREFIXES) {
    app
      .use(viewRoutes(prefix, views, kernel, auth))
      .use(linesRest(prefix, views, kernel, auth))
      .use(filtersRest(prefix, views, kernel, auth))
  }
  for (const prefix of BASES) {
    app.use(
      new Elysia({ prefix })
        .use(restBase(kernel, auth))
        .get('/:baseId/has-empty-or-null-filters', async ({ actor, params }) =>
          scalar(await views.hasNullFilters(actor, params.baseId)),
        ),
    )
  }
  return app
}

function viewRoutes(prefix: string, views: ViewsService, kernel: Kernel, auth: Authenticator) {
  const present = async (actor: Actor, viewId: string) => {
    const { row, model } = await views.openRow(actor, 'view.list', viewId)
    return presentView(model.table, row, { detailed: false })
  }
  const create = async (actor: Actor, tableId: string, kind: View['kind'], body: unknown) => {
    const model = await views.openTable(actor, 'view.create', tableId)
    const { title, copy_from_id: copyOf, lock_type: lock, meta } = readBody(ViewBody, body)
    const view = await views.create(actor, model.table.id, {
      ...{ title, kind },
      ...(copyOf && { copyOf }),
      ...(lock && { lock }),
      ...(meta && { meta }),
    })
    return present(actor, view.id)
  }
  const app = new Elysia({ prefix })
    .use(restBase(kernel, auth))

    .get('/tables/:tableId/views', async ({ actor, params }) => {
      const { table } = await views.openTable(actor, 'view.list', params.tableId)
      return {
        list: (await views.rowsOf(table.id)).map((row) => presentView(table, row, { detailed: true })),
      }
    })

    .post('/tables/:tableId/grids', ({ actor, params, body }) => create(actor, params.tableId, 'grid', body))

    .patch('/views/:viewId', async ({ actor, params, body }) => {
      await views.openRow(actor, 'view.update', params.viewId)
      const {
        title,
        order,
        lock_type: lock,
        show_system_fields: show,
        meta,
        description,
      } = readBody(ViewPatchBody, body)
      await views.update(actor, params.viewId, {
        ...(title !== undefined && { title }),
        ...(order !== undefined && { order }),
        ...(lock !== undefined && { lock }),
        ...(show !== undefined && { showSystemFields: show }),
        ...(meta !== undefined && { meta: meta ?? {} }),
        ...(description !== undefined && { description }),
      })
      return present(actor, params.viewId)
    })

    .delete('/views/:viewId', async ({ actor, params }) => {
      await views.delete(actor, params.viewId)
      return scalar(true)
    })

    .patch('/grids/:viewId', async ({ actor, params, body }) => {
      await views.openRow(actor, 'view.update', params.viewId)
      const { row_height: height, meta } = readBody(GridPatchBody, body)
      await views.update(actor, params.viewId, {
        ...(height != null && { rowHeight: rowHeightOf(height) }),
        ...(meta !== undefined && { meta: meta ?? {} }),
      })
      return present(actor, params.viewId)
    })

  for (const [path, kind] of Object.entries(OTHER_KINDS)) {
    app.post(`/tables/:tableId/${path}`, async ({ actor, params }) => {
      await views.openTable(actor, 'view.create', String(params.tableId))
      throw new AppError('NOT_IMPLEMENTED', `Views of the kind '${kind}' are not implemented`)
    })
  }
  return app
}
