import { describe, expect, test } from 'bun:test'
import { formatSummary, parseSummary } from '../scripts/test/summary.ts'
import { planInstall } from '../scripts/test/system-packages.ts'

describe('parseSummary', () => {
  test('gives null for a run that was cut off', () => {
    expect(parseSummary('(pass) a [1.00ms]\n 12 pass\n')).toBeNull()
  })

  test('reads the block above the last line, not what a test printed', () => {
    const output = [
      ' 99 pass',
      'Ran 99 tests across 1 file. [1.00ms]',
      '(pass) prints a summary of its own',
      '',
      '\u001b[32m 12 pass\u001b[0m',
      ' 2 skip',
      ' 1 todo',
      ' 1 fail',
      ' 1 error',
      ' 40 expect() calls',
      'Ran 16 tests across 3 files. [11.00ms]',
    ].join('\n')
    expect(parseSummary(output)).toEqual({ passed: 12, failed: 1, skipped: 3 })
  })
})

describe('formatSummary', () => {
  test('names skipped tests only when there are any', () => {
    expect(formatSummary({ passed: 3, failed: 0, skipped: 0 })).toBe('3 passed, 0 failed')
    expect(formatSummary({ passed: 3, failed: 1, skipped: 2 })).toBe('3 passed, 1 failed, 2 skipped')
  })
})

describe('planInstall', () => {
  test('gives up without apt, and without root or sudo', () => {
    expect(planInstall(['chromium'], { hasApt: false, isRoot: true, hasPasswordlessSudo: true })).toBeNull()
    expect(planInstall(['chromium'], { hasApt: true, isRoot: false, hasPasswordlessSudo: false })).toBeNull()
  })

  test('installs only what is named, through sudo when not root', () => {
    const rights = { hasApt: true, isRoot: false, hasPasswordlessSudo: true }
    const commands = (planInstall(['chromium'], rights) ?? []).map((command) => command.join(' '))
    expect(commands).toHaveLength(2)
    expect(commands[0]).toMatch(/^sudo -n env DEBIAN_FRONTEND=noninteractive apt-get .*update$/)
    expect(commands[1]).toMatch(/^sudo -n env .* install -y --no-install-recommends chromium$/)
    expect(planInstall(['chromium'], { ...rights, isRoot: true })?.[0]?.[0]).toBe('env')
  })
})
