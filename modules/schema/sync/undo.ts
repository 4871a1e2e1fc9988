import { eq } from 'drizzle-orm'
import type { Field, Table } from '../../../src/core/model.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import type { SchemaContext } from '../change/index.ts'
import { plainField } from '../model/index.ts'
import { readKnown } from './plan-table.ts'
import { markStatements, type SyncDetail } from './write-plan.ts'

/** Lets the log's undo take back a synchronisation: what came goes to the trash, what went comes back. */
export function registerSyncUndo(context: SchemaContext): void {
  const { undoers } = context.kernel
  undoers.set('source', async (actor, baseId, entry, direction) => {
    await context.access.authorize(actor, 'source.update', baseId)
    const detail = entry.detail as SyncDetail
    const turned = direction === 'undo' ? turnBack(detail) : again(detail)
    const known = await readKnown(context, detail.sourceId)
    const fieldsNow = new Map(known.flatMap(({ fields }) => fields).map((field) => [field.id, field]))
    const tablesNow = new Map(known.map(({ table }) => [table.id, table]))
    await context.apply(
      actor,
      baseId,
      async ({ now }) => {
        const { statements, fields } = changeStatements(context, turned, fieldsNow, tablesNow, now)
        return {
          statements: [
            ...statements,
            ...markStatements(context, turned.removed, now, now),
            ...markStatements(context, turned.restored, null, now),
          ],
          entry: { kind: 'source.sync', tableId: null, detail: null },
          altered: {
            fields: [
              ...fields.map((field) => ({ ...field, deletedAt: null })),
              ...turned.removed.fieldIds.flatMap((id) => fieldsNow.get(id) ?? []).map(markedAt(now)),
              ...turned.restored.fieldIds.flatMap((id) => fieldsNow.get(id) ?? []).map(markedAt(null)),
            ],
          },
          touchesRecords: true,
          tableIds: [...tablesNow.keys()],
          result: undefined,
        }
      },
      { silent: true },
    )
    context.kernel.events.emit('schema.changed', { baseId, tableId: null, version: 0 })
  })
}

const markedAt = (deletedAt: string | null) => (field: Parameters<typeof plainField>[0]) => ({
  ...plainField(field),
  deletedAt,
})

type Marks = SyncDetail['removed']

const both = (one: Marks, other: Marks): Marks => ({
  tableIds: [...one.tableIds, ...other.tableIds],
  fieldIds: [...one.fieldIds, ...other.fieldIds],
})

const turn = <T>({ before, after }: { before: T; after: T }) => ({ before: after, after: before })

/** The change once more: undo has put what it had added into the trash. */
const again = (detail: SyncDetail): SyncDetail => ({
  ...detail,
  restored: both(detail.added, detail.restored),
})

/** The same change from its end to its beginning. */
function turnBack(detail: SyncDetail): SyncDetail {
  return {
    ...detail,
    removed: both(detail.added, detail.restored),
    restored: detail.removed,
    changedFields: detail.changedFields.map(turn),
    changedTables: detail.changedTables.map(turn),
  }
}

/** Puts back the keys that the change had altered, and leaves alone what others have altered since. */
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
    // When a table came back it had, at most, another title and kind.
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
