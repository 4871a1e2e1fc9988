import { Trash2, Undo2, X } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Base } from '../../../src/core/model.ts'
import { formatAgo } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { trpc } from '../../trpc.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Dialog } from '../../ui/overlays.ts'
import { EmptyState, ErrorState, Skeleton } from '../../ui/states.tsx'
import { BaseIcon } from '../layout/base-icon.tsx'
import styles from './trash.module.css'

/** Deleted bases, each with a way back. */
export function BaseTrashDialog(props: {
  onRestore: (base: Base) => void
  onPurge: (base: Base) => void
  onClose: () => void
}) {
  const { onRestore, onPurge, onClose } = props
  const trash = trpc.bases.list.useQuery({ trash: true }, { staleTime: 0 })
  return (
    <Dialog title={m.bases_deleted_bases()} onClose={onClose}>
      <TrashList
        trash={trash}
        emptyText={m.bases_deleted_bases_appear_here()}
        icon={(base) => <BaseIcon base={base} size={28} />}
        onRestore={onRestore}
        onPurge={onPurge}
        keepsDays={({ keepsDays }) => keepsDays}
      />
    </Dialog>
  )
}

/** What lies in a trash, whatever it is. */
interface Deleted {
  id: string
  title: string
  deletedAt: string | null
}

interface TrashListProps<T extends Deleted> {
  trash: { data: T[] | undefined; error: unknown; isPending: boolean; refetch: () => unknown }
  /** Said where nothing is in it. */
  emptyText: string
  icon: (item: T) => ReactNode
  onRestore: (item: T) => void
  /** Absent: nothing is deleted forever from here. */
  onPurge?: (item: T) => void
  /** For how many days an item is kept, 0: until someone deletes it. */
  keepsDays?: (item: T) => number
}

/** What was deleted, each with a way back. */
function TrashList<T extends Deleted>(props: TrashListProps<T>) {
  const { trash, emptyText, icon, onRestore, onPurge, keepsDays } = props

  if (trash.error) {
    return (
      <ErrorState
        title={m.bases_trash_load_failed()}
        error={trash.error}
        onRetry={() => void trash.refetch()}
      />
    )
  }
  if (trash.data?.length === 0)
    return <EmptyState icon={Trash2} title={m.bases_the_trash_is_empty()} text={emptyText} />
  return (
    <ul className={styles.list} aria-busy={trash.isPending}>
      {trash.data?.map((item) => (
        <li key={item.id} className={styles.row}>
          {icon(item)}
          <span className={styles.text}>
            <span className={styles.title} dir="auto">
              {item.title}
            </span>
            {item.deletedAt && (
              <small>
                {m.bases_deleted_when({ when: formatAgo(item.deletedAt) })}
                {keepsDays && <> · {removalText(item.deletedAt, keepsDays(item))}</>}
              </small>
            )}
          </span>
          <Button size="small" icon={Undo2} onClick={() => onRestore(item)}>
            {m.bases_restore()}
          </Button>
          {onPurge && (
            <IconButton
              icon={X}
              size="small"
              label={m.bases_delete_title_forever({ title: item.title })}
              onClick={() => onPurge(item)}
            />
          )}
        </li>
      )) ?? [1, 2, 3].map((n) => <Skeleton key={n} height={28} />)}
    </ul>
  )
}

const DAY_MS = 24 * 60 * 60 * 1000

/**
 * Says when something in the trash is removed for good.
 *
 * @param keepsDays days that it stays there; 0: until someone deletes it
 */
function removalText(deletedAt: string, keepsDays: number): string {
  if (keepsDays === 0) return m.bases_kept_until_you_delete_it()
  const days = Math.ceil((Date.parse(deletedAt) + keepsDays * DAY_MS - Date.now()) / DAY_MS)
  return days <= 1 ? m.bases_removed_within_a_day() : m.bases_removed_in_days({ count: days })
}
