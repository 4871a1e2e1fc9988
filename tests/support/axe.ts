import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { ElementHandle, Page } from 'playwright-core'

const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22a', 'wcag22aa', 'best-practice']

interface AxeResult {
  violations: {
    id: string
    impact: string | null
    nodes: { target: unknown[]; html: string; failureSummary?: string }[]
  }[]
}

interface AxeWindow {
  axe: { run(context: unknown, options: object): Promise<AxeResult> }
}

/**
 * The page's current accessibility violations, one line per element: rule, impact, selector and problem.
 * Covers WCAG 2.2 A and AA and axe's best practices, colour contrast included.
 * @param part checks only this element, which is much faster
 */
export async function axeViolations(page: Page, part?: ElementHandle | null): Promise<string[]> {
  // Evaluated through the debugger, because the content security policy forbids injected scripts.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(SOURCE)
  // Waits for transitions, whose intermediate colours would be measured.
  await page.evaluate(() =>
    Promise.all(document.getAnimations().map((each) => each.finished.catch(() => {}))),
  )
  const { violations } = await page.evaluate(
    ([tags, context]) =>
      (window as unknown as AxeWindow).axe.run(context ?? document, {
        runOnly: { type: 'tag', values: tags },
        resultTypes: ['violations'],
        // No rule with these tags reads stylesheets, which would be fetched and parsed each time.
        preload: { assets: ['media'] },
      }),
    [TAGS, part ?? null] as const,
  )
  return violations.flatMap(({ id, impact, nodes }) =>
    nodes.map(({ target, html, failureSummary }) =>
      [
        `${id} (${impact})`,
        target.join(' '),
        html.slice(0, 160),
        failureSummary?.replace(/\s*\n\s*/g, ' '),
      ].join(' | '),
    ),
  )
}
