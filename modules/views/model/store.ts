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
import { type LineRow, toView, type ViewRow } from './model.ts'

const KEPT_IDS = 20_000
/** PostgreSQL fails on some texts, such as a null character, instead of not finding them. */
const VIEW_ID = /^vw[a-z0-9]{14}$/
const LINE_ID = /^(nc|[fgkcm]vc)[a-z0-9]{14}$/

/** Reads of views, see `createViewsStore`. */
export type ViewsStore = ReturnType<typeof createViewsStore>

/** Reads views. Those of a table are kept as long as its model is: a change of either makes a new one. */
export function createViewsStore(
  kernel: Kernel,
  schema: Pick<SchemaReader, 'load'>,
  shares: Pick<AuthService['shares'], 'openTargets'>,
) {
  const { views, viewFields } = kernel.meta.tables(defineViewsTables)
  const { db } = kernel.meta
  const kept = new WeakMap<TableModel, Promise<View[]>>()
  /** Views that would show more than they were made for: a field of their filter or of hidden stacks is gone, or broken. */
  const loosened = new WeakSet<View>()
  /** A view never moves to another table. */
  const tableIds = new LRUCache<string, string>({ max: KEPT_IDS })

  async function findRow(viewId: string): Promise<ViewRow | null> {
    if (!VIEW_ID.test(viewId)) return null
    const [row] = await db.select().from(views).where(eq(views.id, viewId))
    return row ?? null
  }

  const rowsOf = (tableId: string): Promise<ViewRow[]> =>
    Promise.resolve(
      db.select().from(views).where(eq(views.tableId, tableId)).orderBy(asc(views.order), asc(views.id)),
    )

  const linesOf = (viewId: string): Promise<LineRow[]> =>
    Promise.resolve(db.select().from(viewFields).where(eq(viewFields.viewId, viewId)))

  async function readViews(model: TableModel): Promise<View[]> {
    const rows = await rowsOf(model.table.id)
    if (rows.length === 0) return []
    const lines = await db
      .select()
      .from(viewFields)
      .where(
        inArray(
          viewFields.viewId,
          rows.map((row) => row.id),
        ),
      )
    const byView = Map.groupBy(lines, (line) => line.viewId)
    const shared = await shares.openTargets('view', model.table.baseId)
    const isInForce = (fieldId: string) => model.field(fieldId)?.error === null
    return rows.map((row) => {
      const view = toView(model, row, byView.get(row.id) ?? [], shared.has(row.id))
      const hasLost = row.filter !== null && !fieldsOf(row.filter).every(isInForce)
      if (hasLost || hasLostStacks(view, row)) loosened.add(view)
      return view
    })
  }

  /** The views of a table in their order. */
  function ofModel(model: TableModel): Promise<View[]> {
    const known = kept.get(model)
    if (known) return known
    const reading = readViews(model)
    kept.set(model, reading)
    // A failed read is the caller's to report, and the next caller's to try again.
    reading.catch(() => kept.delete(model))
    return reading
  }

  /** @throws VIEW_NOT_FOUND, also where its table is in the trash */
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
    linesOf,
    ofModel,
    modelOf,
    /** Titles by id; views that were deleted are absent. */
    async titlesOf(viewIds: readonly string[]): Promise<[string, string][]> {
      const ids = [...new Set(viewIds)].filter((id) => VIEW_ID.test(id))
      if (ids.length === 0) return []
      const rows = await db
        .select({ id: views.id, title: views.title })
        .from(views)
        .where(inArray(views.id, ids))
      return rows.map(({ id, title }) => [id, title])
    },
    hasWholeFilter: (view: View): boolean => !loosened.has(view),
    /** The views of a table that have a public link, as it is now. */
    sharedIn: ({ table }: TableModel): Promise<ReadonlySet<string>> =>
      shares.openTargets('view', table.baseId),
    /** @throws VIEW_NOT_FOUND */
    async load(viewId: string): Promise<{ view: View; model: TableModel }> {
      const model = await modelOf(viewId)
      const view = (await ofModel(model)).find((candidate) => candidate.id === viewId)
      if (!view) throw notFound('View', viewId)
      return { view, model }
    },
    /** The view that keeps a filter or sort of this id; null where none does. */
    async findHolder(column: 'filter' | 'sorts', id: string): Promise<string | null> {
      if (!/^[a-z0-9]{3,32}$/.test(id)) return null
      const [row] = await db
        .select({ id: views.id })
        .from(views)
        .where(sql`cast(${views[column]} as text) like ${`%"${id}"%`}`)
      return row?.id ?? null
    },
    /** The line of an id, as REST clients name a column of a view; null where there is none. */
    async findLine(lineId: string): Promise<LineRow | null> {
      if (!LINE_ID.test(lineId)) return null
      const [row] = await db.select().from(viewFields).where(eq(viewFields.id, lineId))
      return row ?? null
    },
  }
}

/** True where hidden stacks are of a field that is gone, or cannot be stacked by any more. */
function hasLostStacks(view: View, row: ViewRow): boolean {
  if (stacksOf(view)?.fieldId !== null) return false
  const kept = stacksOf(row)
  return kept !== null && kept.fieldId !== null && kept.hidden.length > 0
}
