import { count, isNull, sql } from 'drizzle-orm'
import type { Actor } from '../../src/core/actor.ts'
import type { Kernel } from '../../src/kernel.ts'
import type { AuthService } from '../auth/index.ts'
import { defineBasesTables } from './tables.ts'

/**
 * Counts over the whole server, with no names in them (wire §3). What later modules keep is counted
 * by the names of their tables: this module comes before them and cannot ask.
 */
export function createReport(kernel: Pick<Kernel, 'meta' | 'sources'>, { access, users }: AuthService) {
  const { meta } = kernel
  const { bases } = meta.tables(defineBasesTables)

  async function countRows(baseId: string, tableNames: string[]): Promise<{ TotalRecords: number }[]> {
    if (!kernel.sources.exists(baseId)) return []
    const { dialect, all } = kernel.sources.engine(baseId)
    return Promise.all(
      tableNames.map(async (name) => {
        const query = dialect.render(sql`select count(*) as total from ${sql.identifier(name)}`)
        const [row] = await all<{ total: number }>(query, { scan: true })
        return { TotalRecords: row?.total ?? 0 }
      }),
    )
  }

  return async (actor: Actor) => {
    await access.authorize(actor, 'instance.report')
    const found = await meta.db.select({ id: bases.id }).from(bases).where(isNull(bases.deletedAt))
    const tableRows = await meta.db
      .select({
        id: sql<string>`id`,
        baseId: sql<string>`base_id`,
        tableName: sql<string>`table_name`,
      })
      .from(sql`tables`)
      .where(sql`deleted_at is null`)
    const viewRows = await meta.db
      .select({ tableId: sql<string>`table_id`, kind: sql<string>`kind`, total: count() })
      .from(sql`views`)
      .groupBy(sql`table_id`, sql`kind`)
    const everyone = await users.all()

    const reports = found.map(async ({ id }) => {
      const own = tableRows.filter((table) => table.baseId === id)
      const ids = new Set(own.map((table) => table.id))
      const ownViews = viewRows.filter((view) => ids.has(view.tableId))
      const sum = (rows: typeof viewRows) => rows.reduce((total, row) => total + row.total, 0)
      const of = (kind: string) => sum(ownViews.filter((view) => view.kind === kind))
      return {
        tableCount: { table: own.length, view: 0 },
        external: false,
        viewCount: {
          formCount: of('form'),
          gridCount: of('grid'),
          galleryCount: of('gallery'),
          kanbanCount: of('kanban'),
          total: sum(ownViews),
          sharedFormCount: 0,
          sharedGridCount: 0,
          sharedGalleryCount: 0,
          sharedKanbanCount: 0,
          sharedTotal: 0,
          sharedLockedCount: 0,
        },
        webhookCount: 0,
        filterCount: 0,
        sortCount: 0,
        rowCount: await countRows(
          id,
          own.map((table) => table.tableName),
        ),
        userCount: (await access.members(id)).length,
      }
    })
    return {
      userCount: everyone.length,
      sharedBaseCount: 0,
      baseCount: found.length,
      bases: await Promise.all(reports),
    }
  }
}
