import { inArray } from 'drizzle-orm'
import type { MetaStatement } from '../../src/db/meta.ts'
import type { Kernel } from '../../src/kernel.ts'
import type { LineRow, ViewRow } from './model.ts'
import { defineViewsTables } from './tables.ts'

/** Views as the metadata keeps them, to be written again under other ids. */
export interface ViewRows {
  views: ViewRow[]
  lines: LineRow[]
}

const AT_ONCE = 200

/** The views of some tables, with what each says of its fields. */
export function createCopiedRows({ meta }: Pick<Kernel, 'meta'>) {
  const { views, viewFields } = meta.tables(defineViewsTables)
  const { db } = meta
  return {
    async rowsForCopy(tableIds: readonly string[]): Promise<ViewRows> {
      const found: ViewRows = { views: [], lines: [] }
      for (const some of parts(tableIds)) {
        found.views.push(...(await db.select().from(views).where(inArray(views.tableId, some))))
      }
      for (const some of parts(found.views.map(({ id }) => id))) {
        found.lines.push(...(await db.select().from(viewFields).where(inArray(viewFields.viewId, some))))
      }
      return found
    },

    /** Statements that write such rows. */
    insertForCopy: (rows: ViewRows): MetaStatement[] => [
      ...parts(rows.views).map((part) => db.insert(views).values(part)),
      ...parts(rows.lines).map((part) => db.insert(viewFields).values(part)),
    ],
  }
}

function parts<T>(rows: readonly T[]): T[][] {
  const found: T[][] = []
  for (let from = 0; from < rows.length; from += AT_ONCE) found.push(rows.slice(from, from + AT_ONCE))
  return found
}
