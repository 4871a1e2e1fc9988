import { type FormEvent, useRef, useState } from 'react'
import { detailsOf, messageOf } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import { readContinuePath } from '../../navigation/continue-path.ts'
import { hrefOf, paths } from '../../navigation/paths.ts'
import { useParams, useSearch } from '../../navigation/router.tsx'
import { session } from '../../session/index.ts'
import { localSettings } from '../../session/local-settings.ts'
import { trpc } from '../../trpc.ts'
import { Alert } from '../../ui/alert.tsx'
import { Button } from '../../ui/button.tsx'
import { PasswordField, TextField } from '../../ui/field.tsx'
import formStyles from './auth-page.module.css'
import { AuthPage } from './auth-page.tsx'
import { checkEmail, checkNewPassword, MIN_PASSWORD } from './check-credentials.ts'

/** Sign-up page; a token in the URL is an invitation. The first user becomes the administrator. */
export function SignUpScreen() {
  const { token } = useParams()
  const { continueAfterSignIn } = useSearch()
  const wanted = readContinuePath(continueAfterSignIn)
  const info = trpc.app.info.useQuery()
  const invitation = trpc.auth.invitation.useQuery({ token: token ?? '' }, { enabled: token !== undefined })
  const invited = invitation.data?.email ?? null
  const isFirst = info.data?.firstUser ?? false
  const toSignIn = !isFirst && (
    <>
      {m.auth_already_have_an_account()}{' '}
      <a href={hrefOf(paths.signIn(wanted ?? undefined))}>{m.auth_sign_in()}</a>
    </>
  )

  if (info.data && !info.data.signupAllowed && !token) {
    return (
      <AuthPage
        title={m.auth_sign_up_invitation_only()}
        text={m.auth_ask_administrator_invitation_link()}
        below={toSignIn}
      />
    )
  }
  if (token && invitation.data && invited === null) {
    return (
      <AuthPage
        title={m.auth_invitation_no_longer_valid()}
        text={m.auth_invitation_invalid_hint()}
        below={toSignIn}
      />
    )
  }
  // Wait for the invited address, the form's initial value; if it cannot be read, the user types it.
  const isReady = !token || invitation.data !== undefined || invitation.error !== null
  return (
    <AuthPage
      title={isFirst ? m.auth_set_up_sheaf() : m.auth_create_your_account()}
      text={
        invited !== null
          ? m.auth_youve_been_invited_as_email({ email: invited })
          : token
            ? m.auth_youve_been_invited_use_email()
            : undefined
      }
      below={toSignIn}
    >
      {isFirst && <Alert>{m.auth_first_user_is_administrator()}</Alert>}
      {isReady && <SignUpForm inviteToken={token} invited={invited} continueTo={wanted} />}
    </AuthPage>
  )
}

interface SignUpFormProps {
  inviteToken?: string
  /** Address of the invitation; no other address is accepted. */
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
      // Open the sample base unless a link led here.
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
        label={m.auth_email()}
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
        label={m.common_password()}
        name="password"
        autoComplete="new-password"
        autoFocus={invited !== null}
        value={password}
        onChange={(event) => setPassword(event.target.value)}
        error={wasSubmitted ? passwordError : null}
        help={m.auth_at_least_characters({ count: MIN_PASSWORD })}
      />
      <Button type="submit" variant="primary" size="large" busy={signUp.isPending}>
        {m.auth_create_account()}
      </Button>
    </form>
  )
}

/** The server's validation errors by field name. */
function refusedFields(error: unknown): Record<string, string> {
  const { issues } = detailsOf(error)
  if (!Array.isArray(issues)) return {}
  return Object.fromEntries(
    issues.map((issue: { path: string; message: string }) => [issue.path, issue.message]),
  )
}
