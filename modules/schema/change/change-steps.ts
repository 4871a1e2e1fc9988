import { eq, sql } from 'drizzle-orm'
import type { Kernel } from '../../../src/kernel.ts'
import { settle } from '../computed/index.ts'
import type { SchemaStore } from '../model/index.ts'
import type { PlannedChange } from './planned-change.ts'

type Visible = Pick<PlannedChange<unknown>, 'statements' | 'tableIds' | 'touchesRecords'>

/** What every change of the schema does around its own work, however that is written. */
export function createChangeSteps({ meta, events }: Pick<Kernel, 'meta' | 'events'>, store: SchemaStore) {
  const { tables } = store
  return {
    /** The change with what follows from it for computed fields. */
    async withComputed<P extends Visible & Pick<PlannedChange<unknown>, 'altered'>>(
      baseId: string,
      planned: P,
    ): Promise<P> {
      if (!planned.altered) return planned
      const settled = await settle({ meta }, store, baseId, planned.altered)
      return {
        ...planned,
        statements: [...planned.statements, ...settled.statements],
        touchesRecords: planned.touchesRecords || settled.statements.length > 0,
        tableIds: [...new Set([...planned.tableIds, ...settled.tableIds])],
      }
    },

    /** Makes it visible, in one step. */
    async publish({ statements, tableIds }: Visible): Promise<void> {
      const bumps = tableIds.map((tableId) =>
        meta.db
          .update(tables)
          .set({ version: sql`${tables.version} + 1` })
          .where(eq(tables.id, tableId)),
      )
      await meta.atomically([...statements, ...bumps])
      for (const tableId of tableIds) store.forget(tableId)
    },

    /** Tells everyone who has the base open. */
    async tell(
      actorId: string | null,
      baseId: string,
      { tableIds, touchesRecords }: Visible,
      logged: { id: number; at: string },
    ): Promise<void> {
      for (const tableId of tableIds) {
        const table = await store.findTable(tableId)
        events.emit('schema.changed', { baseId, tableId, version: table?.version ?? 0 })
      }
      if (touchesRecords) {
        events.emit('records.changed', {
          ...logged,
          baseId,
          actorId,
          records: [],
          truncated: true,
          tableIds,
        })
      }
    },
  }
}
