import { messageOf } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import { hrefOf, paths } from '../../navigation/paths.ts'
import { useParams } from '../../navigation/router.tsx'
import { trpc } from '../../trpc.ts'
import { Alert } from '../../ui/alert.tsx'
import { Button } from '../../ui/button.tsx'
import { AuthPage } from '../auth/auth-page.tsx'

/** The page of the link in a mail that ends such mails, without a session. */
export function UnsubscribeScreen() {
  const { token = '' } = useParams()
  const unsubscribe = trpc.notifications.unsubscribe.useMutation()
  return (
    <AuthPage
      title={m.notifications_unsubscribe_title()}
      below={<a href={hrefOf(paths.notifications())}>{m.notifications_settings()}</a>}
    >
      {unsubscribe.error && <Alert tone="error">{messageOf(unsubscribe.error)}</Alert>}
      {unsubscribe.isSuccess ? (
        <Alert>{m.notifications_unsubscribed()}</Alert>
      ) : (
        <>
          <p>{m.notifications_unsubscribe_text()}</p>
          <Button
            variant="primary"
            size="large"
            busy={unsubscribe.isPending}
            onClick={() => unsubscribe.mutate({ token })}
          >
            {m.notifications_unsubscribe()}
          </Button>
        </>
      )}
    </AuthPage>
  )
}
