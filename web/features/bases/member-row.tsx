import { ChevronDown, EllipsisVertical, Link, Mail, UserMinus } from 'lucide-react'
import type { Base, Member } from '../../../src/core/model.ts'
import { type BaseRole, holdsBaseRole, roleCan } from '../../../src/core/roles.ts'
import { messageOf } from '../../errors.ts'
import { formatAgo, t } from '../../i18n.ts'
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
      t('{name} is now {role}', { name, role: roleName(role) }),
    )

  async function remove() {
    const agreed = await confirm({
      title: t('Remove {name}?', { name }),
      text: t('They’ll lose access to {title}. Their changes are kept.', { title: base.title }),
      confirmLabel: t('Remove'),
      danger: true,
    })
    if (agreed) await change(() => api.bases.removeMember.mutate(target), t('{name} removed', { name }))
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
            label: t('Copy invitation link'),
            icon: Link,
            run: () => void copyInvitation(inviteToken),
          },
        ]),
    ...(member.isInvited && sendsMail
      ? [
          {
            kind: 'action' as const,
            label: t('Resend invitation'),
            icon: Mail,
            run: () => void change(() => api.bases.resendInvite.mutate(target), t('Invitation sent')),
          },
        ]
      : []),
    {
      kind: 'action',
      label: t('Remove from base'),
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
          {isMe && <small> {t('(you)')}</small>}
        </span>
        {member.displayName && <small>{member.email}</small>}
        {member.isInAllBases && <small>{t('Role in all bases, set by an administrator')}</small>}
      </span>
      {!member.isInAllBases && (
        <span className={styles.since}>
          {member.isInvited
            ? t('Invited {ago}', { ago: formatAgo(member.since) })
            : t('Joined {ago}', { ago: formatAgo(member.since) })}
        </span>
      )}
      {mayChange ? (
        <>
          <button
            type="button"
            className={styles.roleButton}
            aria-haspopup="menu"
            aria-label={t('Role of {name}: {role}', { name, role: roleName(member.role) })}
            onClick={(event) => openMenu(event.currentTarget, roles, t('Role'))}
          >
            <RolePill role={member.role} />
            <ChevronDown size={14} aria-hidden />
          </button>
          <IconButton
            icon={EllipsisVertical}
            size="small"
            label={t('Options for {name}', { name })}
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
  if (await copyText(addressOf(paths.acceptInvite(token)))) toast.success({ text: t('Copied') })
}
