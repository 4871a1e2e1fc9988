import { m } from '../../../messages.gen.ts'
import { confirm } from '../../../ui/confirm.tsx'

/** How many records are about to be deleted, and how many of them the search or filter hides. */
export interface RecordDeletion {
  table: string
  count: number
  hidden: number
}

/** Asks before many records are deleted, or records that are not in view; true where the person agrees. */
export const confirmDeletion = ({ table, count, hidden }: RecordDeletion): Promise<boolean> =>
  confirm({
    title: m.records_delete_records_confirm({ count }),
    text: (
      <>
        {hidden > 0 && (
          <p data-testid="hidden-records">
            <strong>{m.records_not_view_search_filter_hides({ count: hidden })}</strong>
          </p>
        )}
        <p>{m.records_delete_records_consequences({ table })}</p>
      </>
    ),
    confirmLabel: m.records_delete_records_count({ count }),
    danger: true,
  })
