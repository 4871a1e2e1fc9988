import type { Work } from '../../../../src/core/work.ts'
import { messageOf } from '../../../errors.ts'
import { m } from '../../../messages.gen.ts'
import { api } from '../../../trpc.ts'
import { Button } from '../../../ui/button.tsx'
import { toast } from '../../../ui/toast.ts'
import styles from './table-view.module.css'

/** Long writes with their progress. */
export function WorkList({ works, canCancel }: { works: readonly Work[]; canCancel: boolean }) {
  return works.map((work) => (
    <div key={work.id} className={styles.work} data-testid="work-bar">
      <progress value={work.share ?? undefined} aria-label={m.records_progress()} />
      <span dir="auto">{wording(work)}</span>
      {canCancel && work.canCancel && (
        <Button size="small" variant="ghost" onClick={() => void cancel(work)}>
          {m.common_cancel()}
        </Button>
      )}
    </div>
  ))
}

function wording({ kind, records, tableTitle: table, fieldTitle: field }: Work): string {
  switch (kind) {
    case 'convert':
      return m.records_changing_field_field_of_table({ field: field ?? '', table })
    case 'fill':
      return m.records_adding_field_field_to_table({ field: field ?? '', table })
    case 'purge':
      return field === null
        ? m.records_deleting_records_of_table_forever({ table })
        : m.records_deleting_field_field_table_forever({ field, table })
    case 'restore':
      if (field !== null) return m.records_restoring_field_field_of_table({ field, table })
      break
  }
  if (table === '') return kind === 'redo' ? m.records_redoing_a_change() : m.records_undoing_a_change()
  if (records === null) return m.records_preparing_a_change_of_table({ table })
  switch (kind) {
    case 'insert':
      return m.records_adding_records_to_table({ count: records, table })
    case 'delete':
      return m.records_deleting_records_of_table({ count: records, table })
    case 'restore':
      return m.records_restoring_records_of_table({ count: records, table })
    case 'rewind':
      return m.records_restoring_table_earlier({ count: records, table })
    case 'undo':
      return m.records_undoing_change_records_table({ count: records, table })
    case 'redo':
      return m.records_redoing_change_records_table({ count: records, table })
    default:
      return m.records_updating_records_of_table({ count: records, table })
  }
}

/** Cancels a running write; the request that started it reports the cancellation. */
async function cancel({ id: workId, baseId }: Work): Promise<void> {
  try {
    await api.records.cancelWork.mutate({ baseId, workId })
  } catch (error) {
    toast.error({ text: messageOf(error) })
  }
}
