import { t, tn } from '../../../i18n.ts'
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
    title: tn('Delete 1 record?', 'Delete {n} records?', count),
    text: (
      <>
        {hidden > 0 && (
          <p data-testid="hidden-records">
            <strong>
              {tn(
                '1 of them is not in view: the search or filter hides it.',
                '{n} of them are not in view: the search or filter hides them.',
                hidden,
              )}
            </strong>
          </p>
        )}
        <p>{t('They move to the trash of table {table}. You can restore them from there.', { table })}</p>
      </>
    ),
    confirmLabel: tn('Delete 1 record', 'Delete {n} records', count),
    danger: true,
  })
