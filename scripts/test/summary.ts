/** Numbers of tests by result. */
export interface Counts {
  passed: number
  failed: number
  skipped: number
}

const ENDINGS: Record<string, keyof Counts> = {
  pass: 'passed',
  fail: 'failed',
  skip: 'skipped',
  todo: 'skipped',
}

/**
 * Reads the counts that `bun test` prints last: lines like ` 12 pass` right above `Ran 12 tests across 3
 * files.` Null without them, if the run ended early.
 */
export function parseSummary(output: string): Counts | null {
  const lines = Bun.stripANSI(output).split('\n')
  const end = lines.findLastIndex((line) => /^Ran \d+ tests? across \d+ files?\./.test(line))
  if (end === -1) return null
  const counts: Counts = { passed: 0, failed: 0, skipped: 0 }
  for (let index = end - 1; index >= 0; index--) {
    const [, count, word] = /^ *(\d+) (\w+)/.exec(lines[index] ?? '') ?? []
    if (count === undefined || word === undefined) break
    const ending = ENDINGS[word]
    if (ending) counts[ending] += Number(count)
  }
  return counts
}

/** The last line of a test run, e.g. `120 passed, 0 failed, 3 skipped`. */
export function formatSummary({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}

/** A test that failed at least once, with its file: `tests/a.test.ts: rating > is kept`. */
export interface Failure {
  name: string
  /** What it printed, at most `MAX_REASON_LINES`: its error with the stack. */
  reason: readonly string[]
  /** True if it passed when it was repeated. */
  hasPassed: boolean
}

/** Enough for an assertion with its place in the code; the whole output is above. */
const MAX_REASON_LINES = 40

const RESULT = /^\((pass|fail|skip|todo)\) (.*?)( \(attempt \d+\))?(?: \[[\d.]+m?s\])?$/

/** The tests of a `bun test` run that failed, or passed only when they were repeated. */
export function findFailures(output: string): Failure[] {
  const found = new Map<string, Failure>()
  let file = ''
  let reason: string[] = []
  for (const line of Bun.stripANSI(output).split('\n')) {
    // Bun repeats all failures at the end, without their files.
    if (/^\d+ tests? failed:$/.test(line)) break
    const [, name] = /^(\S+\.(?:test|e2e)\.tsx?):$/.exec(line) ?? []
    if (name !== undefined) file = name
    const [, result, test, attempt] = RESULT.exec(line) ?? []
    if (result === 'fail' || attempt !== undefined) {
      const failure = {
        name: `${file}: ${test}`,
        reason: reason.slice(0, MAX_REASON_LINES),
        hasPassed: result === 'pass',
      }
      if (!found.has(failure.name)) found.set(failure.name, failure)
    }
    if (name !== undefined || result !== undefined) reason = []
    else if (line.trim() !== '') reason.push(line)
  }
  return [...found.values()]
}

/** The failures for the end of a run: above them may be thousands of lines. */
export const formatFailures = (failures: readonly Pick<Failure, 'name' | 'reason'>[]): string =>
  failures
    .map(({ name, reason }) => [`  ${name}`, ...reason.map((line) => `      ${line}`)].join('\n'))
    .join('\n')
