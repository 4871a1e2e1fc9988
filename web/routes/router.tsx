import { createRootRoute, createRoute, createRouter, notFound, redirect } from '@tanstack/react-router'
import { NotFoundScreen } from '../features/layout/not-found-screen.tsx'
import { lazyScreen } from '../navigation/lazy-route.ts'
import { appHistory, PLAIN_QUERY, paths } from '../navigation/paths.ts'
import { SHARED_PAGE } from '../session/visitor.ts'
import { cache } from '../trpc.ts'
import { requireSignedOut, requireSignIn } from './guards.ts'
import { PendingScreen, RootScreen, RouteErrorScreen } from './root.tsx'

const rootRoute = createRootRoute({
  component: RootScreen,
  notFoundComponent: NotFoundScreen,
  errorComponent: RouteErrorScreen,
})

/** `continueAfterSignIn` from the address, unchecked; `readContinuePath` validates it. */
const readSignInSearch = (search: Record<string, unknown>): { continueAfterSignIn?: string } =>
  typeof search.continueAfterSignIn === 'string' ? { continueAfterSignIn: search.continueAfterSignIn } : {}

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/signin',
  validateSearch: readSignInSearch,
  beforeLoad: requireSignedOut,
  component: lazyScreen(() => import('../features/auth/sign-in.tsx'), 'SignInScreen'),
})

const signUpRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/signup/{-$token}',
  validateSearch: readSignInSearch,
  beforeLoad: requireSignedOut,
  component: lazyScreen(() => import('../features/auth/sign-up-screen.tsx'), 'SignUpScreen'),
})

const forgotPasswordRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/forgot-password',
  beforeLoad: requireSignedOut,
  component: lazyScreen(() => import('../features/auth/password-reset-screens.tsx'), 'ForgotPasswordScreen'),
})

const resetPasswordRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/reset/$id',
  component: lazyScreen(() => import('../features/auth/password-reset-screens.tsx'), 'ResetPasswordScreen'),
})

const error404Route = createRoute({
  getParentRoute: () => rootRoute,
  path: '/error/404',
  component: NotFoundScreen,
})

/** Handles form URLs entered while the app is open; `to-form.js` handles initial ones. */
const publicFormRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/$typeOrId/form/$linkId/{-$survey}',
  async beforeLoad({ location: { href } }): Promise<void> {
    location.assign(`/form#${href}`)
    // The page is unloading; renders nothing.
    await new Promise(() => {})
  },
})

/** The same for everything else that is shared: the page of links knows no session. */
const sharedRoutes = (
  [
    ...(['view', 'grid', 'gallery', 'kanban', 'map', 'calendar'] as const).map(
      (kind) => `/$typeOrId/${kind}/$linkId` as const,
    ),
    '/$typeOrId/base/$linkId/{-$tableId}/{-$viewId}',
    '/ERD/shared/$linkId',
  ] as const
).map((path) =>
  createRoute({
    getParentRoute: () => rootRoute,
    path,
    async beforeLoad({ location: { href } }): Promise<void> {
      location.assign(`${SHARED_PAGE}#${href}`)
      await new Promise(() => {})
    },
  }),
)

const copySharedBaseRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/copy-shared-base',
  validateSearch: (search: Record<string, unknown>): { base?: string } =>
    typeof search.base === 'string' ? { base: search.base } : {},
  beforeLoad: requireSignIn,
  component: lazyScreen(
    () => import('../features/copies/copy-shared-base-screen.tsx'),
    'CopySharedBaseScreen',
  ),
})

const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  beforeLoad: requireSignIn,
  component: lazyScreen(() => import('./base-screens.ts'), 'Shell'),
})

const loadBaseList = lazyScreen(() => import('../features/bases/base-list-screen.tsx'), 'BaseListScreen')

const baseListRoutes = (['/', '/projects', '/projects/list', '/$typeOrId'] as const).map((path) =>
  createRoute({
    getParentRoute: () => shellRoute,
    path,
    // The workspace is `nc` or its id; any other single segment is not a page.
    beforeLoad: ({ params }) => {
      if ('typeOrId' in params && !/^(nc|noco|ws?[a-z0-9]{6,})$/.test(String(params.typeOrId)))
        throw notFound()
    },
    component: loadBaseList,
  }),
)

const accountRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/account/{-$page}',
  component: lazyScreen(() => import('../features/account/account-screen.tsx'), 'AccountScreen'),
})

/** The user's own profile; others have no page. */
const profileRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/profile/{-$username}',
  beforeLoad({ params }) {
    if (params.username !== undefined) throw notFound()
    throw redirect({ href: paths.account('profile'), replace: true })
  },
})

const baseRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/$typeOrId/$baseId',
  beforeLoad({ params }) {
    if (!/^p[a-z0-9_]{6,}$/.test(params.baseId)) throw notFound()
  },
  // Requested while the code loads; the screens find it in the cache.
  loader({ params }) {
    void cache.bases.get.prefetch({ baseId: params.baseId })
    void cache.schema.tables.prefetch({ baseId: params.baseId })
  },
  component: lazyScreen(() => import('./base-screens.ts'), 'BaseLayout'),
})

const loadBaseHome = lazyScreen(() => import('../features/bases/base-home-screen.tsx'), 'BaseHomeScreen')

const baseHomeRoute = createRoute({
  getParentRoute: () => baseRoute,
  path: '/',
  validateSearch: (search: Record<string, unknown>): { tab?: 'sources' | 'storage' } =>
    search.tab === 'sources' || search.tab === 'storage' ? { tab: search.tab } : {},
  component: loadBaseHome,
})

/** The same screen, at its members. */
const membersRoute = createRoute({
  getParentRoute: () => baseRoute,
  path: '/auth',
  component: loadBaseHome,
})

const tableRoute = createRoute({
  getParentRoute: () => baseRoute,
  // A table and perhaps its view; or, in older links, a view and perhaps its title.
  path: '/$tableId/{-$viewId}',
  beforeLoad({ params }) {
    if (!/^(m|vw)[a-z0-9_]{6,}$/.test(params.tableId)) throw notFound()
  },
  validateSearch: (search: Record<string, unknown>): { rowId?: string } =>
    search.rowId === undefined ? {} : { rowId: String(search.rowId) },
  loader({ params }) {
    if (params.tableId.startsWith('m')) void cache.schema.table.prefetch({ tableId: params.tableId })
  },
  component: lazyScreen(() => import('./base-screens.ts'), 'TableRouteScreen'),
})

const relationsRoute = createRoute({
  getParentRoute: () => baseRoute,
  path: '/erd/{-$sourceId}',
  validateSearch: (search: Record<string, unknown>): { tableId?: string } =>
    typeof search.tableId === 'string' ? { tableId: search.tableId } : {},
  component: lazyScreen(() => import('../features/erd/erd-screen.tsx'), 'ErdScreen'),
})

/** The table that a list is limited to. */
const readTableSearch = (search: Record<string, unknown>): { tableId?: string } =>
  typeof search.tableId === 'string' ? { tableId: search.tableId } : {}

const historyRoute = createRoute({
  getParentRoute: () => baseRoute,
  path: '/history',
  validateSearch: readTableSearch,
  component: lazyScreen(() => import('../features/history/history-screen.tsx'), 'HistoryScreen'),
})

const commentsRoute = createRoute({
  getParentRoute: () => baseRoute,
  path: '/comments',
  component: lazyScreen(() => import('../features/comments/comments-screen.tsx'), 'CommentsScreen'),
})

const trashRoute = createRoute({
  getParentRoute: () => baseRoute,
  path: '/trash',
  validateSearch: readTableSearch,
  component: lazyScreen(() => import('../features/history/trash-screen.tsx'), 'TrashScreen'),
})

const routeTree = rootRoute.addChildren([
  signInRoute,
  signUpRoute,
  forgotPasswordRoute,
  resetPasswordRoute,
  error404Route,
  publicFormRoute,
  ...sharedRoutes,
  copySharedBaseRoute,
  shellRoute.addChildren([
    ...baseListRoutes,
    accountRoute,
    profileRoute,
    baseRoute.addChildren([
      baseHomeRoute,
      membersRoute,
      relationsRoute,
      historyRoute,
      commentsRoute,
      trashRoute,
      tableRoute,
    ]),
  ]),
])

/** The routes of spec §2 that exist at this stage. */
export const router = createRouter({
  routeTree,
  history: appHistory,
  ...PLAIN_QUERY,
  defaultPendingComponent: PendingScreen,
  defaultPendingMs: 300,
  // By default the router shows its pending component for at least half a second.
  defaultPendingMinMs: 0,
  defaultErrorComponent: RouteErrorScreen,
  defaultNotFoundComponent: NotFoundScreen,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
