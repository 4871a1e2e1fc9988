import { t } from '../../i18n.ts'
import { hrefOf, paths } from '../../routes/paths.ts'
import { Alert } from '../../ui/alert.tsx'
import { AuthPage } from './auth-page.tsx'

/** Says honestly that this server sends no mail, and what to do instead. */
export function ForgotPasswordScreen() {
  return (
    <AuthPage
      title={t('Forgot your password?')}
      below={<a href={hrefOf(paths.signIn())}>{t('Back to sign-in')}</a>}
    >
      <Alert>{t('No mail service is configured on this server, so it cannot send you a reset link.')}</Alert>
      <p>{t('Ask an administrator of this server to make a reset link for you and to send it to you.')}</p>
      <p>
        {t('If you are still signed in on another device, you can change it there under Account → Password.')}
      </p>
    </AuthPage>
  )
}
