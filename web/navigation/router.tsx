import {
  Component,
  type ComponentType,
  createContext,
  type ReactNode,
  useContext,
  useSyncExternalStore,
} from 'react'
import { parse } from 'regexparam'
import { appHistory, goTo, type RouteSearch } from './paths.ts'

/** The variable segments of all paths, decoded; which ones are set depends on the route. */
export interface RouteParams {
  typeOrId?: string
  baseId?: string
  tableId?: string
  viewId?: string
  sourceId?: string
  linkId?: string
  token?: string
  id?: string
  page?: string
}

/** The address after `#`. */
export interface RouteLocation {
  /** Path with query. */
  href: string
  path: string
  search: RouteSearch
}

/** A screen that is loaded when its route opens. */
type Screen = ComponentType & { preload?: () => Promise<void> }

export interface Route {
  /** In regexparam's syntax, after the path of the parent: `/:baseId`, `/:viewId?`. Absent: the parent's path. */
  path?: string
  /** False for parameters that are no page: the not-found screen appears. */
  accepts?: (params: RouteParams) => boolean
  /** Runs before the screen shows, after the guards of the parents; the path to open in its place, or null. */
  guard?: (location: RouteLocation) => Promise<string | null> | string | null
  /** Starts to read what the screen shows, while its code is loaded. */
  prefetch?: (params: RouteParams) => void
  /** Shown in the `<Outlet />` of the parent's screen. */
  screen?: Screen
  /** If present, only these are pages. The first match counts. */
  children?: readonly Route[]
}

interface RouterOptions {
  routes: readonly Route[]
  /** Frame of all screens, with an `<Outlet />`. */
  frame: ComponentType
  notFound: ComponentType
  /** Shown if a guard fails, or a screen cannot be loaded or rendered. `retry` renders again. */
  failed: ComponentType<{ error: unknown; retry: () => void }>
  /** Shown while a screen takes long to load. */
  pending: ComponentType
}

/** What is on the screen. */
interface Shown {
  location: RouteLocation
  params: RouteParams
  /** From the outermost to the innermost. */
  screens: readonly Screen[]
  /** In the outlet of the innermost screen. */
  end: { kind: 'none' | 'notFound' | 'pending' } | { kind: 'failed'; error: unknown }
}

export interface Router {
  /** Opens the present address, and from then on each new one. */
  start: () => void
  /** Runs the guards of the present address again, for instance after signing out. */
  reload: () => void
  /** Null until the first screen has been loaded. */
  shown: () => Shown | null
  subscribe: (onChange: () => void) => () => void
  options: RouterOptions
}

/** A screen that takes longer is announced by the pending screen. */
const PENDING_AFTER_MS = 300

/**
 * A router over the address after `#`. Until the guards of a new address have passed and the code of its screens has
 * arrived, the present screen stays; a newer address replaces one that is still loading.
 */
export function createRouter(options: RouterOptions): Router {
  const pages = pagesOf(options.routes)
  const listeners = new Set<() => void>()
  let shown: Shown | null = null
  let attempts = 0

  async function load(): Promise<void> {
    const attempt = ++attempts
    const location = readLocation()
    const page = pages.find(({ pattern }) => pattern.test(location.path))
    const params = page ? readParams(page, location.path) : {}
    const screens = page?.chain.flatMap(({ screen }) => screen ?? []) ?? []
    const show = (screens: readonly Screen[], end: Shown['end']) => {
      if (attempt !== attempts) return
      shown = { location, params, screens, end }
      for (const listener of [...listeners]) listener()
    }
    if (!page) return show([], { kind: 'notFound' })
    const waiting = setTimeout(() => {
      const common = screens.findIndex((screen, depth) => shown?.screens[depth] !== screen)
      show(screens.slice(0, Math.max(common, 0)), { kind: 'pending' })
    }, PENDING_AFTER_MS)
    try {
      for (const { guard, accepts } of page.chain) {
        const other = await guard?.(location)
        if (attempt !== attempts) return
        if (other) return goTo(other, { replace: true })
        if (accepts && !accepts(params)) return show([], { kind: 'notFound' })
      }
      for (const { prefetch } of page.chain) prefetch?.(params)
      const loaded = await Promise.allSettled(screens.map((screen) => screen.preload?.()))
      const failed = loaded.findIndex(({ status }) => status === 'rejected')
      if (failed < 0) return show(screens, { kind: 'none' })
      const { reason } = loaded[failed] as PromiseRejectedResult
      show(screens.slice(0, failed), { kind: 'failed', error: reason })
    } catch (error) {
      show([], { kind: 'failed', error })
    } finally {
      clearTimeout(waiting)
    }
  }

  return {
    options,
    start() {
      appHistory.subscribe(() => void load())
      void load()
    },
    reload: () => void load(),
    shown: () => shown,
    subscribe(onChange) {
      listeners.add(onChange)
      return () => listeners.delete(onChange)
    },
  }
}

/** An address that can be opened. */
interface Page {
  pattern: RegExp
  keys: readonly string[]
  /** From the outermost route to the innermost. */
  chain: readonly Route[]
}

const pagesOf = (routes: readonly Route[], parents: readonly Route[] = []): Page[] =>
  routes.flatMap((route) => {
    const chain = [...parents, route]
    if (route.children) return pagesOf(route.children, chain)
    return [{ ...parse(chain.map(({ path = '' }) => path).join('') || '/'), chain }]
  })

function readParams({ pattern, keys }: Page, path: string): RouteParams {
  const values = pattern.exec(path)?.slice(1) ?? []
  return Object.fromEntries(keys.flatMap((key, at) => (values[at] ? [[key, decode(values[at])]] : [])))
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // A lone `%` is no encoding.
    return text
  }
}

function readLocation(): RouteLocation {
  const { href, pathname, search } = appHistory.location
  return { href, path: pathname, search: Object.fromEntries(new URLSearchParams(search)) }
}

const RouterContext = createContext<{ router: Router; shown: Shown } | null>(null)
const Depth = createContext(0)

/** The screens of the present address. */
export function RouterView({ router }: { router: Router }): ReactNode {
  const shown = useSyncExternalStore(router.subscribe, router.shown)
  if (!shown) return null
  const { frame: Frame } = router.options
  return (
    <RouterContext value={{ router, shown }}>
      <FailureBoundary router={router} shown={shown}>
        <Frame />
      </FailureBoundary>
    </RouterContext>
  )
}

function useRouter() {
  const found = useContext(RouterContext)
  if (!found) throw new Error('Used outside of a RouterView')
  return found
}

/** The variable segments of the present path. */
export const useParams = (): RouteParams => useRouter().shown.params

/** The query of the present address. */
export const useSearch = (): RouteSearch => useRouter().shown.location.search

/** The present address. */
export const useLocation = (): RouteLocation => useRouter().shown.location

/** The place of the next inner screen. */
export function Outlet(): ReactNode {
  const { router, shown } = useRouter()
  const depth = useContext(Depth)
  const Inner = shown.screens[depth]
  return (
    <Depth value={depth + 1}>
      <FailureBoundary router={router} shown={shown}>
        {Inner ? <Inner /> : <End router={router} end={shown.end} />}
      </FailureBoundary>
    </Depth>
  )
}

function End({ router, end }: { router: Router; end: Shown['end'] }): ReactNode {
  const { notFound: NotFound, failed: Failed, pending: Pending } = router.options
  switch (end.kind) {
    case 'none':
      return null
    case 'notFound':
      return <NotFound />
    case 'pending':
      return <Pending />
    case 'failed':
      return <Failed error={end.error} retry={router.reload} />
  }
}

interface BoundaryProps {
  router: Router
  shown: Shown
  children: ReactNode
}

interface BoundaryState {
  shown: Shown | null
  failure: { error: unknown } | null
}

/** Shows what failed in place of a screen, until the next navigation. */
class FailureBoundary extends Component<BoundaryProps, BoundaryState> {
  override state: BoundaryState = { shown: null, failure: null }

  static getDerivedStateFromError(error: unknown): Partial<BoundaryState> {
    return { failure: { error } }
  }

  static getDerivedStateFromProps({ shown }: BoundaryProps, state: BoundaryState): BoundaryState | null {
    return state.shown === shown ? null : { shown, failure: null }
  }

  override render(): ReactNode {
    const { failure } = this.state
    if (!failure) return this.props.children
    const { failed: Failed } = this.props.router.options
    return <Failed error={failure.error} retry={this.props.router.reload} />
  }
}
