import { appCodeOf } from '../errors.ts'
import { NotFoundScreen } from '../features/layout/not-found-screen.tsx'
import { m } from '../messages.gen.ts'
import { useRenderAgain } from '../navigation/dom-conflicts.ts'
import { lazyPart } from '../navigation/lazy-screen.ts'
import { goTo, paths } from '../navigation/paths.ts'
import { Outlet } from '../navigation/router.tsx'
import { useSessionStatus } from '../session/index.ts'
import { Button } from '../ui/button.tsx'
import { ConnectingState, isServerAway } from '../ui/connecting-state.tsx'
import { Main } from '../ui/main.tsx'
import { MenuHost } from '../ui/menu.tsx'
import { DialogHost } from '../ui/open-dialog.tsx'
import { ErrorState, Skeleton } from '../ui/states.tsx'
import { ToastHost } from '../ui/toast-host.tsx'
import { TooltipHost } from '../ui/tooltip.tsx'
import styles from './root.module.css'

const SignedOutDialog = lazyPart(() => import('../features/auth/sign-in.tsx'), 'SignedOutDialog')

/** Frame of all screens, with the global overlays. */
export function RootScreen() {
  const status = useSessionStatus()
  return (
    <>
      <Outlet />
      <DialogHost />
      {status === 'expired' && <SignedOutDialog />}
      <MenuHost />
      <ToastHost />
      <TooltipHost />
    </>
  )
}

/**
 * Error page of a screen that failed to load or render: 500, or 404 if the server says NOT_FOUND (spec §2). Errors
 * caused by foreign DOM changes render again instead, and without an answer of the server the page waits for it.
 */
export function RouteErrorScreen({ error, retry }: { error: unknown; retry: () => void }) {
  if (useRenderAgain(error, retry)) return <PendingScreen />
  if (appCodeOf(error)?.endsWith('NOT_FOUND')) return <NotFoundScreen />
  return (
    <Main className={styles.centre}>
      {isServerAway(error) ? (
        <ConnectingState error={error} onContinue={retry} />
      ) : (
        <ErrorState headingLevel={1} title={m.routes_something_went_wrong()} error={error} onRetry={retry}>
          <Button onClick={() => goTo(paths.bases())}>{m.common_go_to_your_bases()}</Button>
        </ErrorState>
      )}
    </Main>
  )
}

/** Shown while the first screen loads: the app's frame without content. */
export function PendingScreen() {
  return (
    <div className={styles.pending} aria-busy="true">
      <div className={styles.pendingRail} />
      <div className={styles.pendingMain}>
        <Skeleton width={220} height={22} />
        <Skeleton width={360} />
        <Skeleton width={300} />
      </div>
    </div>
  )
}
