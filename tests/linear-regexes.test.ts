import { describe, expect, test } from 'bun:test'
import {
  collectRegexes,
  filesWithDynamicRegexes,
  findSlowness,
  readLinearRegexes,
} from '../scripts/regexes.ts'

const ANALYSIS_TIMEOUT_MS = 300_000

describe('regular expressions of the product', () => {
  test(
    'take linear time (`bun scripts/regexes.ts` records those that do)',
    async () => {
      const known = await readLinearRegexes()
      const slow: string[] = []
      for (const [text, regex] of await collectRegexes()) {
        const slowness = known.has(text) ? null : await findSlowness(regex)
        if (slowness !== null) slow.push(`${regex.files.join(', ')}: ${text} ${slowness}`)
      }
      expect(slow).toEqual([])
    },
    ANALYSIS_TIMEOUT_MS,
  )

  test('are literals, but for the patterns and formats that formulas are checked and run with', async () => {
    expect(await filesWithDynamicRegexes()).toEqual([
      'src/core/formula/date-format.ts',
      'src/core/formula/match-pattern.ts',
      'src/core/formula/pattern.ts',
      'src/dialects/postgres-pattern.ts',
    ])
  })

  test(
    'are found to be slow where they are',
    async () => {
      for (const pattern of [
        String.raw`^\d+\.?\d*$`,
        '^(a+)+$',
        String.raw`\s+$`,
        '^(?:<!--[^]*?-->\\s*)*<svg',
      ]) {
        const slowness = await findSlowness({ pattern, flags: '', files: [] })
        expect([pattern, slowness !== null]).toEqual([pattern, true])
      }
    },
    ANALYSIS_TIMEOUT_MS,
  )
})
