import { m } from '../../messages.gen.ts'
import { leave } from '../../navigation/leave.ts'
import { session } from '../../session/index.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/overlays.ts'
import { SignInForm } from './sign-in-form.tsx'

/** Over the page whose session ended: signing in goes on exactly where one was. */
export function SignedOutDialog() {
  return (
    <Dialog title={m.auth_youve_been_signed_out()} size="confirm" closable={false} onClose={leave}>
      <p style={{ marginBlockEnd: 16 }}>{m.auth_sign_again_continue_nothing_page()}</p>
      <SignInForm initialEmail={session.email()} />
      <p style={{ marginBlockStart: 8, textAlign: 'center' }}>
        <Button variant="ghost" onClick={leave}>
          {m.auth_leave_page()}
        </Button>
      </p>
    </Dialog>
  )
}
