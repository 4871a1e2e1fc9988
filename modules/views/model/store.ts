import { asc, eq, inArray, sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import { notFound } from '../../../src/core/errors.ts'
import { fieldsOf } from '../../../src/core/filters/index.ts'
import type { View } from '../../../src/core/model.ts'
import { stacksOf } from '../../../src/core/views/index.ts'
import type { Kernel } from '../../../src/kernel.ts'
import type { AuthService } from '../../auth/index.ts'
import type { SchemaReader, TableModel } from '../../schema/index.ts'
import { defineViewsTables } from '../tables.ts'
import { toView, type ViewFieldRow, type ViewRow } from './model.ts'

const CACHED_IDS = 20_000
// Ids are matched before a query: PostgreSQL fails on some texts, such as a null character, instead of not finding them.
const VIEW_ID = /^vw[a-z0-9]{14}$/
const VIEW_FIELD_ID = /^(nc|[fgkcm]vc)[a-z0-9]{14}$/

/** Reads of views, see `createViewsStore`. */
export type ViewsStore = ReturnType<typeof createViewsStore>

/** Reads views. The views of a table are cached with its model, which every change of the table or its views replaces. */
export function createViewsStore(
  kernel: Kernel,
  schema: Pick<SchemaReader, 'load'>,
  shares: Pick<AuthService['shares'], 'openTargets'>,
) {
  const { views, viewFields } = kernel.meta.tables(defineViewsTables)
  const { db } = kernel.meta
  const cached = new WeakMap<TableModel, Promise<View[]>>()
  /** Views that show more records than intended, because a field of their filter or hidden stacks is deleted or broken. */
  const widened = new WeakSet<View>()
  /** A view never moves to another table. */
  const tableIds = new LRUCache<string, string>({ max: CACHED_IDS })

  async function findRow(viewId: string): Promise<ViewRow | null> {
    if (!VIEW_ID.test(viewId)) return null
    const [row] = await db.select().from(views).where(eq(views.id, viewId))
    return row ?? null
  }

  const rowsOf = (tableId: string): Promise<ViewRow[]> =>
    Promise.resolve(
      db.select().from(views).where(eq(views.tableId, tableId)).orderBy(asc(views.order), asc(views.id)),
    )

  const fieldRowsOf = (viewId: string): Promise<ViewFieldRow[]> =>
    Promise.resolve(db.select().from(viewFields).where(eq(viewFields.viewId, viewId)))

  async function readViews(model: TableModel): Promise<View[]> {
    const rows = await rowsOf(model.table.id)
    if (rows.length === 0) return []
    const ids = rows.map((row) => row.id)
    const fields = await db.select().from(viewFields).where(inArray(viewFields.viewId, ids))
    const byView = Map.groupBy(fields, (field) => field.viewId)
    const shared = await shares.openTargets('view', model.table.baseId)
    const isWorking = (fieldId: string) => model.field(fieldId)?.error === null
    return rows.map((row) => {
      const view = toView(model, row, byView.get(row.id) ?? [], shared.has(row.id))
      const hasBrokenFilter = row.filter !== null && !fieldsOf(row.filter).every(isWorking)
      if (hasBrokenFilter || hasLostStacks(view, row)) widened.add(view)
      return view
    })
  }

  /** The views of a table in their order. */
  function ofModel(model: TableModel): Promise<View[]> {
    const known = cached.get(model)
    if (known) return known
    const reading = readViews(model)
    cached.set(model, reading)
    // The caller reports a failed read; the next caller tries again.
    reading.catch(() => cached.delete(model))
    return reading
  }

  /** @throws VIEW_NOT_FOUND; TABLE_NOT_FOUND if its table is in the trash */
  async function modelOf(viewId: string): Promise<TableModel> {
    const tableId = tableIds.get(viewId) ?? (await findRow(viewId))?.tableId
    if (tableId === undefined) throw notFound('View', viewId.slice(0, 64))
    tableIds.set(viewId, tableId)
    return schema.load(tableId)
  }

  return {
    views,
    viewFields,
    findRow,
    rowsOf,
    fieldRowsOf,
    ofModel,
    modelOf,
    /** Pairs of id and title; deleted views are absent. */
    async titlesOf(viewIds: readonly string[]): Promise<[string, string][]> {
      const ids = [...new Set(viewIds)].filter((id) => VIEW_ID.test(id))
      if (ids.length === 0) return []
      const rows = await db
        .select({ id: views.id, title: views.title })
        .from(views)
        .where(inArray(views.id, ids))
      return rows.map(({ id, title }) => [id, title])
    },
    hasIntactFilter: (view: View): boolean => !widened.has(view),
    /** Ids of the views in the table's base that have a public link. */
    sharedIn: ({ table }: TableModel): Promise<ReadonlySet<string>> =>
      shares.openTargets('view', table.baseId),
    /** @throws VIEW_NOT_FOUND */
    async load(viewId: string): Promise<{ view: View; model: TableModel }> {
      const model = await modelOf(viewId)
      const view = (await ofModel(model)).find((candidate) => candidate.id === viewId)
      if (!view) throw notFound('View', viewId)
      return { view, model }
    },
    /** The id of the view that has a filter node or sort of this id, or null. */
    async findViewHolding(column: 'filter' | 'sorts', id: string): Promise<string | null> {
      if (!/^[a-z0-9]{3,32}$/.test(id)) return null
      const [row] = await db
        .select({ id: views.id })
        .from(views)
        .where(sql`cast(${views[column]} as text) like ${`%"${id}"%`}`)
      return row?.id ?? null
    },
    async findFieldRow(lineId: string): Promise<ViewFieldRow | null> {
      if (!VIEW_FIELD_ID.test(lineId)) return null
      const [row] = await db.select().from(viewFields).where(eq(viewFields.id, lineId))
      return row ?? null
    },
  }
}

/** True if the view hides stacks of a field that is deleted or can no longer be stacked by. */
function hasLostStacks(view: View, row: ViewRow): boolean {
  if (stacksOf(view)?.fieldId !== null) return false
  const stored = stacksOf(row)
  return stored !== null && stored.fieldId !== null && stored.hidden.length > 0
}
