import { UserPlus } from 'lucide-react'
import { useState } from 'react'
import type { Base } from '../../../src/core/model.ts'
import { roleCan } from '../../../src/core/roles.ts'
import { m } from '../../messages.gen.ts'
import { useMe } from '../../session/use-me.ts'
import { trpc } from '../../trpc.ts'
import { Button } from '../../ui/button.tsx'
import { matches } from '../../ui/matches.ts'
import { openDialog } from '../../ui/open-dialog.tsx'
import { ErrorState, Skeleton } from '../../ui/states.tsx'
import homeStyles from './base-home-screen.module.css'
import { InviteDialog } from './invite-dialog.tsx'
import { MemberRow } from './member-row.tsx'
import styles from './members.module.css'

/** Who can open the base, and as what; who may invite does so here. */
export function MemberList({ base }: { base: Base }) {
  const members = trpc.bases.members.useQuery({ baseId: base.id })
  const { user } = useMe()
  const [search, setSearch] = useState('')
  if (members.error && !members.data) {
    return (
      <ErrorState
        title={m.bases_members_load_failed()}
        error={members.error}
        onRetry={() => void members.refetch()}
      />
    )
  }
  const found = members.data?.filter(({ email, displayName }) =>
    matches(`${displayName ?? ''} ${email}`, search),
  )
  return (
    <div role="tabpanel" aria-label={m.bases_members()} className={homeStyles.panel}>
      <div className={styles.head}>
        <input
          type="search"
          className={styles.search}
          placeholder={m.bases_find_a_member()}
          aria-label={m.bases_find_a_member()}
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
        {roleCan(base.role, 'member.create') && (
          <Button
            variant="primary"
            icon={UserPlus}
            onClick={() => openDialog((close) => <InviteDialog base={base} onClose={close} />)}
          >
            {m.bases_invite_people()}
          </Button>
        )}
      </div>
      <ul className={styles.members} aria-busy={members.isPending}>
        {found?.map((member) => (
          <MemberRow key={member.id} base={base} member={member} isMe={member.id === user?.id} />
        )) ??
          [1, 2].map((n) => (
            <li key={n} className={styles.member}>
              <Skeleton width={32} height={32} round />
              <Skeleton width={180} />
            </li>
          ))}
      </ul>
      {found?.length === 0 && <p className={styles.none}>{m.bases_no_matching_members()}</p>}
    </div>
  )
}
