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

/** A test that failed. */
export interface Failure {
  /** With its file: `tests/a.test.ts: rating > is kept`. */
  name: string
  /** Empty for a step that is not a test. */
  file: string
  /** What it printed, at most `MAX_REASON_LINES`: its error with the stack. */
  reason: readonly string[]
}

/** Enough for an assertion with its place in the code; the whole output is above. */
const MAX_REASON_LINES = 40

const RESULT = /^\((pass|fail|skip|todo)\) (.*?)(?: \[[\d.]+m?s\])?$/

/** The tests of a `bun test` run that failed. */
export function findFailures(output: string): Failure[] {
  const found: Failure[] = []
  let file = ''
  let reason: string[] = []
  for (const line of Bun.stripANSI(output).split('\n')) {
    // Bun repeats all failures at the end, without their files.
    if (/^\d+ tests? failed:$/.test(line)) break
    const [, name] = /^(\S+\.(?:test|e2e)\.tsx?):$/.exec(line) ?? []
    if (name !== undefined) file = name
    const [, result, test] = RESULT.exec(line) ?? []
    if (result === 'fail') {
      found.push({ name: `${file}: ${test}`, file, reason: reason.slice(0, MAX_REASON_LINES) })
    }
    if (name !== undefined || result !== undefined) reason = []
    else if (line.trim() !== '') reason.push(line)
  }
  return found
}

/** What a run of test files gave. */
export interface Outcome {
  counts: Counts
  failures: readonly Failure[]
}

/**
 * Replaces the failures of one file by those of a second run of that file.
 *
 * @returns the outcome, and the failures of the first run that did not come again
 */
export function repeated(
  { counts, failures }: Outcome,
  file: string,
  again: Outcome,
): { outcome: Outcome; passed: Failure[] } {
  const [own, others] = [
    failures.filter((failure) => failure.file === file),
    failures.filter((failure) => failure.file !== file),
  ]
  const fewer = own.length - again.failures.length
  return {
    outcome: {
      counts: { ...counts, passed: counts.passed + fewer, failed: counts.failed - fewer },
      failures: [...others, ...again.failures],
    },
    passed: own.filter(({ name }) => !again.failures.some((failure) => failure.name === name)),
  }
}

/** The failures for the end of a run: above them may be thousands of lines. */
export const formatFailures = (failures: readonly Pick<Failure, 'name' | 'reason'>[]): string =>
  failures
    .map(({ name, reason }) => [`  ${name}`, ...reason.map((line) => `      ${line}`)].join('\n'))
    .join('\n')
