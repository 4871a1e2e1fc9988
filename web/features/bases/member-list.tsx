import { t } from '../../i18n.ts'
import { trpc } from '../../trpc.ts'
import { Avatar } from '../../ui/avatar.tsx'
import { ErrorState, Skeleton } from '../../ui/states.tsx'
import styles from './base-home-screen.module.css'
import { RolePill } from './role-pill.tsx'

/** Who can open the base, and as what. To read only. */
export function MemberList({ baseId }: { baseId: string }) {
  const members = trpc.bases.members.useQuery({ baseId })
  if (members.error && !members.data) {
    return (
      <ErrorState
        title={t('The members could not be read')}
        error={members.error}
        onRetry={() => void members.refetch()}
      />
    )
  }
  return (
    <div role="tabpanel" aria-label={t('Members')} className={styles.panel}>
      <ul className={styles.members} aria-busy={members.isPending}>
        {members.data?.map((member) => (
          <li key={member.id} className={styles.member}>
            <Avatar person={member} />
            <span className={styles.memberText}>
              <span className={styles.memberName} dir="auto">
                {member.displayName || member.email}
              </span>
              {member.displayName && <small>{member.email}</small>}
            </span>
            <RolePill role={member.role} />
          </li>
        )) ??
          [1, 2].map((n) => (
            <li key={n} className={styles.member}>
              <Skeleton width={32} height={32} round />
              <Skeleton width={180} />
            </li>
          ))}
      </ul>
    </div>
  )
}
