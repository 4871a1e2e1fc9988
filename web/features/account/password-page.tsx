import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { z } from 'zod'
import { messageOf } from '../../errors.ts'
import { t } from '../../i18n.ts'
import { callRest } from '../../rest.ts'
import { session } from '../../session/index.ts'
import { useMe } from '../../session/use-me.ts'
import { trpc } from '../../trpc.ts'
import { Alert } from '../../ui/alert.tsx'
import { Button } from '../../ui/button.tsx'
import { PasswordField } from '../../ui/field.tsx'
import { toast } from '../../ui/toast.ts'
import { checkNewPassword, MIN_PASSWORD } from '../auth/check-credentials.ts'
import { KeptTokens } from '../auth/kept-tokens.tsx'
import styles from './account.module.css'

const TokenList = z.object({
  list: z.array(z.looseObject({ description: z.string().nullable(), token: z.string() })),
})

/** Changes the password. Every other session of the account ends by it. */
export function PasswordPage() {
  const { user } = useMe()
  const [current, setCurrent] = useState('')
  const [next, setNext] = useState('')
  const [wasSubmitted, setWasSubmitted] = useState(false)
  const [revokes, setRevokes] = useState(false)
  const queries = useQueryClient()
  const tokens = useQuery({
    queryKey: ['rest', '/api/v1/tokens'],
    queryFn: async () => TokenList.parse(await callRest('GET', '/api/v1/tokens')).list,
  })
  const change = trpc.auth.changePassword.useMutation({
    onSuccess({ token }) {
      session.signIn(token)
      setCurrent('')
      setNext('')
      setWasSubmitted(false)
      setRevokes(false)
      void queries.invalidateQueries({ queryKey: ['rest', '/api/v1/tokens'] })
      toast.success({ text: t('Password changed. Your other devices were signed out.') })
    },
  })
  const currentError = current === '' ? t('Enter your current password') : null
  const nextError = checkNewPassword(next) ?? (next === current ? t('Choose a different password') : null)

  function submit(event: FormEvent) {
    event.preventDefault()
    setWasSubmitted(true)
    if (!currentError && !nextError)
      change.mutate({ currentPassword: current, newPassword: next, revokesTokens: revokes })
  }

  return (
    <form className={styles.form} onSubmit={submit} noValidate>
      {change.error && <Alert tone="error">{messageOf(change.error)}</Alert>}
      {/* Password managers need to know whose password it is. */}
      <input type="hidden" name="username" autoComplete="username" value={user?.email ?? ''} readOnly />
      <PasswordField
        label={t('Current password')}
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
        label={t('New password')}
        name="new-password"
        autoComplete="new-password"
        value={next}
        onChange={(event) => setNext(event.target.value)}
        error={wasSubmitted ? nextError : null}
        help={t('At least {n} characters. Your other devices will be signed out.', { n: MIN_PASSWORD })}
      />
      <KeptTokens tokens={tokens.data ?? []} revokes={revokes} onChange={setRevokes} />
      <Button type="submit" variant="primary" busy={change.isPending}>
        {t('Change password')}
      </Button>
    </form>
  )
}
