import { type FormEvent, useRef, useState } from 'react'
import { messageOf } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import { session } from '../../session/index.ts'
import { trpc } from '../../trpc.ts'
import { Alert } from '../../ui/alert.tsx'
import { Button } from '../../ui/button.tsx'
import { PasswordField, TextField } from '../../ui/field.tsx'
import styles from './auth-page.module.css'
import { checkEmail } from './check-credentials.ts'

/** E-mail and password. After success the session is signed in; what follows that is up to the page. */
export function SignInForm({
  initialEmail = '',
  forgotHref,
}: {
  initialEmail?: string
  forgotHref?: string
}) {
  const [email, setEmail] = useState(initialEmail)
  const [password, setPassword] = useState('')
  const [wasSubmitted, setWasSubmitted] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  const signIn = trpc.auth.signIn.useMutation({ onSuccess: ({ token }) => session.signIn(token) })

  const emailError = checkEmail(email)
  const passwordError = password === '' ? m.auth_enter_your_password() : null

  function submit(event: FormEvent) {
    event.preventDefault()
    setWasSubmitted(true)
    if (emailError || passwordError) {
      form.current?.querySelector<HTMLElement>(emailError ? '[name=email]' : '[name=password]')?.focus()
      return
    }
    signIn.mutate({ email: email.trim(), password })
  }

  return (
    <form ref={form} className={styles.form} onSubmit={submit} noValidate>
      {signIn.error && <Alert tone="error">{messageOf(signIn.error)}</Alert>}
      <TextField
        label={m.auth_email()}
        name="email"
        type="email"
        dir="ltr"
        autoComplete="username"
        autoFocus={initialEmail === ''}
        value={email}
        onChange={(event) => setEmail(event.target.value)}
        error={wasSubmitted ? emailError : null}
      />
      <PasswordField
        label={m.common_password()}
        name="password"
        autoComplete="current-password"
        autoFocus={initialEmail !== ''}
        value={password}
        onChange={(event) => setPassword(event.target.value)}
        error={wasSubmitted ? passwordError : null}
      />
      {forgotHref && (
        <a className={styles.forgot} href={forgotHref}>
          {m.auth_forgot_your_password()}
        </a>
      )}
      <Button type="submit" variant="primary" size="large" busy={signIn.isPending}>
        {m.auth_sign_in()}
      </Button>
    </form>
  )
}
