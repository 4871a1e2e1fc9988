import { ChevronDown, EllipsisVertical, Link, Mail, UserMinus, UserPlus } from 'lucide-react'
import { useState } from 'react'
import type { Base, Member } from '../../../src/core/model.ts'
import { type BaseRole, holdsBaseRole, roleCan } from '../../../src/core/roles.ts'
import { formatAgo } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { addressOf, paths } from '../../navigation/paths.ts'
import { useMe } from '../../session/use-me.ts'
import { api, trpc } from '../../trpc.ts'
import { attempt } from '../../ui/attempt.ts'
import { Avatar } from '../../ui/avatar.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { confirm } from '../../ui/confirm.tsx'
import { copyText } from '../../ui/copy-text.ts'
import { matches } from '../../ui/matches.ts'
import { type MenuItem, openMenu } from '../../ui/menu.tsx'
import { openDialog } from '../../ui/open-dialog.tsx'
import { SearchInput } from '../../ui/search-input.tsx'
import { QueryError, Skeleton } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.ts'
import { InviteDialog } from '../members/invite-dialog.tsx'
import { RolePill, roleName } from '../members/role-pill.tsx'
import { roleHint, rolesToGive } from '../members/roles-to-give.ts'
import homeStyles from './base-home-screen.module.css'
import styles from './members.module.css'

/** Members of a base with their roles, and invitations. */
export function MemberList({ base }: { base: Base }) {
  const members = trpc.bases.members.useQuery({ baseId: base.id })
  const { user } = useMe()
  const [search, setSearch] = useState('')
  if (members.error && !members.data) {
    return <QueryError title={m.bases_members_load_failed()} query={members} />
  }
  const found = members.data?.filter(({ email, displayName }) =>
    matches(`${displayName ?? ''} ${email}`, search),
  )
  return (
    <div className={homeStyles.panel}>
      <div className={styles.head}>
        <SearchInput
          label={m.bases_find_a_member()}
          value={search}
          onSearch={setSearch}
          className={styles.search}
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

/** A member; users may change members up to their own role. */
function MemberRow({ base, member, isMe }: { base: Base; member: Member; isMe: boolean }) {
  const utils = trpc.useUtils()
  const sendsMail = trpc.app.info.useQuery().data?.sendsMail ?? false
  const name = member.displayName || member.email
  const mayChange =
    !isMe &&
    !member.isInAllBases &&
    roleCan(base.role, 'member.update') &&
    holdsBaseRole(base.role, member.role)

  async function change(work: () => Promise<unknown>, done: string) {
    await attempt(async () => {
      await work()
      toast.success({ text: done })
    })
    await utils.bases.members.invalidate({ baseId: base.id })
  }

  const target = { baseId: base.id, userId: member.id }
  const setRole = (role: BaseRole) =>
    change(
      () => api.bases.updateMember.mutate({ ...target, role }),
      m.bases_name_is_now_role({ name, role: roleName(role) }),
    )

  async function remove() {
    const agreed = await confirm({
      title: m.bases_remove_confirm({ name }),
      text: m.bases_remove_member_consequences({ title: base.title }),
      confirmLabel: m.common_remove(),
      danger: true,
    })
    if (agreed) await change(() => api.bases.removeMember.mutate(target), m.bases_name_removed({ name }))
  }

  const roles = rolesToGive(base.role).map(
    (role): MenuItem => ({
      kind: 'action',
      label: roleName(role),
      hint: roleHint(role),
      checked: role === member.role,
      run: () => void (role !== member.role && setRole(role)),
    }),
  )
  const { inviteToken } = member
  const tools: MenuItem[] = [
    ...(inviteToken === null
      ? []
      : [
          {
            kind: 'action' as const,
            label: m.bases_copy_invitation_link(),
            icon: Link,
            run: () => void copyInvitation(inviteToken),
          },
        ]),
    ...(member.isInvited && sendsMail
      ? [
          {
            kind: 'action' as const,
            label: m.bases_resend_invitation(),
            icon: Mail,
            run: () => void change(() => api.bases.resendInvite.mutate(target), m.bases_invitation_sent()),
          },
        ]
      : []),
    {
      kind: 'action',
      label: m.bases_remove_from_base(),
      icon: UserMinus,
      tone: 'danger',
      run: () => void remove(),
    },
  ]

  return (
    <li className={styles.member}>
      <Avatar person={member} />
      <span className={styles.text}>
        <span className={styles.name} dir="auto">
          {name}
          {isMe && <small> {m.bases_you()}</small>}
        </span>
        {member.displayName && <small>{member.email}</small>}
        {member.isInAllBases && <small>{m.bases_role_all_bases_set_administrator()}</small>}
      </span>
      {!member.isInAllBases && (
        <span className={styles.since}>
          {member.isInvited
            ? m.bases_invited_ago({ ago: formatAgo(member.since) })
            : m.bases_joined_ago({ ago: formatAgo(member.since) })}
        </span>
      )}
      {mayChange ? (
        <>
          <button
            type="button"
            className={styles.roleButton}
            aria-haspopup="menu"
            aria-label={m.bases_role_of_name_role({ name, role: roleName(member.role) })}
            onClick={(event) => openMenu(event.currentTarget, roles, m.bases_role())}
          >
            <RolePill role={member.role} />
            <ChevronDown size={14} aria-hidden />
          </button>
          <IconButton
            icon={EllipsisVertical}
            size="small"
            label={m.bases_options_for_name({ name })}
            aria-haspopup="menu"
            onClick={(event) => openMenu(event.currentTarget, tools, name)}
          />
        </>
      ) : (
        <RolePill role={member.role} />
      )}
    </li>
  )
}

async function copyInvitation(token: string): Promise<void> {
  if (await copyText(addressOf(paths.acceptInvite(token)))) toast.success({ text: m.common_copied() })
}
