import { Trash2, Undo2 } from 'lucide-react'
import type { ReactNode } from 'react'
import { formatAgo, t } from '../../i18n.ts'
import { Button } from '../../ui/button.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../ui/states.tsx'
import styles from './trash.module.css'

/** What lies in a trash, whatever it is. */
interface Deleted {
  id: string
  title: string
  deletedAt: string | null
}

export interface TrashListProps<T extends Deleted> {
  trash: { data: T[] | undefined; error: unknown; isPending: boolean; refetch: () => unknown }
  /** Said where nothing is in it. */
  emptyText: string
  icon: (item: T) => ReactNode
  onRestore: (item: T) => void
}

/** What was deleted, each with a way back. */
export function TrashList<T extends Deleted>({ trash, emptyText, icon, onRestore }: TrashListProps<T>) {
  if (trash.error) {
    return (
      <ErrorState
        title={t('The trash could not be loaded')}
        error={trash.error}
        onRetry={() => void trash.refetch()}
      />
    )
  }
  if (trash.data?.length === 0)
    return <EmptyState icon={Trash2} title={t('The trash is empty')} text={emptyText} />
  return (
    <ul className={styles.list} aria-busy={trash.isPending}>
      {trash.data?.map((item) => (
        <li key={item.id} className={styles.row}>
          {icon(item)}
          <span className={styles.text}>
            <span className={styles.title} dir="auto">
              {item.title}
            </span>
            {item.deletedAt && <small>{t('Deleted {when}', { when: formatAgo(item.deletedAt) })}</small>}
          </span>
          <Button size="small" icon={Undo2} onClick={() => onRestore(item)}>
            {t('Restore')}
          </Button>
        </li>
      )) ?? [1, 2, 3].map((n) => <Skeleton key={n} height={28} />)}
    </ul>
  )
}
