import { m } from '../../../messages.gen.ts'
import { useRenderAgain } from '../../../navigation/dom-conflicts.ts'
import { lazyPart } from '../../../navigation/lazy-screen.ts'
import { createRouter, Outlet } from '../../../navigation/router.tsx'
import { ConnectingState, isServerAway } from '../../../ui/connecting-state.tsx'
import { MenuHost } from '../../../ui/menu.tsx'
import { DialogHost } from '../../../ui/open-dialog.tsx'
import { ErrorState } from '../../../ui/states.tsx'
import { ToastHost } from '../../../ui/toast-host.tsx'
import { TooltipHost } from '../../../ui/tooltip.tsx'
import { ClosedPage } from './share-pages.tsx'

const SharedView = lazyPart(() => import('./shared-view-screen.tsx'), 'SharedViewScreen')

/** Routes of the public page, separate from those of the app. */
export const shareRouter = createRouter({
  routes: [
    // URLs name the kind of a view (spec §2), but the server decides it.
    ...['view', 'grid', 'gallery', 'kanban', 'map', 'calendar'].map((kind) => ({
      path: `/:typeOrId/${kind}/:linkId`,
      screen: SharedView,
    })),
    {
      path: '/:typeOrId/base/:linkId/:tableId?/:viewId?',
      screen: lazyPart(() => import('./shared-base-screen.tsx'), 'SharedBaseScreen'),
    },
    {
      path: '/ERD/shared/:linkId',
      screen: lazyPart(() => import('./shared-diagram-screen.tsx'), 'SharedDiagramScreen'),
    },
  ],
  frame: ShareFrame,
  notFound: ClosedPage,
  failed: FailedScreen,
  pending: () => null,
})

/** Errors caused by foreign DOM changes, such as those of a translator, render again instead (spec §2). */
function FailedScreen({ error, retry }: { error: unknown; retry: () => void }) {
  if (useRenderAgain(error, retry)) return null
  if (isServerAway(error)) return <ConnectingState error={error} onContinue={retry} />
  return <ErrorState headingLevel={1} title={m.routes_something_went_wrong()} error={error} onRetry={retry} />
}

/** The screen of a link with its dialogs, menus and messages. */
function ShareFrame() {
  return (
    <>
      <Outlet />
      <DialogHost />
      <MenuHost />
      <ToastHost />
      <TooltipHost />
    </>
  )
}
