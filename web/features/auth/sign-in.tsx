import { type FormEvent, useRef, useState } from 'react'
import { messageOf } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import { readContinuePath } from '../../navigation/continue-path.ts'
import { leave } from '../../navigation/leave.ts'
import { hrefOf, paths } from '../../navigation/paths.ts'
import { useSearch } from '../../navigation/router.tsx'
import { session } from '../../session/index.ts'
import { trpc } from '../../trpc.ts'
import { Alert } from '../../ui/alert.tsx'
import { Button } from '../../ui/button.tsx'
import { PasswordField, TextField } from '../../ui/field.tsx'
import { Dialog } from '../../ui/overlays.ts'
import { useTypingPause } from '../../ui/use-typing-pause.ts'
import styles from './auth-page.module.css'
import { AuthPage } from './auth-page.tsx'
import { checkEmail } from './check-credentials.ts'

/** Sign-in page; the route guard redirects once the session exists. */
export function SignInScreen() {
  const { continueAfterSignIn } = useSearch()
  const info = trpc.app.info.useQuery()
  const signUp = paths.signUp(readContinuePath(continueAfterSignIn) ?? undefined)
  return (
    <AuthPage
      title={m.auth_sign_in()}
      text={m.auth_welcome_back()}
      below={
        info.data?.signupAllowed && (
          <>
            {m.auth_dont_have_an_account()} <a href={hrefOf(signUp)}>{m.auth_sign_up()}</a>
          </>
        )
      }
    >
      <SignInForm forgotHref={hrefOf(paths.forgotPassword())} />
    </AuthPage>
  )
}

/** Sign-in dialog over the page whose session expired; signing in keeps the page's state. */
export function SignedOutDialog() {
  // Its password field takes the focus.
  const isPause = useTypingPause()
  if (!isPause) return null
  return (
    <Dialog title={m.auth_youve_been_signed_out()} size="confirm" closable={false} onClose={leave}>
      <p style={{ marginBlockEnd: 16 }}>{m.auth_signed_out_hint()}</p>
      <SignInForm initialEmail={session.email()} />
      <p style={{ marginBlockStart: 8, textAlign: 'center' }}>
        <Button variant="ghost" onClick={leave}>
          {m.auth_leave_page()}
        </Button>
      </p>
    </Dialog>
  )
}

/** E-mail and password form that signs the session in; the page decides where to go next. */
function SignInForm({ initialEmail = '', forgotHref }: { initialEmail?: string; forgotHref?: string }) {
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
