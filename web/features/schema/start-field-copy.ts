import type { Field, Table } from '../../../src/core/model.ts'
import { m } from '../../messages.gen.ts'
import { inLine } from '../../records/base-queue.ts'
import { api, cache } from '../../trpc.ts'
import type { StartedCopy } from '../copies/copy-dialog.tsx'

/** Position of a new field in a view. */
export interface FieldPlace {
  viewId?: string
  beforeFieldId?: string
}

/**
 * Starts a copy of a field, to a place in a view.
 * @throws what the server refused with
 */
export async function startFieldCopy(
  table: Pick<Table, 'id' | 'baseId'>,
  field: Field,
  how: FieldPlace & { withData: boolean },
): Promise<StartedCopy> {
  const { jobId, fieldId } = await inLine(table.baseId, () =>
    api.copies.field.mutate({ fieldId: field.id, ...how }),
  )
  return {
    jobId,
    async finish() {
      await cache.schema.table.invalidate()
      const made = cache.schema.table.getData({ tableId: table.id })?.fields.find(({ id }) => id === fieldId)
      return m.schema_title_is_ready({ title: made?.title ?? field.title })
    },
  }
}
