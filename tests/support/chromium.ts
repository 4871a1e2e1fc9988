import { type Browser, chromium } from 'playwright-core'
import { findTestBrowser } from './find-binary.ts'

// Nothing may leave the machine during a test, and a container has no GPU.
const QUIET = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/**
 * Starts a Chromium without a window. Close it when done.
 * @param extraArgs further command-line switches, e.g. `['--lang=ar']`
 * @param executablePath the browser, if not that of the tests
 * @throws Error when there is none
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
