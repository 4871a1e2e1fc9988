import { useParams, useSearch } from '@tanstack/react-router'
import { type FormEvent, useRef, useState } from 'react'
import { detailsOf, messageOf } from '../../errors.ts'
import { t } from '../../i18n.ts'
import { readContinuePath } from '../../navigation/continue-path.ts'
import { hrefOf, paths } from '../../navigation/paths.ts'
import { session } from '../../session/index.ts'
import { localSettings } from '../../session/local-settings.ts'
import { trpc } from '../../trpc.ts'
import { Alert } from '../../ui/alert.tsx'
import { Button } from '../../ui/button.tsx'
import { PasswordField, TextField } from '../../ui/field.tsx'
import formStyles from './auth-page.module.css'
import { AuthPage } from './auth-page.tsx'
import { checkEmail, checkNewPassword, MIN_PASSWORD } from './check-credentials.ts'

/** Sign-up, by invitation where the address has its token. The first user becomes the administrator. */
export function SignUpScreen() {
  const { token } = useParams({ from: '/signup/{-$token}' })
  const { continueAfterSignIn } = useSearch({ from: '/signup/{-$token}' })
  const wanted = readContinuePath(continueAfterSignIn)
  const info = trpc.app.info.useQuery()
  const invitation = trpc.auth.invitation.useQuery({ token: token ?? '' }, { enabled: token !== undefined })
  const invited = invitation.data?.email ?? null
  const isFirst = info.data?.firstUser ?? false
  const toSignIn = !isFirst && (
    <>
      {t('Already have an account?')} <a href={hrefOf(paths.signIn(wanted ?? undefined))}>{t('Sign in')}</a>
    </>
  )

  if (info.data && !info.data.signupAllowed && !token) {
    return (
      <AuthPage
        title={t('Sign-up is by invitation only')}
        text={t('Ask an administrator for an invitation link.')}
        below={toSignIn}
      />
    )
  }
  if (token && invitation.data && invited === null) {
    return (
      <AuthPage
        title={t('This invitation is no longer valid')}
        text={t('It was already used or withdrawn. Ask for a new invitation.')}
        below={toSignIn}
      />
    )
  }
  // The form begins with the invited address; where that cannot be read, the person types it.
  const isReady = !token || invitation.data !== undefined || invitation.error !== null
  return (
    <AuthPage
      title={isFirst ? t('Set up Sheaf') : t('Create your account')}
      text={
        invited !== null
          ? t('You’ve been invited as {email}.', { email: invited })
          : token
            ? t('You’ve been invited. Use the email address your invitation was sent to.')
            : undefined
      }
      below={toSignIn}
    >
      {isFirst && <Alert>{t('You’re the first user on this server, so you’ll be its administrator.')}</Alert>}
      {isReady && <SignUpForm inviteToken={token} invited={invited} continueTo={wanted} />}
    </AuthPage>
  )
}

interface SignUpFormProps {
  inviteToken?: string
  /** The address that the invitation is for: no other one can be used. */
  invited: string | null
  continueTo: string | null
}

function SignUpForm({ inviteToken, invited, continueTo }: SignUpFormProps) {
  const [email, setEmail] = useState(invited ?? '')
  const [password, setPassword] = useState('')
  const [wasSubmitted, setWasSubmitted] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  const utils = trpc.useUtils()
  const signUp = trpc.auth.signUp.useMutation({
    onSuccess(result) {
      const firstBaseId = 'firstBaseId' in result ? result.firstBaseId : undefined
      void utils.app.info.invalidate()
      // Straight to the sample base, unless a link brought the person here.
      if (!continueTo && firstBaseId) localSettings.set('continueAfterSignIn', paths.base(firstBaseId))
      session.signIn(result.token)
    },
  })

  const refused = refusedFields(signUp.error)
  const emailError = checkEmail(email) ?? refused.email ?? null
  const passwordError = checkNewPassword(password) ?? refused.password ?? null

  function submit(event: FormEvent) {
    event.preventDefault()
    setWasSubmitted(true)
    if (checkEmail(email) || checkNewPassword(password)) {
      form.current
        ?.querySelector<HTMLElement>(checkEmail(email) ? '[name=email]' : '[name=password]')
        ?.focus()
      return
    }
    signUp.mutate({ email: email.trim(), password, inviteToken })
  }

  return (
    <form ref={form} className={formStyles.form} onSubmit={submit} noValidate>
      {signUp.error && !refused.email && !refused.password && (
        <Alert tone="error">{messageOf(signUp.error)}</Alert>
      )}
      <TextField
        label={t('Email')}
        name="email"
        type="email"
        dir="ltr"
        autoComplete="username"
        autoFocus={invited === null}
        readOnly={invited !== null}
        value={email}
        onChange={(event) => {
          setEmail(event.target.value)
          signUp.reset()
        }}
        error={wasSubmitted ? emailError : null}
      />
      <PasswordField
        label={t('Password')}
        name="password"
        autoComplete="new-password"
        autoFocus={invited !== null}
        value={password}
        onChange={(event) => setPassword(event.target.value)}
        error={wasSubmitted ? passwordError : null}
        help={t('At least {n} characters', { n: MIN_PASSWORD })}
      />
      <Button type="submit" variant="primary" size="large" busy={signUp.isPending}>
        {t('Create account')}
      </Button>
    </form>
  )
}

/** What the server's input check says of single fields, by name. */
function refusedFields(error: unknown): Record<string, string> {
  const { issues } = detailsOf(error)
  if (!Array.isArray(issues)) return {}
  return Object.fromEntries(
    issues.map((issue: { path: string; message: string }) => [issue.path, issue.message]),
  )
}
