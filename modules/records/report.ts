import type { Actor } from '../../src/core/actor.ts'
import { type Filter, fieldsOf } from '../../src/core/filters/index.ts'
import type { View, ViewKind } from '../../src/core/model.ts'
import type { AuthService } from '../auth/index.ts'
import type { BasesService } from '../bases/index.ts'
import type { SchemaService } from '../schema/index.ts'
import type { ViewsService } from '../views/index.ts'
import type { RecordsService } from './service.ts'

interface Services {
  auth: AuthService
  bases: BasesService
  schema: SchemaService
  views: ViewsService
  records: RecordsService
}

/** Conditions of a view's filter, however deep they stand. */
const conditionsIn = (filter: Filter | null): number => fieldsOf(filter).length

/**
 * Counts over the whole server, with no names in them, for super admins (wire reference §3). What the
 * product does not have yet (links, hooks, shares) is none.
 */
export function createReport({ auth, bases, schema, views, records }: Services) {
  /** @throws PERMISSION_DENIED below super */
  return async function report(actor: Actor) {
    await auth.access.authorize(actor, 'instance.report')
    const all = await bases.list(actor)
    const reports = []
    // One base after the other: a server of many bases is not asked for all of them at once.
    for (const { id } of all) reports.push(await reportBase(actor, id))
    return {
      userCount: (await auth.users.all()).length,
      sharedBaseCount: 0,
      baseCount: all.length,
      bases: reports,
    }
  }

  async function reportBase(actor: Actor, baseId: string) {
    const tables = await schema.tables(actor, baseId)
    const found: View[] = []
    const rowCount: { TotalRecords: number }[] = []
    for (const { id: tableId } of tables) {
      found.push(...(await views.ofTable(tableId)))
      rowCount.push({ TotalRecords: await records.count(actor, { tableId }) })
    }
    const of = (kind: ViewKind) => found.filter((view) => view.kind === kind).length
    return {
      tableCount: { table: tables.length, view: 0 },
      external: false,
      viewCount: {
        ...{
          formCount: of('form'),
          gridCount: of('grid'),
          galleryCount: of('gallery'),
          kanbanCount: of('kanban'),
        },
        total: found.length,
        ...{ sharedFormCount: 0, sharedGridCount: 0, sharedGalleryCount: 0, sharedKanbanCount: 0 },
        ...{ sharedTotal: 0, sharedLockedCount: 0 },
      },
      webhookCount: 0,
      filterCount: found.reduce((sum, view) => sum + conditionsIn(view.filter), 0),
      sortCount: found.reduce((sum, view) => sum + view.sorts.length, 0),
      rowCount,
      userCount: (await auth.access.members(baseId)).length,
    }
  }
}
