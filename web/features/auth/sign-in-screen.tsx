import { useSearch } from '@tanstack/react-router'
import { t } from '../../i18n.ts'
import { readContinuePath } from '../../navigation/continue-path.ts'
import { hrefOf, paths } from '../../navigation/paths.ts'
import { trpc } from '../../trpc.ts'
import { AuthPage } from './auth-page.tsx'
import { SignInForm } from './sign-in-form.tsx'

/** Sign-in. The route leads on once the session is there. */
export function SignInScreen() {
  const { continueAfterSignIn } = useSearch({ from: '/signin' })
  const info = trpc.app.info.useQuery()
  const signUp = paths.signUp(readContinuePath(continueAfterSignIn) ?? undefined)
  return (
    <AuthPage
      title={t('Sign in')}
      text={t('Welcome back.')}
      below={
        info.data?.signupAllowed && (
          <>
            {t('Don’t have an account?')} <a href={hrefOf(signUp)}>{t('Sign up')}</a>
          </>
        )
      }
    >
      <SignInForm forgotHref={hrefOf(paths.forgotPassword())} />
    </AuthPage>
  )
}
