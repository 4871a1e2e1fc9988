import { type FormEvent, useState } from 'react'
import { messageOf } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import { hrefOf, paths } from '../../navigation/paths.ts'
import { trpc } from '../../trpc.ts'
import { Alert } from '../../ui/alert.tsx'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import formStyles from './auth-page.module.css'
import { AuthPage } from './auth-page.tsx'
import { checkEmail } from './check-credentials.ts'

/** Asks for a reset link, or says honestly that this server sends no mail, and what to do instead. */
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
          {m.auth_account_exists_email_weve_sent({
            email: email.trim(),
          })}
        </Alert>
        <p>{m.auth_link_expires_after_one_hour()}</p>
      </>
    )
  }
  return (
    <form className={formStyles.form} onSubmit={submit} noValidate>
      <p>{m.auth_enter_email_address_well_send()}</p>
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
      <Alert>{m.auth_server_cant_send_email_cant()}</Alert>
      <p>{m.auth_ask_administrator_reset_link()}</p>
      <p>{m.auth_change_password_elsewhere_hint()}</p>
    </>
  )
}
