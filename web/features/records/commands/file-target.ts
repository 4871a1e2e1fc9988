import type { CellValue } from '../../../../src/core/fields/field-type.ts'
import type { Field, RecordId } from '../../../../src/core/model.ts'
import type { FileTarget } from '../../../attachments/file-target.ts'
import { m } from '../../../messages.gen.ts'
import type { RecordStore } from '../../../records/record-store.ts'
import { api } from '../../../trpc.ts'
import { toast } from '../../../ui/toast.ts'

/** A cell as upload target; works while the grid shows other rows. */
export function fileTarget(store: RecordStore, field: Field, recordId: RecordId): FileTarget {
  const current = (): CellValue | undefined => {
    const row = store.row(recordId)
    return row && store.query().fieldIds.includes(field.id) ? row.values(field.id) : undefined
  }
  return {
    key: `${field.id} ${recordId}`,
    field,
    current,
    subscribe: (onChange) => store.onRow(recordId, onChange),
    async latest() {
      const here = current()
      if (here !== undefined || !store.isSaved(recordId)) return here ?? null
      const { values } = await api.records.get.query({
        tableId: field.tableId,
        recordId: store.realId(recordId),
      })
      return values[field.id] ?? null
    },
    begin: () => store.begin(recordId),
    write: (value) => void store.writeRows([{ id: recordId, values: { [field.id]: value } }]),
    refused: (reason) => toast.error({ text: m.records_files_not_added_reason({ reason }) }),
  }
}
