import { readAttachments, writeAttachments } from '../../../../src/core/fields/attachment-item.ts'
import type { CellValue } from '../../../../src/core/fields/field-type.ts'
import type { Field, RecordId } from '../../../../src/core/model.ts'
import type { FilesChange, FileTarget } from '../../../attachments/file-target.ts'
import { messageOf } from '../../../errors.ts'
import { m } from '../../../messages.gen.ts'
import { recordsApi } from '../../../records/api.ts'
import { runInQueue } from '../../../records/base-queue.ts'
import { api } from '../../../trpc.ts'
import { toast } from '../../../ui/toast.ts'
import type { TableContext } from '../context/table-context.ts'

/** A cell as upload target; works while the grid shows other rows. */
export function fileTarget(
  { store, schema }: Pick<TableContext, 'store' | 'schema'>,
  field: Field,
  recordId: RecordId,
): FileTarget {
  const { baseId, id: tableId } = schema.table
  const current = (): CellValue | undefined => {
    const row = store.isDisposed() ? undefined : store.row(recordId)
    return row && store.query().fieldIds.includes(field.id) ? row.values(field.id) : undefined
  }
  async function latest(): Promise<CellValue> {
    const here = current()
    if (here !== undefined || !store.isSaved(recordId)) return here ?? null
    const { values } = await api.records.get.query({ tableId, recordId: store.realId(recordId) })
    return values[field.id] ?? null
  }
  const changed = (value: CellValue, change: FilesChange) => ({
    id: store.realId(recordId),
    values: { [field.id]: writeAttachments(change(readAttachments(value))) },
  })
  return {
    key: `${field.id} ${recordId}`,
    field,
    current,
    subscribe: (onChange) => store.onRow(recordId, onChange),
    latest,
    begin: () => store.begin(recordId),
    edit(change) {
      const here = current()
      if (here !== undefined) return void store.writeRows([changed(here, change)])
      const clientId = crypto.randomUUID()
      // In the queue, where the files are read after all earlier changes have been stored.
      runInQueue(baseId, async () => {
        const rows = [changed(await latest(), change)]
        return recordsApi.apply({ baseId, operations: [{ kind: 'update', tableId, rows }], clientId })
      }).then(store.applyStored, (error) =>
        toast.error({ text: m.records_change_not_saved_reason({ reason: messageOf(error) }) }),
      )
    },
  }
}
