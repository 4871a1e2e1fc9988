import type { Actor } from '../../../src/core/actor.ts'
import { type Filter, fieldsOf } from '../../../src/core/filters/index.ts'
import type { View, ViewKind } from '../../../src/core/model.ts'
import { defineSlot, type Registry } from '../../../src/registry.ts'
import { type AuthService, isExpired, type ShareRow } from '../../auth/index.ts'
import type { BasesService } from '../../bases/index.ts'
import type { SchemaReader } from '../../schema/index.ts'
import type { ViewsService } from '../../views/index.ts'
import type { RecordsService } from '../service.ts'

interface Services {
  auth: AuthService
  bases: BasesService
  schema: SchemaReader
  views: ViewsService
  records: RecordsService
}

/** The number of conditions of a view’s filter. */
const conditionsIn = (filter: Filter | null): number => fieldsOf(filter).length

/** The number of webhooks of a base, provided by app.ts from the hooks module. */
export const HOOK_COUNT = defineSlot<(baseId: string) => Promise<number>>('records.hookCount')

/** Server-wide counts without names, for super admins (wire §3). */
export function createReport({ auth, bases, schema, views, records }: Services, registry: Registry) {
  /** @throws PERMISSION_DENIED below super */
  return async function report(actor: Actor) {
    await auth.access.authorize(actor, 'instance.report')
    const all = await bases.list(actor)
    const reports = []
    let sharedBaseCount = 0
    // Sequentially, so that a server with many bases is not flooded.
    for (const { id } of all) {
      const links = (await auth.shares.ofBase(id)).filter((link) => !isExpired(link))
      if (links.some(({ kind }) => kind === 'base')) sharedBaseCount++
      reports.push(await reportBase(actor, id, links))
    }
    return {
      userCount: (await auth.users.all()).length,
      sharedBaseCount,
      baseCount: all.length,
      bases: reports,
    }
  }

  async function reportBase(actor: Actor, baseId: string, links: ShareRow[]) {
    const tables = await schema.tables(actor, baseId)
    const databaseViews = tables.filter(({ kind }) => kind === 'view').length
    const sources = (await bases.sourcesOf([baseId])).get(baseId) ?? []
    const found: View[] = []
    const rowCount: { TotalRecords: number }[] = []
    for (const { id: tableId } of tables) {
      found.push(...(await views.ofTable(tableId)))
      rowCount.push({ TotalRecords: await records.count(actor, { tableId }) })
    }
    const byView = new Map(links.filter(({ kind }) => kind === 'view').map((link) => [link.targetId, link]))
    // The link of a view in the trash stays, without a target.
    const shared = found.filter(({ id }) => byView.has(id))
    const isLocked = ({ id }: View) => byView.get(id)?.passwordHash != null
    const of = (kind: ViewKind, views = found) => views.filter((view) => view.kind === kind).length
    return {
      tableCount: { table: tables.length - databaseViews, view: databaseViews },
      external: sources.some(({ isOwn }) => !isOwn),
      viewCount: {
        formCount: of('form'),
        gridCount: of('grid'),
        galleryCount: of('gallery'),
        kanbanCount: of('kanban'),
        total: found.length,
        sharedFormCount: of('form', shared),
        sharedGridCount: of('grid', shared),
        sharedGalleryCount: of('gallery', shared),
        sharedKanbanCount: of('kanban', shared),
        sharedTotal: shared.length,
        sharedLockedCount: shared.filter(isLocked).length,
      },
      webhookCount: await registry.get(HOOK_COUNT)(baseId),
      filterCount: found.reduce((sum, view) => sum + conditionsIn(view.filter), 0),
      sortCount: found.reduce((sum, view) => sum + view.sorts.length, 0),
      rowCount,
      userCount: (await auth.access.members(baseId)).length,
    }
  }
}
