import { Table2, Trash2, Undo2 } from 'lucide-react'
import type { Base } from '../../../src/core/model.ts'
import { formatAgo, t } from '../../i18n.ts'
import { trpc } from '../../trpc.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../ui/states.tsx'
import styles from '../bases/trash.module.css'
import { restoreTable } from './table-commands.tsx'

/** Deleted tables of a base, each with a way back. */
export function TableTrashDialog({ base, onClose }: { base: Base; onClose: () => void }) {
  const trash = trpc.schema.tables.useQuery({ baseId: base.id, trash: true }, { staleTime: 0 })
  return (
    <Dialog title={t('Deleted tables of "{title}"', { title: base.title })} onClose={onClose}>
      {trash.error ? (
        <ErrorState
          title={t('The trash could not be read')}
          error={trash.error}
          onRetry={() => void trash.refetch()}
        />
      ) : trash.data?.length === 0 ? (
        <EmptyState
          icon={Trash2}
          title={t('The trash is empty')}
          text={t('Tables that you delete wait here.')}
        />
      ) : (
        <ul className={styles.list} aria-busy={trash.isPending}>
          {trash.data?.map((table) => (
            <li key={table.id} className={styles.row}>
              <Table2 size={18} />
              <span className={styles.text}>
                <span className={styles.title} dir="auto">
                  {table.title}
                </span>
                {table.deletedAt && (
                  <small>{t('Deleted {when}', { when: formatAgo(table.deletedAt) })}</small>
                )}
              </span>
              <Button size="small" icon={Undo2} onClick={() => void restoreTable(table)}>
                {t('Restore')}
              </Button>
            </li>
          )) ?? [1, 2, 3].map((n) => <Skeleton key={n} height={28} />)}
        </ul>
      )}
    </Dialog>
  )
}
