import { asc, inArray } from 'drizzle-orm'
import type { Actor } from '../../../src/core/actor.ts'
import { badRequest, notFound } from '../../../src/core/errors.ts'
import { HIDEABLE_ROLES, type HideableRole } from '../../../src/core/roles.ts'
import type { UndoWrite } from '../../../src/db/change-log/undoers.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import { m } from '../../../src/messages.gen.ts'
import type { ViewRow, ViewsContext } from '../model/index.ts'

const TABLES_PER_QUERY = 500

/** Hides a view from roles (true) or shows it to them (false); absent roles stay as they are. */
export interface VisibilityRule {
  viewId: string
  hidden: Partial<Record<HideableRole, boolean>>
}

/** The roles a view is hidden from, before and after, as the change log stores them. */
export interface VisibilityChange {
  viewId: string
  before: HideableRole[]
  after: HideableRole[]
}

/** The views of all tables of a base, ordered by table and then by their own order. */
export async function viewsOfBase(
  context: Pick<ViewsContext, 'db' | 'schema' | 'store'>,
  actor: Actor,
  baseId: string,
): Promise<ViewRow[]> {
  const tables = await context.schema.tables(actor, baseId, { includeJunctions: true })
  return viewsOfTables(
    context,
    tables.map(({ id }) => id),
  )
}

/** The views of some tables, ordered by table and then by their own order. Does not check access. */
export async function viewsOfTables(
  { db, store: { views } }: Pick<ViewsContext, 'db' | 'store'>,
  tableIds: readonly string[],
): Promise<ViewRow[]> {
  const found: ViewRow[] = []
  for (let from = 0; from < tableIds.length; from += TABLES_PER_QUERY) {
    const ofTables = inArray(views.tableId, tableIds.slice(from, from + TABLES_PER_QUERY))
    found.push(...(await db.select().from(views).where(ofTables).orderBy(asc(views.order), asc(views.id))))
  }
  const byTable = Map.groupBy(found, (row) => row.tableId)
  return tableIds.flatMap((tableId) => byTable.get(tableId) ?? [])
}

/**
 * Sets which roles see which views of a base in their lists, atomically and as one undo step. Locks do not apply,
 * because the settings of the views stay the same.
 *
 * @throws VIEW_NOT_FOUND for a view of another base; BAD_REQUEST for a table's default view, without which the table
 *   could not be opened; PERMISSION_DENIED below the creator role
 */
export async function setVisibility(
  context: ViewsContext,
  actor: Actor,
  baseId: string,
  rules: readonly VisibilityRule[],
): Promise<void> {
  await context.access.authorize(actor, 'view.update', baseId)
  await context.schema.apply(actor, baseId, async ({ now }) => {
    const rows = new Map((await viewsOfBase(context, actor, baseId)).map((row) => [row.id, row]))
    const after = new Map<string, HideableRole[]>()
    for (const { viewId, hidden } of rules) {
      const row = rows.get(viewId)
      if (!row) throw notFound('View', viewId.slice(0, 64))
      const current = after.get(viewId) ?? rolesOf(row)
      const roles = HIDEABLE_ROLES.filter((role) => hidden[role] ?? current.includes(role))
      if (row.isDefault && roles.length > 0) throw badRequest(m.views_error_hide_default({ view: row.title }))
      after.set(viewId, roles)
    }
    const changes = [...after].flatMap(([viewId, roles]): VisibilityChange[] => {
      const before = rolesOf(rows.get(viewId) as ViewRow)
      return Bun.deepEquals(before, roles) ? [] : [{ viewId, before, after: roles }]
    })
    return planVisibility(context, changes, rows, now)
  })
}

/** Applies the `after` side of logged changes; deleted views are skipped. */
export async function restoreVisibility(
  context: ViewsContext,
  actor: Actor,
  baseId: string,
  changes: readonly VisibilityChange[],
  write: UndoWrite,
): Promise<void> {
  await context.access.authorize(actor, 'view.update', baseId)
  await context.schema.apply(
    actor,
    baseId,
    async ({ now }) => {
      const rows = new Map((await viewsOfBase(context, actor, baseId)).map((row) => [row.id, row]))
      const live = changes.filter(({ viewId }) => rows.has(viewId))
      return planVisibility(context, live, rows, now)
    },
    write,
  )
}

const rolesOf = ({ hiddenFrom }: ViewRow): HideableRole[] => hiddenFrom ?? []

function planVisibility(
  { db, store: { views } }: Pick<ViewsContext, 'db' | 'store'>,
  changes: readonly VisibilityChange[],
  rows: ReadonlyMap<string, ViewRow>,
  now: string,
) {
  const tableIds = [...new Set(changes.flatMap(({ viewId }) => rows.get(viewId)?.tableId ?? []))]
  // One statement per set of roles, whatever the number of views.
  const byRoles = Map.groupBy(changes, ({ after }) => after.join())
  const statements = [...byRoles.values()].map((same): MetaStatement => {
    const viewIds = same.map(({ viewId }) => viewId)
    return db
      .update(views)
      .set({ hiddenFrom: same[0]?.after ?? [], updatedAt: now })
      .where(inArray(views.id, viewIds))
  })
  const [tableId = null] = tableIds.length === 1 ? tableIds : []
  return {
    statements,
    entry: changes.length === 0 ? null : { kind: 'view.visibility', tableId, detail: { changes } },
    tableIds,
    result: undefined,
  }
}
