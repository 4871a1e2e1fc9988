import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import * as z from 'zod/mini'
import { messageOf } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import { goTo, hrefOf, paths } from '../../navigation/paths.ts'
import { useParams } from '../../navigation/router.tsx'
import { callRest } from '../../rest.ts'
import { trpc } from '../../trpc.ts'
import { Alert } from '../../ui/alert.tsx'
import { Button } from '../../ui/button.tsx'
import { PasswordField, TextField } from '../../ui/field.tsx'
import { toast } from '../../ui/toast.ts'
import formStyles from './auth-page.module.css'
import { AuthPage } from './auth-page.tsx'
import { checkEmail, checkNewPassword, MIN_PASSWORD } from './check-credentials.ts'
import { KeptTokens } from './kept-tokens.tsx'

/** Requests a reset link. A server without mail explains how to get one from an administrator. */
export function ForgotPasswordScreen() {
  const info = trpc.app.info.useQuery()
  return (
    <AuthPage
      title={m.auth_forgot_your_password()}
      below={<a href={hrefOf(paths.signIn())}>{m.auth_back_to_sign_in()}</a>}
    >
      {info.error && <Alert tone="error">{messageOf(info.error)}</Alert>}
      {info.data && (info.data.sendsMail ? <AskForLink /> : <NoMail />)}
    </AuthPage>
  )
}

function AskForLink() {
  const [email, setEmail] = useState('')
  const [wasSubmitted, setWasSubmitted] = useState(false)
  const ask = trpc.auth.forgotPassword.useMutation()
  const problem = checkEmail(email)

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    setWasSubmitted(true)
    if (problem) event.currentTarget.querySelector<HTMLElement>('[name=email]')?.focus()
    else ask.mutate({ email: email.trim() })
  }

  if (ask.isSuccess) {
    return (
      <>
        <Alert>
          {m.auth_reset_link_sent({
            email: email.trim(),
          })}
        </Alert>
        <p>{m.auth_link_expires_after_one_hour()}</p>
      </>
    )
  }
  return (
    <form className={formStyles.form} onSubmit={submit} noValidate>
      <p>{m.auth_reset_link_hint()}</p>
      {ask.error && <Alert tone="error">{messageOf(ask.error)}</Alert>}
      <TextField
        label={m.auth_email()}
        name="email"
        type="email"
        dir="ltr"
        autoComplete="username"
        autoFocus
        value={email}
        onChange={(event) => setEmail(event.target.value)}
        error={wasSubmitted ? problem : null}
      />
      <Button type="submit" variant="primary" size="large" busy={ask.isPending}>
        {m.auth_send_reset_link()}
      </Button>
    </form>
  )
}

function NoMail() {
  return (
    <>
      <Alert>{m.auth_no_mail_hint()}</Alert>
      <p>{m.auth_ask_administrator_reset_link()}</p>
      <p>{m.auth_change_password_elsewhere_hint()}</p>
    </>
  )
}

const Link = z.object({
  api_tokens: z._default(z.array(z.object({ description: z.nullable(z.string()), token: z.string() })), []),
})

/** Sets a new password by a reset link, which works once and for an hour. */
export function ResetPasswordScreen() {
  const { id = '' } = useParams()
  const [password, setPassword] = useState('')
  const [wasSubmitted, setWasSubmitted] = useState(false)
  const [revokes, setRevokes] = useState(false)
  const path = encodeURIComponent(id)
  const link = useQuery({
    queryKey: ['reset', id],
    queryFn: async () => Link.parse(await callRest('POST', `/api/v1/auth/token/validate/${path}`)),
    retry: false,
  })
  const reset = useMutation({
    mutationFn: () =>
      callRest('POST', `/api/v1/auth/password/reset/${path}`, { password, revoke_tokens: revokes }),
    onSuccess() {
      toast.success({ text: m.auth_password_changed_sign_new_password() })
      goTo(paths.signIn(), { replace: true })
    },
  })
  const problem = checkNewPassword(password)

  function submit(event: FormEvent) {
    event.preventDefault()
    setWasSubmitted(true)
    if (!problem) reset.mutate()
  }

  return (
    <AuthPage
      title={m.auth_reset_your_password()}
      below={<a href={hrefOf(paths.signIn())}>{m.auth_back_to_sign_in()}</a>}
    >
      <form className={formStyles.form} onSubmit={submit} noValidate>
        {reset.error && <Alert tone="error">{messageOf(reset.error)}</Alert>}
        {!reset.error && link.error && <Alert tone="error">{messageOf(link.error)}</Alert>}
        <PasswordField
          label={m.common_new_password()}
          name="new-password"
          autoComplete="new-password"
          autoFocus
          value={password}
          onChange={(event) => setPassword(event.target.value)}
          error={wasSubmitted ? problem : null}
          help={m.auth_at_least_characters({ count: MIN_PASSWORD })}
        />
        <KeptTokens tokens={link.data?.api_tokens ?? []} revokes={revokes} onChange={setRevokes} />
        <Button type="submit" variant="primary" size="large" busy={reset.isPending}>
          {m.auth_set_password()}
        </Button>
      </form>
    </AuthPage>
  )
}
