import { Trash2, Undo2 } from 'lucide-react'
import { formatAgo, t } from '../../i18n.ts'
import { trpc } from '../../trpc.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../ui/states.tsx'
import { restoreBase } from './base-commands.tsx'
import { BaseIcon } from './base-icon.tsx'
import styles from './trash.module.css'

/** Deleted bases, each with a way back. */
export function BaseTrashDialog({ onClose }: { onClose: () => void }) {
  const trash = trpc.bases.list.useQuery({ trash: true }, { staleTime: 0 })
  return (
    <Dialog title={t('Deleted bases')} onClose={onClose}>
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
          text={t('Bases that you delete wait here.')}
        />
      ) : (
        <ul className={styles.list} aria-busy={trash.isPending}>
          {trash.data?.map((base) => (
            <li key={base.id} className={styles.row}>
              <BaseIcon base={base} size={28} />
              <span className={styles.text}>
                <span className={styles.title} dir="auto">
                  {base.title}
                </span>
                {base.deletedAt && <small>{t('Deleted {when}', { when: formatAgo(base.deletedAt) })}</small>}
              </span>
              <Button size="small" icon={Undo2} onClick={() => void restoreBase(base)}>
                {t('Restore')}
              </Button>
            </li>
          )) ?? [1, 2, 3].map((n) => <Skeleton key={n} height={28} />)}
        </ul>
      )}
    </Dialog>
  )
}
