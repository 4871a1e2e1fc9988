import { lazyRouteComponent } from '@tanstack/react-router'
import { type ComponentType, lazy } from 'react'
import { t } from '../i18n.ts'
import { localSettings } from '../session/local-settings.ts'

/** A page is not reloaded twice within this time, so that a broken build cannot loop (spec §2). */
export const RELOAD_GUARD_MS = 10_000

const CHUNK_ERROR = /dynamically imported module|importing a module script|failed to load module script|ChunkLoad/i

/**
 * Loads a part of the app. After an update on the server the old parts are gone: the page reloads, once.
 */
export async function loadPart<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    if (!(error instanceof Error) || !CHUNK_ERROR.test(error.message)) throw error
    if (navigator.onLine && reloadOnce()) return new Promise<never>(() => {})
    throw new Error(t('A part of the app could not be loaded. Check your connection and try again.'))
  }
}

function reloadOnce(now = Date.now()): boolean {
  if (now - Number(localSettings.get('reloadedAt') ?? 0) < RELOAD_GUARD_MS) return false
  localSettings.set('reloadedAt', String(now))
  location.reload()
  return true
}

/** A screen of a route, in a file of its own. */
export const lazyScreen = <K extends string>(load: () => Promise<Record<K, ComponentType>>, name: K) =>
  lazyRouteComponent(() => loadPart(load), name)

/** A component in a file of its own, e.g. a dialog. Stands inside a `Suspense`. */
export const lazyPart = <P extends object, K extends string>(load: () => Promise<Record<K, ComponentType<P>>>, name: K) =>
  lazy(async () => ({ default: (await loadPart(load))[name] }))
