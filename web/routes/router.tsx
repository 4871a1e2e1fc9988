import { createRootRoute, createRoute, createRouter, notFound } from '@tanstack/react-router'
import { cache } from '../trpc.ts'
import { requireSignedOut, requireSignIn } from './guards.ts'
import { lazyScreen } from './lazy-screen.ts'
import { appHistory } from './paths.ts'
import { NotFoundScreen, PendingScreen, RootScreen, RouteErrorScreen } from './root.tsx'

const rootRoute = createRootRoute({
  component: RootScreen,
  notFoundComponent: NotFoundScreen,
  errorComponent: RouteErrorScreen,
})

/** `continueAfterSignIn` as it stands in the address; `readContinuePath` decides what it is worth. */
const readSignInSearch = (search: Record<string, unknown>): { continueAfterSignIn?: string } =>
  typeof search.continueAfterSignIn === 'string' ? { continueAfterSignIn: search.continueAfterSignIn } : {}

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/signin',
  validateSearch: readSignInSearch,
  beforeLoad: requireSignedOut,
  component: lazyScreen(() => import('../features/auth/sign-in-screen.tsx'), 'SignInScreen'),
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
  component: lazyScreen(() => import('../features/auth/forgot-password-screen.tsx'), 'ForgotPasswordScreen'),
})

const resetPasswordRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/reset/$id',
  component: lazyScreen(() => import('../features/auth/reset-password-screen.tsx'), 'ResetPasswordScreen'),
})

const error404Route = createRoute({
  getParentRoute: () => rootRoute,
  path: '/error/404',
  component: NotFoundScreen,
})

const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  beforeLoad: requireSignIn,
  component: lazyScreen(() => import('../features/shell/shell.tsx'), 'Shell'),
})

const loadBaseList = lazyScreen(() => import('../features/bases/base-list-screen.tsx'), 'BaseListScreen')

const baseListRoutes = (['/', '/projects', '/projects/list', '/$typeOrId'] as const).map((path) =>
  createRoute({
    getParentRoute: () => shellRoute,
    path,
    // The workspace is `nc` or an id of its own; any other single word is no page.
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

const baseRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/$typeOrId/$baseId',
  beforeLoad({ params }) {
    if (!/^p[a-z0-9_]{6,}$/.test(params.baseId)) throw notFound()
  },
  // Asked for while the code is on its way; the screens find it in the cache.
  loader({ params }) {
    void cache.bases.get.prefetch({ baseId: params.baseId })
    void cache.schema.tables.prefetch({ baseId: params.baseId })
  },
  component: lazyScreen(() => import('../features/shell/base-layout.tsx'), 'BaseLayout'),
})

const baseHomeRoute = createRoute({
  getParentRoute: () => baseRoute,
  path: '/',
  component: lazyScreen(() => import('../features/bases/base-home-screen.tsx'), 'BaseHomeScreen'),
})

/** The grid is asked for together with the route's screen, not only once that one draws it. */
async function loadTableScreens() {
  const [screen] = await Promise.all([
    import('../features/shell/table-route-screen.tsx'),
    import('../features/records/table-screen.tsx'),
  ])
  return screen
}

const tableRoute = createRoute({
  getParentRoute: () => baseRoute,
  // A table and perhaps its view; or, in older links, a view and perhaps its title.
  path: '/$tableId/{-$viewId}',
  validateSearch: (search: Record<string, unknown>): { rowId?: string } =>
    search.rowId === undefined ? {} : { rowId: String(search.rowId) },
  loader({ params }) {
    if (params.tableId.startsWith('m')) void cache.schema.table.prefetch({ tableId: params.tableId })
  },
  component: lazyScreen(loadTableScreens, 'TableRouteScreen'),
})

const routeTree = rootRoute.addChildren([
  signInRoute,
  signUpRoute,
  forgotPasswordRoute,
  resetPasswordRoute,
  error404Route,
  shellRoute.addChildren([
    ...baseListRoutes,
    accountRoute,
    baseRoute.addChildren([baseHomeRoute, tableRoute]),
  ]),
])

/** The routes of spec §2 that exist at this stage. */
export const router = createRouter({
  routeTree,
  history: appHistory,
  defaultPendingComponent: PendingScreen,
  defaultPendingMs: 300,
  // By itself the router holds back what is ready until the frame has stood for half a second.
  defaultPendingMinMs: 0,
  defaultErrorComponent: RouteErrorScreen,
  defaultNotFoundComponent: NotFoundScreen,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
