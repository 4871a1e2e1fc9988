import { type FormEvent, useState } from 'react'
import { useStore } from 'zustand'
import type { User } from '../../../src/core/model.ts'
import { messageOf } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import { session } from '../../session/index.ts'
import { useMe } from '../../session/use-me.ts'
import { trpc } from '../../trpc.ts'
import { Alert } from '../../ui/alert.tsx'
import { Avatar } from '../../ui/avatar.tsx'
import { Button } from '../../ui/button.tsx'
import { PasswordField, TextField } from '../../ui/field.tsx'
import { QueryError, Skeleton } from '../../ui/states.tsx'
import { Switch } from '../../ui/switch.tsx'
import { toast } from '../../ui/toast.ts'
import { checkNewPassword, MIN_PASSWORD } from '../auth/check-credentials.ts'
import { KeptTokens } from '../auth/kept-tokens.tsx'
import { hiddenUser, setHiddenUser } from '../presence/presence-state.ts'
import styles from './account.module.css'
import { useApiTokens } from './tokens-page.tsx'

/** Display name, and the e-mail address to sign in with. */
export function ProfilePage() {
  const me = trpc.auth.me.useQuery()
  if (me.error && !me.data) {
    return <QueryError title={m.account_profile_load_failed()} query={me} />
  }
  if (!me.data?.user) {
    return (
      <div className={styles.form} aria-busy="true">
        <Skeleton width={56} height={56} round />
        <Skeleton height={36} />
        <Skeleton height={36} />
      </div>
    )
  }
  return <ProfileForm key={me.data.user.id} user={me.data.user} />
}

function ProfileForm({ user }: { user: User }) {
  const [displayName, setDisplayName] = useState(user.displayName ?? '')
  const isHidden = useStore(hiddenUser) === user.id
  const utils = trpc.useUtils()
  const update = trpc.auth.updateProfile.useMutation({
    onSuccess() {
      void utils.auth.me.invalidate()
      toast.success({ text: m.account_profile_saved() })
    },
  })
  const isChanged = displayName.trim() !== (user.displayName ?? '')
  return (
    <form
      className={styles.form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        if (isChanged && !update.isPending) update.mutate({ displayName: displayName.trim() || null })
      }}
    >
      <Avatar person={{ ...user, displayName: displayName.trim() || null }} size={56} />
      <TextField
        label={m.account_display_name()}
        name="displayName"
        autoComplete="name"
        maxLength={255}
        value={displayName}
        onChange={(event) => setDisplayName(event.target.value)}
        error={update.error && messageOf(update.error)}
        help={m.account_shown_next_to_your_changes()}
      />
      <TextField
        label={m.account_email()}
        value={user.email}
        dir="ltr"
        readOnly
        help={m.account_email_hint()}
      />
      <Button type="submit" variant="primary" busy={update.isPending} disabled={!isChanged}>
        {m.common_save()}
      </Button>
      <Switch
        label={m.account_appear_offline()}
        hint={m.account_appear_offline_hint()}
        checked={isHidden}
        onChange={(hides) => setHiddenUser(hides ? user.id : null)}
      />
    </form>
  )
}

/** Changes the password, which ends all other sessions of the account. */
export function PasswordPage() {
  const { user } = useMe()
  const [current, setCurrent] = useState('')
  const [next, setNext] = useState('')
  const [wasSubmitted, setWasSubmitted] = useState(false)
  const [revokes, setRevokes] = useState(false)
  const tokens = useApiTokens()
  const change = trpc.auth.changePassword.useMutation({
    onSuccess({ token }) {
      session.signIn(token)
      setCurrent('')
      setNext('')
      setWasSubmitted(false)
      setRevokes(false)
      void tokens.refetch()
      toast.success({ text: m.account_password_changed_other_devices_signed() })
    },
  })
  const currentError = current === '' ? m.account_enter_your_current_password() : null
  const nextError =
    checkNewPassword(next) ?? (next === current ? m.account_choose_a_different_password() : null)

  function submit(event: FormEvent) {
    event.preventDefault()
    setWasSubmitted(true)
    if (!currentError && !nextError)
      change.mutate({ currentPassword: current, newPassword: next, revokesTokens: revokes })
  }

  return (
    <form className={styles.form} onSubmit={submit} noValidate>
      {change.error && <Alert tone="error">{messageOf(change.error)}</Alert>}
      {/* Tells password managers which account the password belongs to. */}
      <input type="hidden" name="username" autoComplete="username" value={user?.email ?? ''} readOnly />
      <PasswordField
        label={m.account_current_password()}
        name="current-password"
        autoComplete="current-password"
        value={current}
        onChange={(event) => {
          setCurrent(event.target.value)
          change.reset()
        }}
        error={wasSubmitted ? currentError : null}
      />
      <PasswordField
        label={m.common_new_password()}
        name="new-password"
        autoComplete="new-password"
        value={next}
        onChange={(event) => setNext(event.target.value)}
        error={wasSubmitted ? nextError : null}
        help={m.account_new_password_hint({ count: MIN_PASSWORD })}
      />
      <KeptTokens tokens={tokens.data ?? []} revokes={revokes} onChange={setRevokes} />
      <Button type="submit" variant="primary" busy={change.isPending}>
        {m.common_change_password()}
      </Button>
    </form>
  )
}
