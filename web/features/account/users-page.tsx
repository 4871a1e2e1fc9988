import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { EllipsisVertical, Link, LockKeyhole, Mail, Trash2, UsersRound } from 'lucide-react'
import { useState } from 'react'
import * as z from 'zod/mini'
import { asBaseRole, WORKSPACE_ROLES, type WorkspaceRole } from '../../../src/core/roles.ts'
import { messageOf } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import { addressOf, paths } from '../../navigation/paths.ts'
import { callRest } from '../../rest.ts'
import { useMe } from '../../session/use-me.ts'
import { trpc } from '../../trpc.ts'
import { attempt } from '../../ui/attempt.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { confirm } from '../../ui/confirm.tsx'
import { copyText } from '../../ui/copy-text.ts'
import { SelectField, TextField } from '../../ui/field.tsx'
import { type MenuItem, openMenu } from '../../ui/menu.tsx'
import { EmptyState, QueryError, Skeleton } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.ts'
import { roleName } from '../members/role-pill.tsx'
import styles from './account.module.css'
import { FreshToken } from './tokens-page.tsx'

const PATH = '/api/v1/users'
const PAGE = 25

const OrgUser = z.object({
  id: z.string(),
  email: z.string(),
  display_name: z.nullable(z.string()),
  roles: z.string(),
  workspace_roles: z.nullable(z.enum(WORKSPACE_ROLES)),
  invite_token: z.nullable(z.string()),
  projectsCount: z.number(),
})
type OrgUser = z.infer<typeof OrgUser>
const UserPage = z.object({ list: z.array(OrgUser), pageInfo: z.object({ totalRows: z.number() }) })
const Invited = z.object({ email: z.string(), invite_token: z.nullable(z.string()) })
const ResetLink = z.object({ reset_password_url: z.string() })

type GivenRole = 'org-level-creator' | 'org-level-viewer'

const roleLabel = (role: GivenRole): string =>
  role === 'org-level-creator' ? m.account_can_create_bases() : m.account_shared_bases_only()

const allBasesLabel = (role: WorkspaceRole | null): string =>
  role === null
    ? m.account_all_bases_no_role()
    : m.account_all_bases_role({ role: roleName(asBaseRole(role)) })

/** All accounts: invite, set roles, copy reset links, delete. */
export function UsersPage() {
  const { user: me, holds } = useMe()
  const [search, setSearch] = useState('')
  const [page, setPage] = useState(0)
  const queries = useQueryClient()
  const path = `${PATH}?limit=${PAGE}&offset=${page * PAGE}&query=${encodeURIComponent(search)}`
  const users = useQuery({
    queryKey: ['rest', PATH, search, page],
    queryFn: async () => UserPage.parse(await callRest('GET', path)),
    placeholderData: keepPreviousData,
  })
  const reload = () => queries.invalidateQueries({ queryKey: ['rest', PATH] })
  const total = users.data?.pageInfo.totalRows ?? 0
  const pages = Math.max(1, Math.ceil(total / PAGE))
  // The last page may have lost its only account.
  if (users.data && page >= pages) setPage(pages - 1)
  return (
    <div className={styles.form}>
      <InviteForm onInvited={reload} />
      <TextField
        type="search"
        label={m.account_search_by_email()}
        value={search}
        onChange={(event) => {
          setSearch(event.target.value)
          setPage(0)
        }}
      />
      {users.error && !users.data ? (
        <QueryError title={m.account_users_load_failed()} query={users} />
      ) : total === 0 && users.data ? (
        <EmptyState icon={UsersRound} title={m.account_no_user_matches()} />
      ) : (
        <ul className={styles.tokens} aria-label={m.account_users()} aria-busy={users.isFetching}>
          {users.data?.list.map((user) => (
            <UserRow
              key={user.id}
              user={user}
              isMe={user.id === me?.id}
              mayReset={holds('super')}
              onChange={reload}
            />
          )) ?? [1, 2, 3].map((n) => <Skeleton key={n} height={56} />)}
        </ul>
      )}
      {pages > 1 && (
        <div className={styles.fresh}>
          <Button disabled={page === 0} onClick={() => setPage(page - 1)}>
            {m.account_previous()}
          </Button>
          <span>{m.account_page_page_of_pages({ page: page + 1, pages })}</span>
          <Button disabled={page + 1 >= pages} onClick={() => setPage(page + 1)}>
            {m.account_next()}
          </Button>
        </div>
      )}
    </div>
  )
}

function InviteForm({ onInvited }: { onInvited: () => Promise<unknown> }) {
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<GivenRole>('org-level-viewer')
  const invite = useMutation({
    mutationFn: async () => Invited.parse(await callRest('POST', PATH, { email: email.trim(), roles: role })),
    async onSuccess() {
      setEmail('')
      await onInvited()
    },
  })
  const token = invite.data?.invite_token
  return (
    <>
      <form
        className={styles.create}
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          if (email.trim() && !invite.isPending) invite.mutate()
        }}
      >
        <TextField
          type="email"
          label={m.account_invite_by_email()}
          className={styles.grow}
          maxLength={256}
          value={email}
          onChange={(event) => setEmail(event.target.value)}
          error={invite.error && messageOf(invite.error)}
        />
        <SelectField
          label={m.account_role()}
          value={role}
          onChange={(event) => setRole(event.target.value as GivenRole)}
        >
          <RoleOptions />
        </SelectField>
        <Button type="submit" variant="primary" busy={invite.isPending} disabled={email.trim() === ''}>
          {m.account_invite()}
        </Button>
      </form>
      {invite.data && token && (
        <FreshToken
          token={addressOf(paths.acceptInvite(token))}
          note={m.account_send_this_link_to_email({ email: invite.data.email })}
        />
      )}
    </>
  )
}

function RoleOptions() {
  return (['org-level-viewer', 'org-level-creator'] as const).map((role) => (
    <option key={role} value={role}>
      {roleLabel(role)}
    </option>
  ))
}

interface RowProps {
  user: OrgUser
  isMe: boolean
  mayReset: boolean
  onChange: () => Promise<unknown>
}

function UserRow({ user, isMe, mayReset, onChange }: RowProps) {
  const sendsMail = trpc.app.info.useQuery().data?.sendsMail ?? false
  const setWorkspaceRole = trpc.auth.setWorkspaceRole.useMutation()
  const name = user.display_name || user.email
  const isSuper = user.roles.split(',').includes('super')
  const path = `${PATH}/${user.id}`

  async function change(work: () => Promise<unknown>, done: string) {
    await attempt(async () => {
      await work()
      toast.success({ text: done })
    })
    await onChange()
  }

  async function copy(text: string) {
    if (await copyText(text)) toast.success({ text: m.common_copied() })
  }

  async function copyResetLink() {
    await attempt(async () => {
      const { reset_password_url: url } = ResetLink.parse(
        await callRest('POST', `${path}/generate-reset-url`),
      )
      await copy(url)
    })
  }

  async function remove() {
    const agreed = await confirm({
      title: m.account_delete_the_account_of_confirm({ name }),
      text: m.account_delete_account_consequences(),
      confirmLabel: m.account_delete_account(),
      danger: true,
    })
    if (agreed) await change(() => callRest('DELETE', path), m.account_account_name_deleted({ name }))
  }

  const { invite_token: inviteToken } = user
  const tools: MenuItem[] = []
  if (inviteToken !== null) {
    tools.push({
      kind: 'action',
      icon: Link,
      label: m.account_copy_invitation_link(),
      run: () => void copy(addressOf(paths.acceptInvite(inviteToken))),
    })
    if (sendsMail)
      tools.push({
        kind: 'action',
        icon: Mail,
        label: m.account_resend_invitation(),
        run: () => void change(() => callRest('POST', `${path}/resend-invite`), m.account_invitation_sent()),
      })
  } else if (mayReset) {
    tools.push({
      kind: 'action',
      icon: LockKeyhole,
      label: m.account_copy_password_reset_link(),
      run: () => void copyResetLink(),
    })
  }
  if (!isMe && !isSuper)
    tools.push({
      kind: 'action',
      icon: Trash2,
      label: m.account_delete_account(),
      tone: 'danger',
      run: () => void remove(),
    })
  return (
    <li className={`${styles.token} ${styles.userRow}`}>
      <span className={styles.tokenText}>
        <strong dir="auto" data-tip={name} data-tip-clipped>
          {name}
        </strong>
        <small>
          {user.display_name && <>{user.email} · </>}
          {inviteToken !== null && <>{m.account_invited()} · </>}
          {m.account_bases_count({ count: user.projectsCount })}
        </small>
      </span>
      {isSuper ? (
        <span>{m.account_super_admin()}</span>
      ) : (
        <>
          {mayReset && (
            <select
              aria-label={m.account_role_name_all_bases({ name })}
              title={m.account_role_in_all_bases_hint()}
              value={user.workspace_roles ?? ''}
              onChange={(event) => {
                const role = WORKSPACE_ROLES.find((known) => known === event.target.value) ?? null
                void change(
                  () => setWorkspaceRole.mutateAsync({ userId: user.id, role }),
                  m.account_role_in_base({ name, role: allBasesLabel(role) }),
                )
              }}
            >
              {[null, ...WORKSPACE_ROLES].map((role) => (
                <option key={role} value={role ?? ''}>
                  {allBasesLabel(role)}
                </option>
              ))}
            </select>
          )}
          <select
            aria-label={m.account_role_of_name({ name })}
            disabled={isMe}
            value={user.roles.includes('org-level-creator') ? 'org-level-creator' : 'org-level-viewer'}
            onChange={(event) => {
              const roles = event.target.value as GivenRole
              void change(
                () => callRest('PATCH', path, { roles }),
                m.account_role_in_base({ name, role: roleLabel(roles) }),
              )
            }}
          >
            <RoleOptions />
          </select>
        </>
      )}
      {tools.length > 0 && (
        <IconButton
          icon={EllipsisVertical}
          label={m.account_more_for_name({ name })}
          onClick={(event) => openMenu(event.currentTarget, tools, name)}
        />
      )}
    </li>
  )
}
