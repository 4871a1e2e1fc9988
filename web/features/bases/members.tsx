import { ChevronDown, EllipsisVertical, Link, Mail, UserMinus, UserPlus } from 'lucide-react'
import { useState } from 'react'
import type { Base, Member, MemberInvitation } from '../../../src/core/model.ts'
import { BASE_ROLES, type BaseRole, holdsBaseRole, roleCan } from '../../../src/core/roles.ts'
import { messageOf } from '../../errors.ts'
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
import { DialogButtons } from '../../ui/dialog-buttons.tsx'
import { TextArea } from '../../ui/field.tsx'
import { matches } from '../../ui/matches.ts'
import { type MenuItem, openMenu } from '../../ui/menu.tsx'
import { openDialog } from '../../ui/open-dialog.tsx'
import { Dialog } from '../../ui/overlays.ts'
import { SearchInput } from '../../ui/search-input.tsx'
import { QueryError, Skeleton } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.ts'
import { checkEmail } from '../auth/check-credentials.ts'
import { CopyButton } from '../shares/share-link.tsx'
import homeStyles from './base-home-screen.module.css'
import styles from './members.module.css'
import { RolePill, roleName } from './role-pill.tsx'

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

/** Limit of one invite call. */
const MAX_AT_ONCE = 200

/** Splits typed or pasted addresses at commas, semicolons and whitespace, without duplicates. */
const readAddresses = (text: string): string[] => [
  ...new Set(text.split(/[\s,;]+/).filter((part) => part !== '')),
]

/** Invites people to a base. Those without an account get a sign-up link. */
function InviteDialog({ base, onClose }: { base: Base; onClose: () => void }) {
  const utils = trpc.useUtils()
  const sendsMail = trpc.app.info.useQuery().data?.sendsMail ?? false
  const [text, setText] = useState('')
  const [role, setRole] = useState<BaseRole>(holdsBaseRole(base.role, 'editor') ? 'editor' : 'viewer')
  const [refused, setRefused] = useState<string | null>(null)
  const [links, setLinks] = useState<MemberInvitation[]>([])
  const invite = trpc.bases.invite.useMutation({ onSuccess: receive })

  function receive(outcomes: MemberInvitation[]) {
    void utils.bases.members.invalidate({ baseId: base.id })
    const problems = outcomes.filter(({ problem }) => problem !== null)
    const invited = outcomes.length - problems.length
    const fresh = outcomes.filter(({ inviteToken }) => inviteToken !== null)
    if (invited > 0) toast.success({ text: m.bases_people_invited({ count: invited }) })
    if (problems.length === 0 && fresh.length === 0) return onClose()
    setLinks((before) => [...before, ...fresh])
    // Keep the rejected addresses in the field, with the reason.
    setText(problems.map(({ email }) => email).join(', '))
    setRefused(problems.length > 0 ? problems.map(({ problem }) => problem).join('. ') : null)
  }

  function submit() {
    if (invite.isPending) return
    const emails = readAddresses(text)
    const wrong = emails.filter((email) => checkEmail(email) !== null)
    if (emails.length === 0) return setRefused(m.bases_enter_least_one_email_address())
    if (wrong.length > 0)
      return setRefused(m.bases_invalid_email_address_emails({ emails: wrong.join(', ') }))
    if (emails.length > MAX_AT_ONCE) {
      return setRefused(m.bases_up_to_addresses_at_once({ count: MAX_AT_ONCE }))
    }
    setRefused(null)
    invite.mutate({ baseId: base.id, emails, role })
  }

  const isDone = links.length > 0 && text === ''
  return (
    <Dialog
      title={m.bases_invite_to_title({ title: base.title })}
      onClose={onClose}
      onSubmit={isDone ? onClose : submit}
      footer={
        isDone ? (
          <Button type="submit" variant="primary">
            {m.common_done()}
          </Button>
        ) : (
          <DialogButtons label={m.bases_invite()} busy={invite.isPending} onClose={onClose} />
        )
      }
    >
      <div className={styles.form}>
        {links.length > 0 && <InviteLinks invitations={links} sendsMail={sendsMail} />}
        {!isDone && (
          <>
            <TextArea
              label={m.bases_email_addresses()}
              data-autofocus
              dir="ltr"
              rows={2}
              placeholder="ada@example.com, grace@example.com"
              value={text}
              onChange={(event) => setText(event.target.value)}
              error={refused ?? (invite.error && messageOf(invite.error))}
              help={sendsMail ? m.bases_invite_hint_mail() : m.bases_invite_hint_links()}
            />
            <RoleChoice own={base.role} role={role} onChange={setRole} />
          </>
        )}
      </div>
    </Dialog>
  )
}

/** Sign-up links of invited people without an account. */
function InviteLinks({ invitations, sendsMail }: { invitations: MemberInvitation[]; sendsMail: boolean }) {
  return (
    <section className={styles.links} aria-label={m.bases_invitation_links()}>
      <p>{sendsMail ? m.bases_invitation_links_mailed_hint() : m.bases_invitation_links_no_mail_hint()}</p>
      {invitations.map(({ email, inviteToken }) => (
        <div key={email} className={styles.link}>
          <span dir="ltr">{email}</span>
          <CopyButton text={addressOf(paths.acceptInvite(inviteToken ?? ''))} />
        </div>
      ))}
    </section>
  )
}

/** Roles that a member with role `own` may assign, highest first. */
const rolesToGive = (own: BaseRole): BaseRole[] =>
  BASE_ROLES.filter((role) => holdsBaseRole(own, role)).toReversed()

/** One sentence on the rights of a role. */
function roleHint(role: BaseRole): string {
  const hints: Record<BaseRole, string> = {
    owner: m.bases_full_access_including_deleting_base(),
    creator: m.bases_also_manage_tables_fields_views(),
    editor: m.bases_also_add_edit_delete_records(),
    commenter: m.bases_also_comment_on_records(),
    viewer: m.bases_view_all_tables_views(),
    'no-access': m.bases_cant_open_the_base(),
  }
  return hints[role]
}

/** Radio buttons of the roles that `own` may assign. */
function RoleChoice(props: { own: BaseRole; role: BaseRole; onChange: (role: BaseRole) => void }) {
  const { own, role, onChange } = props
  return (
    <fieldset className={styles.roles}>
      <legend>{m.bases_role()}</legend>
      {rolesToGive(own).map((each) => (
        <label key={each} className={styles.role}>
          <input type="radio" name="role" checked={each === role} onChange={() => onChange(each)} />
          <span>
            <span style={{ color: `var(--color-role-${each})` }}>{roleName(each)}</span>
            <small>{roleHint(each)}</small>
          </span>
        </label>
      ))}
    </fieldset>
  )
}
