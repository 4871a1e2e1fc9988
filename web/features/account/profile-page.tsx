import { useState } from 'react'
import type { User } from '../../../src/core/model.ts'
import { messageOf } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import { trpc } from '../../trpc.ts'
import { Avatar } from '../../ui/avatar.tsx'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { ErrorState, Skeleton } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.ts'
import styles from './account.module.css'

/** The name that others see, and the address one signs in with. */
export function ProfilePage() {
  const me = trpc.auth.me.useQuery()
  if (me.error && !me.data) {
    return (
      <ErrorState
        title={m.account_profile_load_failed()}
        error={me.error}
        onRetry={() => void me.refetch()}
      />
    )
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
    </form>
  )
}
