import { type Browser, chromium } from 'playwright-core'
import { findTestBrowser } from './find-binary.ts'

// Disables all network traffic of the browser itself; containers have no GPU.
const QUIET = [
  // Pages of one context share a process, which takes longer to start than a page to load. (Contexts never share one.)
  '--renderer-process-limit=1',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/**
 * Starts a headless Chromium, which the caller closes.
 * @param extraArgs further command-line switches, e.g. `['--lang=ar']`
 * @param executablePath by default the tests' browser
 * @throws Error without a browser
 */
export async function launchBrowser(
  extraArgs: readonly string[] = [],
  executablePath = findTestBrowser(),
): Promise<Browser> {
  if (executablePath === null) throw new Error('Chromium is not installed: apt-get install chromium')
  // Chromium's sandbox refuses to work for root.
  const args = [...(process.getuid?.() === 0 ? ['--no-sandbox'] : []), ...QUIET, ...extraArgs]
  return chromium.launch({ executablePath, args, headless: true })
}
