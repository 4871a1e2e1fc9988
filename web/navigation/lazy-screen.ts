import {
  type ComponentType,
  createElement,
  type ReactNode,
  useLayoutEffect,
  useReducer,
  useState,
} from 'react'
import { m } from '../messages.gen.ts'
import { localSettings } from '../session/local-settings.ts'
import { isServerThere, pauseAfter } from './server-wait.ts'

/** A page is not reloaded twice within this time, so that a broken build cannot loop (spec §2). */
const RELOAD_GUARD_MS = 10_000

/** Tries in all while the server does not answer: it may be about to start again. */
const MAX_TRIES = 3

const CHUNK_ERROR =
  /dynamically imported module|importing a module script|failed to load module script|preload CSS|ChunkLoad/i

/** A part of the app whose files could not be read. */
export class PartError extends Error {
  override readonly name = 'PartError'

  constructor(
    /** True if the server did not answer at all: the part can be loaded once it does. */
    readonly isServerAway: boolean,
  ) {
    super(m.navigation_part_of_the_app_load_failed())
  }
}

/**
 * Loads a part of the app, with some more tries while the server is away. If its file is missing after a server update,
 * reloads the page once, unless the page holds input that a reload would lose (a text field in use, or `mayReload` is
 * false).
 *
 * @throws PartError
 */
export async function loadPart<T>(load: () => Promise<T>, { mayReload = true } = {}): Promise<T> {
  let wasThere = false
  for (let tries = 1; ; tries++) {
    try {
      return await load()
    } catch (error) {
      if (!(error instanceof Error) || !CHUNK_ERROR.test(error.message)) throw error
    }
    const isThere = await isServerThere()
    // Not after a single answer: the server may have come back since the part was requested.
    if (isThere && wasThere) {
      if (mayReload && !hasTextInUse() && reloadOnce()) return new Promise<never>(() => {})
      throw new PartError(false)
    }
    wasThere = isThere
    if (isThere) continue
    if (tries >= MAX_TRIES) throw new PartError(true)
    await pauseAfter(tries)
  }
}

/** Text fields, except searches, palettes and the grid's receiver. */
const TEXT_FIELD =
  ':is(input, textarea, [contenteditable="true"]):not([type="search"], [role="combobox"], [data-shortcuts])'

const holders: (() => boolean)[] = []

/** Keeps the page from reloading by itself while it has input that is stored nowhere else. */
export const holdReload = (hasInput: () => boolean): void => void holders.push(hasInput)

/** True if a text field has the focus or belongs to an open dialog, or there is input by `holdReload`. */
const hasTextInUse = (): boolean =>
  document.querySelector(`${TEXT_FIELD}:focus, [role="dialog"] ${TEXT_FIELD}`) !== null ||
  holders.some((hasInput) => hasInput())

function reloadOnce(now = Date.now()): boolean {
  if (now - Number(localSettings.get('reloadedAt') ?? 0) < RELOAD_GUARD_MS) return false
  localSettings.set('reloadedAt', String(now))
  location.reload()
  return true
}

/** A lazily loaded component, which can be preloaded. */
export type LazyPart<P> = ((props: P) => ReactNode) & { preload: () => Promise<void> }

/** The props of a component. */
export type PropsOf<C> = C extends (props: infer P) => ReactNode ? P & object : never

interface Part<P> {
  component: ComponentType<P> | null
  fallback: ReactNode | ComponentType<P>
  onLoading: ((loading: Promise<void>) => void) | undefined
  preload: () => Promise<void>
}

/**
 * A lazily loaded component, with a `fallback`. Not `React.lazy`: a suspended component stays hidden
 * for 300 ms after its fallback, so a dialog loaded in 20 ms would open late, and an editor without the last keys.
 *
 * @param fallback a component stands in for the part, also if that cannot be loaded: `onLoading` has to report it
 * @param onLoading called when a use of the part has to wait
 */
export function lazyPart<M, K extends keyof M>(
  load: () => Promise<M>,
  name: K,
  fallback: ReactNode | ComponentType<PropsOf<M[K]>> = null,
  onLoading?: (loading: Promise<void>) => void,
): LazyPart<PropsOf<M[K]>> {
  type P = PropsOf<M[K]>
  const part: Part<P> = {
    component: null,
    fallback,
    onLoading,
    async preload() {
      part.component ??= (await loadPart(load))[name] as ComponentType<P>
    },
  }
  return Object.assign((props: P) => createElement(PartHost<P>, { part, props }), { preload: part.preload })
}

function PartHost<P extends object>({ part, props }: { part: Part<P>; props: P }): ReactNode {
  const [failure, setFailure] = useState<{ error: unknown } | null>(null)
  const [, redraw] = useReducer((n: number) => n + 1, 0)
  // What this render draws: another user of the part may load it before the effect runs.
  const { component, fallback } = part
  useLayoutEffect(() => {
    if (component) return
    const loading = part.preload()
    loading.then(redraw, (error) => setFailure({ error }))
    part.onLoading?.(loading)
  }, [part, component])
  // For the error boundary of the screen.
  if (failure && typeof fallback !== 'function') throw failure.error
  const drawn = component ?? fallback
  return typeof drawn === 'function' ? createElement(drawn, props) : drawn
}
