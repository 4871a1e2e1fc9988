import { eq } from 'drizzle-orm'
import type { Field, Table } from '../../../src/core/model.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import type { SchemaContext } from '../change/index.ts'
import { plainField } from '../model/index.ts'
import { readKnown } from './plan-table.ts'
import { markStatements, type SyncDetail } from './write-plan.ts'

/** Registers undo and redo of synchronizations: added tables and fields go to the trash, removed ones are restored. */
export function registerSyncUndo(context: SchemaContext): void {
  const { undoers } = context.kernel
  undoers.set('source', async (actor, baseId, entry, direction, write) => {
    await context.access.authorize(actor, 'source.update', baseId)
    const detail = entry.detail as SyncDetail
    const change = direction === 'undo' ? inverse(detail) : repeated(detail)
    const known = await readKnown(context, detail.sourceId)
    const fieldsNow = new Map(known.flatMap(({ fields }) => fields).map((field) => [field.id, field]))
    const tablesNow = new Map(known.map(({ table }) => [table.id, table]))
    await context.apply(
      actor,
      baseId,
      async ({ now }) => {
        const { statements, fields } = changeStatements(context, change, fieldsNow, tablesNow, now)
        return {
          statements: [
            ...statements,
            ...markStatements(context, change.removed, now, now),
            ...markStatements(context, change.restored, null, now),
          ],
          entry: { kind: 'source.sync', tableId: null, detail: null },
          altered: {
            fields: [
              ...fields.map((field) => ({ ...field, deletedAt: null })),
              ...change.removed.fieldIds.flatMap((id) => fieldsNow.get(id) ?? []).map(markedAt(now)),
              ...change.restored.fieldIds.flatMap((id) => fieldsNow.get(id) ?? []).map(markedAt(null)),
            ],
          },
          touchesRecords: true,
          tableIds: [...tablesNow.keys()],
          result: undefined,
        }
      },
      write,
    )
    context.kernel.events.emit('schema.changed', { baseId, tableId: null, version: 0 })
  })
}

const markedAt = (deletedAt: string | null) => (field: Parameters<typeof plainField>[0]) => ({
  ...plainField(field),
  deletedAt,
})

/** The tables and fields that the synchronization added or restored. */
const addedBy = ({ added, restored }: SyncDetail): SyncDetail['removed'] => ({
  tableIds: [...added.tableIds, ...restored.tableIds],
  fieldIds: [...added.fieldIds, ...restored.fieldIds],
})

const swap = <T>({ before, after }: { before: T; after: T }) => ({ before: after, after: before })

/** The change for a redo, which restores what the undo has moved to the trash. */
const repeated = (detail: SyncDetail): SyncDetail => ({ ...detail, restored: addedBy(detail) })

const inverse = (detail: SyncDetail): SyncDetail => ({
  ...detail,
  removed: addedBy(detail),
  restored: detail.removed,
  changedFields: detail.changedFields.map(swap),
  changedTables: detail.changedTables.map(swap),
})

/** Writes the properties that the change altered; later changes of other properties stay. */
function changeStatements(
  { store, kernel }: SchemaContext,
  { changedFields, changedTables }: SyncDetail,
  fieldsNow: ReadonlyMap<string, Field>,
  tablesNow: ReadonlyMap<string, Table>,
  now: string,
): { statements: MetaStatement[]; fields: Field[] } {
  const { db } = kernel.meta
  const statements: MetaStatement[] = []
  const fields: Field[] = []
  for (const { before, after } of changedFields) {
    const current = fieldsNow.get(after.id)
    const set = changedKeys(before, after)
    if (!current || Object.keys(set).length === 0) continue
    fields.push({ ...current, ...set })
    statements.push(
      db
        .update(store.fields)
        .set({ ...set, updatedAt: now })
        .where(eq(store.fields.id, after.id)),
    )
  }
  for (const { before, after } of changedTables) {
    // `markStatements` writes `deletedAt`.
    const { deletedAt: _, ...set } = changedKeys(before, after)
    if (!tablesNow.has(after.id) || Object.keys(set).length === 0) continue
    statements.push(
      db
        .update(store.tables)
        .set({ ...set, updatedAt: now })
        .where(eq(store.tables.id, after.id)),
    )
  }
  return { statements, fields }
}

function changedKeys<T extends object>(before: T, after: T): Partial<T> {
  const keys = (Object.keys(after) as (keyof T)[]).filter((key) => !Bun.deepEquals(before[key], after[key]))
  return Object.fromEntries(keys.map((key) => [key, after[key]])) as Partial<T>
}
