import { afterAll } from 'bun:test'
import type { Browser } from 'playwright-core'

/** Browsers of this process by their arguments. */
const running = new Map<string, Promise<Browser>>()

// `bunfig.toml` loads this file before the test files, so that this runs after the last of them.
afterAll(async () => {
  const launched = await Promise.allSettled(running.values())
  await Promise.all(launched.map((each) => each.status === 'fulfilled' && each.value.close()))
})

/**
 * A browser that all test files of this process use, because its start takes as long as some tests. What a file opens in it is its
 * own, and closed by `closeContexts`.
 */
export async function shareBrowser(extraArgs: readonly string[] = []): Promise<Browser> {
  const key = extraArgs.join(' ')
  const known = await running.get(key)
  // A browser that has crashed fails the tests of one file only.
  if (known?.isConnected()) return known
  // Playwright takes long to load, and most processes need none.
  const launched = import('./chromium.ts').then(({ launchBrowser }) => launchBrowser(extraArgs))
  running.set(key, launched)
  return launched
}

/** Closes everything that was opened in a browser; `undefined` for one that could not be started. */
export async function closeContexts(browser: Browser | undefined): Promise<void> {
  await Promise.all((browser?.contexts() ?? []).map((context) => context.close()))
}
