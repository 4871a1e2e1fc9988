import { inArray } from 'drizzle-orm'
import { createId, renameIds } from '../../../src/core/ids.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import type { Kernel } from '../../../src/kernel.ts'
import type { CopiedViews } from '../../schema/index.ts'
import { createLineId, type LineRow, type ViewRow } from '../model/index.ts'
import { defineViewsTables } from '../tables.ts'

/** Views as the metadata keeps them, to be written again under other ids. */
export interface ViewRows {
  views: ViewRow[]
  lines: LineRow[]
}

const AT_ONCE = 200

/** The rows under new ids, with those of their fields and views in all that they say. */
export function viewsWithNewIds({ views, lines }: ViewRows, ids: ReadonlyMap<string, string>): ViewRows {
  const renamed = (id: string): string => ids.get(id) ?? id
  const kinds = new Map(views.map(({ id, kind }) => [id, kind]))
  return {
    views: views.map((view) => ({
      ...view,
      id: renamed(view.id),
      tableId: renamed(view.tableId),
      filter: withFreshNodeIds(renameIds(view.filter, ids)),
      sorts: renameIds(view.sorts, ids).map((sort) => ({ ...sort, id: createId('sort') })),
      groups: renameIds(view.groups, ids),
      coloring: renameIds(view.coloring, ids),
      options: renameIds(view.options, ids),
      meta: renameIds(view.meta, ids),
    })),
    lines: lines.map((line) => ({
      ...line,
      id: createLineId(kinds.get(line.viewId) ?? 'grid'),
      viewId: renamed(line.viewId),
      fieldId: renamed(line.fieldId),
      form: renameIds(line.form, ids),
    })),
  }
}

/** Programs name conditions by ids of their own, which have to lead to one view. */
function withFreshNodeIds<T>(filter: T): T {
  return JSON.parse(JSON.stringify(filter), (key, value) =>
    key === 'id' && typeof value === 'string' ? createId('filter') : value,
  )
}

/** The views of some tables, with what each says of its fields. */
export function createCopiedRows({ meta }: Pick<Kernel, 'meta'>) {
  const { views, viewFields } = meta.tables(defineViewsTables)
  const { db } = meta

  /** @param all false: the default view of each table alone */
  async function rowsForCopy(tableIds: readonly string[], all: boolean): Promise<ViewRows> {
    const found: ViewRows = { views: [], lines: [] }
    for (const some of parts(tableIds)) {
      const rows = await db.select().from(views).where(inArray(views.tableId, some))
      found.views.push(...rows.filter(({ isDefault }) => all || isDefault))
    }
    for (const some of parts(found.views.map(({ id }) => id))) {
      found.lines.push(...(await db.select().from(viewFields).where(inArray(viewFields.viewId, some))))
    }
    return found
  }

  /** Statements that write such rows. */
  const insertForCopy = (rows: ViewRows): MetaStatement[] => [
    ...parts(rows.views).map((part) => db.insert(views).values(part)),
    ...parts(rows.lines).map((part) => db.insert(viewFields).values(part)),
  ]

  return {
    rowsForCopy,
    insertForCopy,
    /** The views of tables that are copied within their base, see `TableViews`. */
    async forCopies(tableIds: readonly string[], all: boolean): Promise<CopiedViews> {
      const rows = await rowsForCopy(tableIds, all)
      return {
        ids: rows.views.map(({ id }) => id),
        insert(ids, ownerId) {
          // Lines of fields that stay behind, those in the trash, have nothing to speak of.
          const lines = rows.lines.filter(({ fieldId }) => ids.has(fieldId))
          const fresh = viewsWithNewIds({ views: rows.views, lines }, ids)
          const owned = { createdBy: ownerId, ownedBy: ownerId }
          return insertForCopy({ ...fresh, views: fresh.views.map((view) => ({ ...view, ...owned })) })
        },
      }
    },
  }
}

function parts<T>(rows: readonly T[]): T[][] {
  const found: T[][] = []
  for (let from = 0; from < rows.length; from += AT_ONCE) found.push(rows.slice(from, from + AT_ONCE))
  return found
}
