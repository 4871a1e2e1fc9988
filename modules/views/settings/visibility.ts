import { asc, inArray } from 'drizzle-orm'
import type { Actor } from '../../../src/core/actor.ts'
import { badRequest, notFound } from '../../../src/core/errors.ts'
import { HIDEABLE_ROLES, type HideableRole } from '../../../src/core/roles.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import type { ViewRow, ViewsContext } from '../model/index.ts'

/** Tables whose views one statement reads. */
const TABLES_AT_ONCE = 500

/** What is said of some roles in regard to a view: hidden from them, or not; what is absent stays. */
export interface VisibilityRule {
  viewId: string
  hidden: Partial<Record<HideableRole, boolean>>
}

/** The roles that a view was hidden from before and after: what the log keeps. */
export interface VisibilityChange {
  viewId: string
  before: HideableRole[]
  after: HideableRole[]
}

/** The views of all tables of a base, in the order of the tables and their own. */
export async function viewsOfBase(
  { db, schema, store: { views } }: Pick<ViewsContext, 'db' | 'schema' | 'store'>,
  actor: Actor,
  baseId: string,
): Promise<ViewRow[]> {
  const tableIds = (await schema.tables(actor, baseId, { includeJunctions: true })).map(({ id }) => id)
  const found: ViewRow[] = []
  for (let from = 0; from < tableIds.length; from += TABLES_AT_ONCE) {
    const some = inArray(views.tableId, tableIds.slice(from, from + TABLES_AT_ONCE))
    found.push(...(await db.select().from(views).where(some).orderBy(asc(views.order), asc(views.id))))
  }
  const byTable = Map.groupBy(found, (row) => row.tableId)
  return tableIds.flatMap((tableId) => byTable.get(tableId) ?? [])
}

/**
 * Says which roles see which views of a base in their lists: all of the rules hold, or none, as one step of undo. A
 * lock is in nobody's way, for how the view is set up stays.
 *
 * @throws VIEW_NOT_FOUND for one that is not in the base; BAD_REQUEST for the default view of a table, without which
 *   the table could not be opened; PERMISSION_DENIED below the creator
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
      if (row.isDefault && roles.length > 0)
        throw badRequest(`View "${row.title}" is the default view of its table and can’t be hidden`)
      after.set(viewId, roles)
    }
    const changes = [...after].flatMap(([viewId, roles]): VisibilityChange[] => {
      const before = rolesOf(rows.get(viewId) as ViewRow)
      return Bun.deepEquals(before, roles) ? [] : [{ viewId, before, after: roles }]
    })
    const tableIds = [...new Set(changes.map(({ viewId }) => (rows.get(viewId) as ViewRow).tableId))]
    return planOf(context, changes, tableIds, now)
  })
}

/** Hides and shows views as they were before a change, or after it; one that is gone needs nothing. */
export async function restoreVisibility(
  context: ViewsContext,
  actor: Actor,
  baseId: string,
  changes: readonly VisibilityChange[],
): Promise<void> {
  await context.access.authorize(actor, 'view.update', baseId)
  await context.schema.apply(
    actor,
    baseId,
    async ({ now }) => {
      const rows = new Map((await viewsOfBase(context, actor, baseId)).map((row) => [row.id, row]))
      const live = changes.filter(({ viewId }) => rows.has(viewId))
      const tableIds = [...new Set(live.map(({ viewId }) => (rows.get(viewId) as ViewRow).tableId))]
      return planOf(context, live, tableIds, now)
    },
    { silent: true },
  )
}

const rolesOf = ({ hiddenFrom }: ViewRow): HideableRole[] => hiddenFrom ?? []

function planOf(
  { db, store: { views } }: Pick<ViewsContext, 'db' | 'store'>,
  changes: readonly VisibilityChange[],
  tableIds: string[],
  now: string,
) {
  // One statement for each set of roles, whatever the number of views.
  const bySet = Map.groupBy(changes, ({ after }) => after.join())
  const statements = [...bySet.values()].map(
    (same): MetaStatement =>
      db
        .update(views)
        .set({ hiddenFrom: same[0]?.after ?? [], updatedAt: now })
        .where(
          inArray(
            views.id,
            same.map(({ viewId }) => viewId),
          ),
        ),
  )
  const [tableId = null] = tableIds.length === 1 ? tableIds : []
  return {
    statements,
    entry: changes.length === 0 ? null : { kind: 'view.visibility', tableId, detail: { changes } },
    tableIds,
    result: undefined,
  }
}
