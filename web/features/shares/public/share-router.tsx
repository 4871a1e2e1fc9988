import { createRootRoute, createRoute, createRouter, Outlet } from '@tanstack/react-router'
import { lazyScreen } from '../../../navigation/lazy-route.ts'
import { appHistory, PLAIN_QUERY } from '../../../navigation/paths.ts'
import { MenuHost } from '../../../ui/menu.tsx'
import { DialogHost } from '../../../ui/open-dialog.tsx'
import { ToastHost } from '../../../ui/toast-host.tsx'
import { TooltipHost } from '../../../ui/tooltip.tsx'
import { ClosedPage } from './share-pages.tsx'

const rootRoute = createRootRoute({ component: ShareFrame, notFoundComponent: ClosedPage })

const readRow = (search: Record<string, unknown>): { rowId?: string } =>
  search.rowId === undefined ? {} : { rowId: String(search.rowId) }

/** Shared views of all kinds: URLs name the kind (spec §2), but the server decides it. */
const viewRoutes = (['view', 'grid', 'gallery', 'kanban', 'map', 'calendar'] as const).map((kind) =>
  createRoute({
    getParentRoute: () => rootRoute,
    path: `/$typeOrId/${kind}/$linkId`,
    validateSearch: readRow,
    component: lazyScreen(() => import('./shared-view-screen.tsx'), 'SharedViewScreen'),
  }),
)

const baseRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/$typeOrId/base/$linkId/{-$tableId}/{-$viewId}',
  validateSearch: readRow,
  component: lazyScreen(() => import('./shared-base-screen.tsx'), 'SharedBaseScreen'),
})

const diagramRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/ERD/shared/$linkId',
  component: lazyScreen(() => import('./shared-diagram-screen.tsx'), 'SharedDiagramScreen'),
})

/** Routes of the public page, separate from those of the app. */
export const shareRouter = createRouter({
  routeTree: rootRoute.addChildren([...viewRoutes, baseRoute, diagramRoute]),
  history: appHistory,
  ...PLAIN_QUERY,
  defaultPendingMs: 300,
  defaultPendingMinMs: 0,
  defaultNotFoundComponent: ClosedPage,
})

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
