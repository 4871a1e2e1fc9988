import { ChevronDown, EllipsisVertical, Link, Mail, UserMinus } from 'lucide-react'
import type { Base, Member } from '../../../src/core/model.ts'
import { type BaseRole, holdsBaseRole, roleCan } from '../../../src/core/roles.ts'
import { messageOf } from '../../errors.ts'
import { formatAgo } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { addressOf, paths } from '../../navigation/paths.ts'
import { api, trpc } from '../../trpc.ts'
import { Avatar } from '../../ui/avatar.tsx'
import { IconButton } from '../../ui/button.tsx'
import { confirm } from '../../ui/confirm.tsx'
import { copyText } from '../../ui/copy-text.ts'
import { type MenuItem, openMenu } from '../../ui/menu.tsx'
import { toast } from '../../ui/toast.ts'
import styles from './members.module.css'
import { roleHint, rolesToGive } from './role-choice.tsx'
import { RolePill, roleName } from './role-pill.tsx'

/** One member of a base, and what whoever looks may change of them: anything up to their own role. */
export function MemberRow({ base, member, isMe }: { base: Base; member: Member; isMe: boolean }) {
  const utils = trpc.useUtils()
  const sendsMail = trpc.app.info.useQuery().data?.sendsMail ?? false
  const name = member.displayName || member.email
  const mayChange =
    !isMe &&
    !member.isInAllBases &&
    roleCan(base.role, 'member.update') &&
    holdsBaseRole(base.role, member.role)

  async function change(work: () => Promise<unknown>, done: string) {
    try {
      await work()
      toast.success({ text: done })
    } catch (error) {
      toast.error({ text: messageOf(error) })
    }
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
