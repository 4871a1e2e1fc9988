import { inArray } from 'drizzle-orm'
import { createId, renameIds } from '../../../src/core/ids.ts'
import type { MetaReader, MetaStatement } from '../../../src/db/meta.ts'
import type { Kernel } from '../../../src/kernel.ts'
import type { CopiedViews } from '../../schema/index.ts'
import { createViewFieldId, type ViewFieldRow, type ViewRow } from '../model/index.ts'
import { defineViewsTables } from '../tables.ts'

/** The rows of views, to be inserted again under new ids. */
export interface ViewRows {
  views: ViewRow[]
  lines: ViewFieldRow[]
}

const ROWS_PER_STATEMENT = 200

/** The rows with all ids replaced: their own and those of tables and fields in their settings. */
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
    lines: lines.map((field) => ({
      ...field,
      id: createViewFieldId(kinds.get(field.viewId) ?? 'grid'),
      viewId: renamed(field.viewId),
      fieldId: renamed(field.fieldId),
      form: renameIds(field.form, ids),
    })),
  }
}

/** REST clients address conditions by id alone, so a copy needs new ones. */
function withFreshNodeIds<T>(filter: T): T {
  return JSON.parse(JSON.stringify(filter), (key, value) =>
    key === 'id' && typeof value === 'string' ? createId('filter') : value,
  )
}

/** Reads and inserts the rows of copied views. */
export function createViewCopies({ meta }: Pick<Kernel, 'meta'>) {
  const { views, viewFields } = meta.tables(defineViewsTables)
  const { db } = meta

  /**
   * @param all false: only the default view of each table
   * @param from metadata of a backup; absent: those of this server
   */
  async function rowsForCopy(
    tableIds: readonly string[],
    all: boolean,
    from: MetaReader = db,
  ): Promise<ViewRows> {
    const found: ViewRows = { views: [], lines: [] }
    for (const ids of batches(tableIds)) {
      const rows = await from.select().from(views).where(inArray(views.tableId, ids))
      found.views.push(...rows.filter(({ isDefault }) => all || isDefault))
    }
    for (const ids of batches(found.views.map(({ id }) => id))) {
      found.lines.push(...(await from.select().from(viewFields).where(inArray(viewFields.viewId, ids))))
    }
    return found
  }

  const insertForCopy = (rows: ViewRows): MetaStatement[] => [
    ...batches(rows.views).map((batch) => db.insert(views).values(batch)),
    ...batches(rows.lines).map((batch) => db.insert(viewFields).values(batch)),
  ]

  return {
    rowsForCopy,
    insertForCopy,
    /** The views of tables that are copied, see `TableViews`. */
    async forCopies(
      tableIds: readonly string[],
      all: boolean,
      { isMove }: { isMove: boolean } = { isMove: false },
    ): Promise<CopiedViews> {
      const rows = await rowsForCopy(tableIds, all)
      return {
        ids: rows.views.map(({ id }) => id),
        tableIds: rows.views.map(({ tableId }) => tableId),
        insert(ids, ownerId) {
          // Fields in the trash are not copied.
          const lines = rows.lines.filter(({ fieldId }) => ids.has(fieldId))
          const fresh = viewsWithNewIds({ views: rows.views, lines }, ids)
          const owned = isMove ? {} : { createdBy: ownerId, ownedBy: ownerId }
          return insertForCopy({ ...fresh, views: fresh.views.map((view) => ({ ...view, ...owned })) })
        },
      }
    },
  }
}

function batches<T>(rows: readonly T[]): T[][] {
  const found: T[][] = []
  for (let from = 0; from < rows.length; from += ROWS_PER_STATEMENT) {
    found.push(rows.slice(from, from + ROWS_PER_STATEMENT))
  }
  return found
}
