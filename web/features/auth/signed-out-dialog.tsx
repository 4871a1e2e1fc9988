import { t } from '../../i18n.ts'
import { leave } from '../../navigation/leave.ts'
import { session } from '../../session/index.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/overlays.ts'
import { SignInForm } from './sign-in-form.tsx'

/** Over the page whose session ended: signing in goes on exactly where one was. */
export function SignedOutDialog() {
  return (
    <Dialog title={t('You’ve been signed out')} size="confirm" closable={false} onClose={leave}>
      <p style={{ marginBlockEnd: 16 }}>{t('Sign in again to continue. Nothing on this page is lost.')}</p>
      <SignInForm initialEmail={session.email()} />
      <p style={{ marginBlockStart: 8, textAlign: 'center' }}>
        <Button variant="ghost" onClick={leave}>
          {t('Leave page')}
        </Button>
      </p>
    </Dialog>
  )
}
