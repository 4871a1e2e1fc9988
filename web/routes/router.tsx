import { NotFoundScreen } from '../features/layout/not-found-screen.tsx'
import { lazyPart } from '../navigation/lazy-screen.ts'
import { paths } from '../navigation/paths.ts'
import { createRouter, type Route, type RouteParams } from '../navigation/router.tsx'
import { SHARED_PAGE } from '../session/visitor.ts'
import { cache } from '../trpc.ts'
import { requireSignedOut, requireSignIn } from './guards.ts'
import { PendingScreen, RootScreen, RouteErrorScreen } from './root.tsx'

/** Leaves the app for the page of public links, which knows no session. The early script handles initial addresses. */
const leaveFor =
  (page: string): Route['guard'] =>
  ({ href }) => {
    location.assign(`${page}#${href}`)
    // The page is unloading; nothing else is shown.
    return new Promise<never>(() => {})
  }

const SIGNED_OUT_ROUTES: Route[] = [
  {
    path: '/signin',
    guard: requireSignedOut,
    screen: lazyPart(() => import('../features/auth/sign-in.tsx'), 'SignInScreen'),
  },
  {
    path: '/signup/:token?',
    guard: requireSignedOut,
    screen: lazyPart(() => import('../features/auth/sign-up-screen.tsx'), 'SignUpScreen'),
  },
  {
    path: '/forgot-password',
    guard: requireSignedOut,
    screen: lazyPart(() => import('../features/auth/password-reset-screens.tsx'), 'ForgotPasswordScreen'),
  },
  {
    path: '/reset/:id',
    screen: lazyPart(() => import('../features/auth/password-reset-screens.tsx'), 'ResetPasswordScreen'),
  },
  { path: '/error/404', screen: NotFoundScreen },
  {
    path: '/unsubscribe/:token',
    screen: lazyPart(() => import('../features/notifications/unsubscribe-screen.tsx'), 'UnsubscribeScreen'),
  },
]

const SHARED_ROUTES: Route[] = [
  { path: '/:typeOrId/form/:linkId/:survey?', guard: leaveFor('/form') },
  ...[
    ...['view', 'grid', 'gallery', 'kanban', 'map', 'calendar'].map((kind) => `/:typeOrId/${kind}/:linkId`),
    '/:typeOrId/base/:linkId/:tableId?/:viewId?',
    '/ERD/shared/:linkId',
  ].map((path) => ({ path, guard: leaveFor(SHARED_PAGE) })),
]

const BaseHome = lazyPart(() => import('../features/bases/base-home-screen.tsx'), 'BaseHomeScreen')

const BASE_ROUTES: Route[] = [
  { path: '/', screen: BaseHome },
  // The same screen, at its members.
  { path: '/auth', screen: BaseHome },
  { path: '/erd/:sourceId?', screen: lazyPart(() => import('../features/erd/erd-screen.tsx'), 'ErdScreen') },
  {
    path: '/history',
    screen: lazyPart(() => import('../features/history/history-screen.tsx'), 'HistoryScreen'),
  },
  {
    path: '/comments',
    screen: lazyPart(() => import('../features/comments/comments-screen.tsx'), 'CommentsScreen'),
  },
  { path: '/webhooks', screen: lazyPart(() => import('../features/hooks/hooks-screen.tsx'), 'HooksScreen') },
  {
    // A table and perhaps its view; or, in older links, a view and perhaps its title.
    path: '/:tableId/:viewId?',
    accepts: ({ tableId = '' }) => /^(m|vw)[a-z0-9_]{6,}$/.test(tableId),
    prefetch({ tableId }) {
      if (tableId?.startsWith('m')) void cache.schema.table.prefetch({ tableId })
    },
    screen: lazyPart(() => import('./base-screens.ts'), 'TableRouteScreen'),
  },
]

const Trash = lazyPart(() => import('../features/trash/trash-screen.tsx'), 'TrashScreen')

const BaseList = lazyPart(() => import('../features/bases/base-list-screen.tsx'), 'BaseListScreen')

const namesBase = ({ baseId = '' }: RouteParams): boolean => /^p[a-z0-9_]{6,}$/.test(baseId)

/** Pages inside the app's frame. */
const SHELL_ROUTES: Route[] = [
  ...['/', '/projects', '/projects/list'].map((path) => ({ path, screen: BaseList })),
  // One page: of all bases, or beside the sidebar of the chosen one. It stays as it is when another base is chosen.
  { path: '/trash', screen: Trash },
  { path: '/:typeOrId/:baseId/trash', accepts: namesBase, screen: Trash },
  {
    path: '/account/:page?',
    screen: lazyPart(() => import('../features/account/account-screen.tsx'), 'AccountScreen'),
  },
  // Links of spec §2 to a part of the page of users, which shows all of them.
  { path: '/account/users/:nestedPage', guard: () => paths.account('users') },
  // The user's own profile; others have no page.
  { path: '/profile', guard: () => paths.account('profile') },
  { path: '/profile/:username', accepts: () => false },
  {
    path: '/:typeOrId',
    // The workspace is `nc` or its id; any other single segment is not a page.
    accepts: ({ typeOrId = '' }) => /^(nc|noco|ws?[a-z0-9]{6,})$/.test(typeOrId),
    screen: BaseList,
  },
  {
    path: '/:typeOrId/:baseId',
    accepts: namesBase,
    // Requested while the code loads; the screens find it in the cache.
    prefetch({ baseId = '' }) {
      void cache.bases.get.prefetch({ baseId })
      void cache.schema.tables.prefetch({ baseId })
    },
    screen: lazyPart(() => import('./base-screens.ts'), 'BaseLayout'),
    children: BASE_ROUTES,
  },
]

/** The routes of spec §2 that exist at this stage. */
export const router = createRouter({
  routes: [
    ...SIGNED_OUT_ROUTES,
    ...SHARED_ROUTES,
    {
      path: '/copy-shared-base',
      guard: requireSignIn,
      screen: lazyPart(
        () => import('../features/copies/copy-shared-base-screen.tsx'),
        'CopySharedBaseScreen',
      ),
    },
    {
      guard: requireSignIn,
      screen: lazyPart(() => import('./base-screens.ts'), 'Shell'),
      children: SHELL_ROUTES,
    },
  ],
  frame: RootScreen,
  notFound: NotFoundScreen,
  failed: RouteErrorScreen,
  pending: PendingScreen,
})
