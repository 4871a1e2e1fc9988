import { type FormEvent, useState } from 'react'
import { messageOf } from '../../errors.ts'
import { t } from '../../i18n.ts'
import { hrefOf, paths } from '../../routes/paths.ts'
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
          {t('If there is an account with the address {email}, a mail with a link is on its way to it.', {
            email: email.trim(),
          })}
        </Alert>
        <p>{t('The link works once, for an hour. Look among your spam, too.')}</p>
      </>
    )
  }
  return (
    <form className={formStyles.form} onSubmit={submit} noValidate>
      <p>{t('Give your address, and a link by which you can choose a new password is sent to it.')}</p>
      {ask.error && <Alert tone="error">{messageOf(ask.error)}</Alert>}
      <TextField
        label={t('E-mail')}
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
        {t('Send the link')}
      </Button>
    </form>
  )
}

function NoMail() {
  return (
    <>
      <Alert>{t('No mail service is configured on this server, so it cannot send you a reset link.')}</Alert>
      <p>{t('Ask an administrator of this server to make a reset link for you and to send it to you.')}</p>
      <p>
        {t('If you are still signed in on another device, you can change it there under Account → Password.')}
      </p>
    </>
  )
}
