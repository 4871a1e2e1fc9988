import { eq } from 'drizzle-orm'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import type { JobContext } from '../../../src/jobs.ts'
import type { SchemaContext } from '../change/index.ts'
import { linkFieldsOf } from '../links/index.ts'
import { actorOf } from './job-parts.ts'
import { markStatements } from './write-plan.ts'

/** Forgets a source and all that is known of it. Its database is not even asked. */
export async function deleteSource(
  context: SchemaContext,
  { baseId, sourceId }: { baseId: string; sourceId: string },
  job: JobContext,
): Promise<{ id: string }> {
  const { kernel, bases, store, views, apply } = context
  await apply(
    actorOf(job.userId),
    baseId,
    async ({ now }) => {
      const known = await store.tablesOfSource(sourceId)
      const tableIds = known.map(({ id }) => id)
      const gone = new Set(tableIds)
      const links = (await linkFieldsOf(kernel, store, baseId)).filter(
        (field) => !gone.has(field.tableId) && gone.has(linkOf(field)?.relatedTableId ?? ''),
      )
      const { db } = kernel.meta
      const removed = { tableIds: [], fieldIds: links.map(({ id }) => id) }
      return {
        statements: [
          ...views.forRemovedTables(tableIds),
          db.delete(store.tables).where(eq(store.tables.sourceId, sourceId)),
          bases.sources.remove(sourceId),
          ...markStatements(context, removed, now, now),
        ],
        entry: { kind: 'source.delete', tableId: null, detail: null },
        altered: { fields: links.map((field) => ({ ...field, deletedAt: now })) },
        tableIds: [...new Set(links.map((field) => field.tableId)), ...tableIds],
        result: undefined,
      }
    },
    { silent: true },
  )
  bases.sources.forget(sourceId)
  await kernel.sources.drop(sourceId)
  kernel.events.emit('schema.changed', { baseId, tableId: null, version: 0 })
  return { id: sourceId }
}
