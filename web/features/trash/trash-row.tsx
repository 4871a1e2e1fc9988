import { Undo2, X } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Person } from '../../../src/core/model.ts'
import { formatAgo, localeTag } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Skeleton } from '../../ui/states.tsx'
import lists from '../layout/list-screen.module.css'
import styles from './trash.module.css'

const DAY_MS = 24 * 60 * 60 * 1000

interface TrashRowProps {
  title: string
  icon: ReactNode
  isChecked: boolean
  onCheck: (isChecked: boolean) => void
  /** Where the item was. */
  place?: ReactNode
  children?: ReactNode
  deletedAt: string
  deletedBy: Person | undefined
  expiresAt: string | null
  onRestore: () => void
  /** Absent: the user may not delete the item forever. */
  onPurge?: () => void
}

/** A deleted item: its place, who deleted it, when, until when it stays, and the buttons for it. */
export function TrashRow(props: TrashRowProps) {
  const { title, icon, deletedAt, deletedBy, expiresAt } = props
  return (
    <li className={lists.row} data-testid="trashed-item">
      <input
        type="checkbox"
        aria-label={m.trash_select_title({ title })}
        checked={props.isChecked}
        onChange={(event) => props.onCheck(event.target.checked)}
      />
      <span className={styles.kind}>{icon}</span>
      <div className={lists.text}>
        <p className={lists.label}>
          <bdi>{title}</bdi>
        </p>
        {props.children}
        <p className={lists.facts}>
          {props.place}
          <DeletionFacts at={deletedAt} person={deletedBy} />
          <span data-tip={expiresAt ? new Date(expiresAt).toLocaleString(localeTag()) : undefined}>
            {expiryText(expiresAt)}
          </span>
        </p>
      </div>
      <Button size="small" icon={Undo2} onClick={props.onRestore}>
        {m.trash_restore()}
      </Button>
      {props.onPurge && (
        <IconButton
          icon={X}
          size="small"
          label={m.trash_delete_title_forever({ title })}
          onClick={props.onPurge}
        />
      )}
    </li>
  )
}

/** Who deleted something, and when. */
export function DeletionFacts({ at, person }: { at: string; person: Person | undefined }) {
  return (
    <>
      <span dir="auto">{person ? person.displayName || person.email : m.trash_someone()}</span>
      <time dateTime={at} data-tip={new Date(at).toLocaleString(localeTag())}>
        {m.trash_deleted_when({ when: formatAgo(at) })}
      </time>
    </>
  )
}

/** Tells when an item is removed permanently. */
function expiryText(expiresAt: string | null): string {
  if (expiresAt === null) return m.trash_kept_until_deleted()
  const days = Math.ceil((Date.parse(expiresAt) - Date.now()) / DAY_MS)
  return days <= 1 ? m.trash_removed_within_a_day() : m.trash_removed_in_days({ count: days })
}

export const TrashSkeleton = () => (
  <div className={lists.list} aria-busy="true">
    {[1, 2, 3].map((n) => (
      <Skeleton key={n} height={40} />
    ))}
  </div>
)
