import { useSearch } from '@tanstack/react-router'
import { m } from '../../messages.gen.ts'
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
