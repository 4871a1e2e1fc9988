import { type FormEvent, useState } from 'react'
import { messageOf } from '../../errors.ts'
import { t } from '../../i18n.ts'
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
      title={t('Forgot your password?')}
      below={<a href={hrefOf(paths.signIn())}>{t('Back to sign-in')}</a>}
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
          {t('If an account exists for {email}, we’ve sent a reset link to it.', {
            email: email.trim(),
          })}
        </Alert>
        <p>{t('The link expires after one hour. Check your spam folder if it doesn’t arrive.')}</p>
      </>
    )
  }
  return (
    <form className={formStyles.form} onSubmit={submit} noValidate>
      <p>{t('Enter your email address and we’ll send you a link to reset your password.')}</p>
      {ask.error && <Alert tone="error">{messageOf(ask.error)}</Alert>}
      <TextField
        label={t('Email')}
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
        {t('Send reset link')}
      </Button>
    </form>
  )
}

function NoMail() {
  return (
    <>
      <Alert>{t('This server can’t send email, so it can’t send you a reset link.')}</Alert>
      <p>{t('Ask an administrator for a reset link.')}</p>
      <p>
        {t(
          'If you’re still signed in on another device, you can change your password there under Account → Password.',
        )}
      </p>
    </>
  )
}
