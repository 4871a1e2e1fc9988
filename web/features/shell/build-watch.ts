/** How often an open page checks for a new build (spec §2, §9). */
export const CHECK_EVERY_MS = 60 * 60_000

/** Build id of this page; null if it was not built by `scripts/build-web.ts`. */
export const ownBuild = (): string | null =>
  document.querySelector('meta[name="build"]')?.getAttribute('content') ?? null

/** Current build id of the server, or null. */
export async function readLatestBuild(origin = location.origin): Promise<string | null> {
  const answer = await fetch(`${origin}/builds/latest.json`, { cache: 'no-store' })
  if (!answer.ok) return null
  const { id } = (await answer.json()) as { id?: unknown }
  return typeof id === 'string' ? id : null
}

export interface BuildWatch {
  /** Build id of the page. */
  own: () => string | null
  latest: () => Promise<string | null>
  everyMs: number
  /** Called after each check that finds another build. */
  onNew: () => void
}

/** Checks periodically for a new build. @returns a function that stops it */
export function watchBuild({ own, latest, everyMs, onNew }: BuildWatch): () => void {
  let isOver = false
  async function look(): Promise<void> {
    const before = own()
    if (before === null) return
    try {
      const id = await latest()
      if (!isOver && id !== null && id !== before) onNew()
    } catch (error) {
      // Offline, or a proxy's error page: the next check may succeed.
      console.warn('the latest build is not known', error)
    }
  }
  const timer = setInterval(() => void look(), everyMs)
  return () => {
    isOver = true
    clearInterval(timer)
  }
}
