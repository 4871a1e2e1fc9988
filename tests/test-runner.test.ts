import { describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { divided, inParallel } from '../scripts/test/chunks.ts'
import { nameServer, takeDatabaseUrl } from '../scripts/test/database-url.ts'
import { homesOf, SUITES_FOR_EACH_HOME } from '../scripts/test/homes.ts'
import { LONG_FILES, PATIENT_FILES, WAITING_FILES } from '../scripts/test/long-files.ts'
import {
  findFailures,
  formatFailures,
  formatSummary,
  parseSummary,
  repeated,
} from '../scripts/test/summary.ts'
import { aptGet } from '../scripts/test/system-packages.ts'
import { createStages, formatFileTimes, watchFiles } from '../scripts/test/times.ts'

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

describe('--database-url', () => {
  const url = 'postgres://me:secret@db.example.com:5432/postgres'

  test('without a URL, with two, or of an unknown server is refused', () => {
    expect(() => takeDatabaseUrl(['tests', '--database-url'])).toThrow('needs a URL')
    expect(() => takeDatabaseUrl(['--database-url='])).toThrow('needs a URL')
    expect(() => takeDatabaseUrl(['--database-url', url, `--database-url=${url}`])).toThrow('once')
    const env: Record<string, string | undefined> = {}
    expect(() => nameServer('oracle://db.example.com/x', env)).toThrow('oracle://')
    expect(() => nameServer('db.example.com', env)).toThrow('db.example.com')
    expect(env).toEqual({})
  })

  test('is taken out of the arguments and names the server to the tests', () => {
    const rest = ['--home=postgres', 'tests/records']
    expect(takeDatabaseUrl(rest)).toEqual({ databaseUrl: null, rest })
    expect(takeDatabaseUrl(['--home=postgres', '--database-url', url, 'tests/records'])).toEqual({
      databaseUrl: url,
      rest,
    })
    expect(takeDatabaseUrl([...rest, `--database-url=${url}`])).toEqual({ databaseUrl: url, rest })
    const env: Record<string, string | undefined> = {}
    nameServer(url, env)
    nameServer('mysql://root@127.0.0.1:3306/test', env)
    expect(env).toEqual({ TEST_POSTGRES_URL: url, TEST_MARIADB_URL: 'mysql://root@127.0.0.1:3306/test' })
  })
})

test('failures are named with their files and errors, as often as they are counted', () => {
  const output = [
    'bun test v1.4.4',
    '',
    'tests/a.test.ts:',
    '(pass) one [1.00ms]',
    '12 |   expect(rating).toBe(4)',
    '',
    'error: expect(received).toBe(expected)',
    '\u001b[31m(fail)\u001b[0m rating > is kept [12.50ms]',
    '(fail) rating > is kept [13.50ms]',
    'tests/b.e2e.ts:',
    ...Array.from({ length: 90 }, (_, index) => `line ${index}`),
    '(fail) a page (fail) opens',
    '3 tests failed:',
    '(fail) rating > is kept [12.50ms]',
  ].join('\n')
  const [first, second, third, ...others] = findFailures(output)
  expect(first).toEqual({
    name: 'tests/a.test.ts: rating > is kept',
    file: 'tests/a.test.ts',
    reason: ['12 |   expect(rating).toBe(4)', 'error: expect(received).toBe(expected)'],
  })
  expect(second).toEqual({ ...first!, reason: [] })
  expect(third).toMatchObject({ name: 'tests/b.e2e.ts: a page (fail) opens', file: 'tests/b.e2e.ts' })
  expect(third?.reason).toHaveLength(40)
  expect(others).toEqual([])
  expect(
    formatFailures([
      { name: 'a', reason: ['error: b'] },
      { name: 'c', reason: [] },
    ]),
  ).toBe('  a\n      error: b\n  c')
})

test('a repeated file counts by what its second run gave, also with a failure that is new', () => {
  const failure = (file: string, test: string) => ({ name: `${file}: ${test}`, file, reason: [] })
  const [one, two, three] = [failure('a', 'one'), failure('a', 'two'), failure('a', 'three')]
  const other = failure('b', 'one')
  const first = { counts: { passed: 10, failed: 3, skipped: 1 }, failures: [one, other, two] }
  const again = (...failures: (typeof one)[]) => ({
    counts: { passed: 5 - failures.length, failed: failures.length, skipped: 1 },
    failures,
  })
  expect(repeated(first, 'a', again())).toEqual({
    outcome: { counts: { passed: 12, failed: 1, skipped: 1 }, failures: [other] },
    passed: [one, two],
  })
  expect(repeated(first, 'a', again(two))).toEqual({
    outcome: { counts: { passed: 11, failed: 2, skipped: 1 }, failures: [other, two] },
    passed: [one],
  })
  expect(repeated(first, 'a', again(one, two, three)).outcome.counts).toEqual({
    passed: 9,
    failed: 4,
    skipped: 1,
  })
})

test('the long files exist', () => {
  const files = [...LONG_FILES, ...WAITING_FILES, ...PATIENT_FILES]
  expect(files.filter((file) => !existsSync(file))).toEqual([])
})

test('files are divided into parts that get smaller at the end, and neighbours are apart', () => {
  const files = Array.from({ length: 60 }, (_, at) => at)
  const parts = divided(files, 2)
  expect(parts.map(({ length }) => length)).toEqual([10, 10, 10, 8, 6, 4, 3, 3, 2, 2, 2])
  expect(parts.flat().sort((one, other) => one - other)).toEqual(files)
  expect(parts[0]).toEqual([0, 6, 12, 18, 24, 30, 36, 42, 48, 54])
  expect(divided([1], 4)).toEqual([[1]])
  expect(divided([], 4)).toEqual([])
})

test('each part is worked on once', async () => {
  const done: number[] = []
  let most = 0
  let now = 0
  await inParallel([1, 2, 3, 4, 5], 2, async (item) => {
    most = Math.max(most, ++now)
    await Bun.sleep(1)
    now--
    done.push(item)
  })
  expect([done.sort(), most]).toEqual([[1, 2, 3, 4, 5], 2])
})

test('the time of a file goes from its heading to the next one, or to the summary', async () => {
  const child = Bun.spawn(['/bin/sh', '-c', 'while :; do :; done'], { stdio: ['ignore', 'ignore', 'ignore'] })
  const files = watchFiles(child.pid)
  files.read('bun test v1.4.4\n\n\u001b[1mtests/a.test.ts:\u001b[0m\n(pass) one: tests/x.test.ts:\n')
  // Beside other processes, it gets its share.
  await Bun.sleep(300)
  files.read('(pass) two [1.00ms]\ntests/b.e2')
  files.read('e.ts:\n')
  child.kill()
  await child.exited
  files.read(' 3 pass\n 0 fail\n')
  const [first, second, ...others] = files.end()
  expect([first, second, others]).toMatchObject([{ file: 'tests/a.test.ts' }, { file: 'tests/b.e2e.ts' }, []])
  expect(first?.clockMs).toBeGreaterThanOrEqual(299)
  if (process.platform === 'linux') expect(first?.processorMs).toBeGreaterThan(0)
})

test('files are listed by their processor time, and stages in their order', () => {
  const files = [
    { file: 'tests/a.test.ts', clockMs: 9_000, processorMs: 1_000 },
    { file: 'tests/b.test.ts', clockMs: 61_400, processorMs: 30_000 },
  ]
  expect(formatFileTimes(files)).toEqual([
    '   30 s in    61 s  tests/b.test.ts',
    '    1 s in     9 s  tests/a.test.ts',
  ])
  const stages = createStages()
  for (const name of ['preparation', 'tests', 'tests', 'quiet tests']) stages.begin(name)
  expect(stages.end().map((line) => line.replace(/ *\d+/g, ' N'))).toEqual([
    ' N s  preparation, processors N % busy',
    ' N s  tests, processors N % busy',
    ' N s  quiet tests, processors N % busy',
  ])
})

describe('aptGet', () => {
  test('is not called without apt, nor without root or sudo', () => {
    expect(aptGet({ hasApt: false, isRoot: true, hasPasswordlessSudo: true })).toBeNull()
    expect(aptGet({ hasApt: true, isRoot: false, hasPasswordlessSudo: false })).toBeNull()
  })

  test('asks nothing, and goes through sudo when not root', () => {
    const rights = { hasApt: true, isRoot: false, hasPasswordlessSudo: true }
    expect(aptGet(rights)?.join(' ')).toMatch(/^sudo -n env DEBIAN_FRONTEND=noninteractive apt-get /)
    expect(aptGet({ ...rights, isRoot: true })?.[0]).toBe('env')
  })
})

describe('homesOf', () => {
  test('every suite in the list is a test file, named once', () => {
    const files = SUITES_FOR_EACH_HOME.map((suite) => `${suite}.test.ts`)
    expect(files.filter((file) => !existsSync(join(import.meta.dir, file)))).toEqual([])
    expect(new Set(files).size).toBe(files.length)
    expect(files.length).toBeGreaterThanOrEqual(57)
  })

  test('runs a listed suite on both homes, any other file on SQLite only', () => {
    expect(homesOf('tests/records/undo.test.ts')).toEqual(['sqlite', 'postgres'])
    expect(homesOf('tests/test-runner.test.ts')).toEqual(['sqlite'])
  })

  test('runs only on the home that the caller names', () => {
    expect(homesOf('tests/records/undo.test.ts', 'postgres')).toEqual(['postgres'])
    expect(homesOf('tests/test-runner.test.ts', 'postgres')).toEqual([])
  })
})

test.each([
  [['--no-servers', 'tests/bench'], 'There are no tests in tests/bench'],
  [['--home=postgres', 'tests/servers'], 'None of these tests runs on postgres alone'],
])('a run without tests says why: %p', async (options, reason) => {
  const run = Bun.spawn([process.execPath, 'scripts/test.ts', ...options], {
    cwd: join(import.meta.dir, '..'),
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const output = await new Response(run.stdout).text()
  expect([await run.exited, output]).toEqual([1, expect.stringContaining(reason)])
})

test('a run ends although a test has left a process behind that holds its output', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sheaf-test-runner-'))
  try {
    const file = join(folder, 'leaves.test.ts')
    const pidFile = join(folder, 'pid')
    writeFileSync(
      file,
      `import { expect, test } from 'bun:test'
      test('leaves a process behind', async () => {
        const child = Bun.spawn(['sleep', '100'], { stdio: ['ignore', 'inherit', 'inherit'] })
        child.unref()
        expect(await Bun.write(${JSON.stringify(pidFile)}, String(child.pid))).toBeGreaterThan(0)
      })`,
    )
    const root = join(import.meta.dir, '..')
    const run = Bun.spawn([process.execPath, 'scripts/test.ts', '--no-servers', relative(root, file)], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const ended = await Promise.race([run.exited, Bun.sleep(60_000)])
    process.kill(Number(readFileSync(pidFile, 'utf8')))
    expect(ended).toBe(0)
    expect(await new Response(run.stdout).text()).toContain('1 passed, 0 failed')
  } finally {
    rmSync(folder, { recursive: true })
  }
})
