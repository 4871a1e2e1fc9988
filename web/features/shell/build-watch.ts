/** How often an open page asks whether there is a new build (spec §2, §9). */
export const CHECK_EVERY_MS = 60 * 60_000

/** The id of the build that this page is of; null where it was not built by `scripts/build-web.ts`. */
export const ownBuild = (): string | null =>
  document.querySelector('meta[name="build"]')?.getAttribute('content') ?? null

/** The id of the build that the server has now; null where it says none. */
export async function readLatestBuild(origin = location.origin): Promise<string | null> {
  const answer = await fetch(`${origin}/builds/latest.json`, { cache: 'no-store' })
  if (!answer.ok) return null
  const { id } = (await answer.json()) as { id?: unknown }
  return typeof id === 'string' ? id : null
}

export interface BuildWatch {
  /** The page's own build; asked each time. */
  own: () => string | null
  latest: () => Promise<string | null>
  everyMs: number
  /** Called after each look that finds another build than the page's. */
  onNew: () => void
}

/** Looks again and again whether the server has a new build, until the returned function is called. */
export function watchBuild({ own, latest, everyMs, onNew }: BuildWatch): () => void {
  let isOver = false
  async function look(): Promise<void> {
    const before = own()
    if (before === null) return
    try {
      const id = await latest()
      if (!isOver && id !== null && id !== before) onNew()
    } catch (error) {
      // Offline, or a proxy's own page: the next look may do.
      console.warn('the latest build is not known', error)
    }
  }
  const timer = setInterval(() => void look(), everyMs)
  return () => {
    isOver = true
    clearInterval(timer)
  }
}
