import { statSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { findTestBrowser } from '../tests/support/find-binary.ts'
import { startMariadb } from '../tests/support/mariadb.ts'
import { POSTGRES_TEMPLATE, startPostgres } from '../tests/support/postgres.ts'
import type { PrivateServer } from '../tests/support/supervised-server.ts'
import { prepareSources } from './install.ts'
import { stopWithNpx } from './launcher.ts'
import { bun, ROOT } from './project.ts'
import { divided, inParallel } from './test/chunks.ts'
import { nameServer, takeDatabaseUrl } from './test/database-url.ts'
import { type Home, homesOf } from './test/homes.ts'
import { LONG_FILES, PATIENT_FILES, WAITING_FILES } from './test/long-files.ts'
import { createRunFolder } from './test/run-folder.ts'
import { bundleServer } from './test/server-bundle.ts'
import {
  type Counts,
  type Failure,
  findFailures,
  formatFailures,
  formatSummary,
  type Outcome,
  parseSummary,
  repeated,
} from './test/summary.ts'
import { ensureSystemPackages } from './test/system-packages.ts'
import { E2E_TIMEOUT_MS, TEST_TIMEOUT_MS, WAITING_TIMEOUT_MS } from './test/timeouts.ts'
import { createStages, type FileTime, formatFileTimes, watchFiles } from './test/times.ts'

/*
 * `bun run test` checks the sources and runs all tests with SQLite, private PostgreSQL and MariaDB servers,
 * and a browser. The check runs beside the first tests, in the time that these leave to it. The last line is
 * `N passed, N failed`, with `, N skipped` if there are any; failed tests are listed above it.
 *
 * Files run in parallel processes, browser tests last. Backups work at the lowest priority: in a whole run, their tests and
 * others that mostly wait have one more process, which uses what the others leave idle. Files that kill servers
 * (`*.killed.test.ts`) or measure the memory and processor time of a server of their own (`*.measured.test.ts`) come first: each
 * takes long, in a process of its own. Tests with limits by the clock, which other processes would break, are named
 * `*.quiet.test.ts` and run afterwards, one at a time except for those that mostly wait. At the end of a whole run, each file with a test that failed runs once more,
 * alone. A failure that does not come again depends on time or on other tests, and is listed above those that do.
 *
 * Suites listed in `test/homes.ts` run twice: on SQLite, and with metadata and base tables in PostgreSQL.
 *
 * `bun run test tests/rating.test.ts tests/e2e` runs only those files, without the check; servers start on
 * demand. `--home=sqlite` or `--home=postgres` runs them on that home only. `--no-servers` installs and
 * starts nothing beforehand and implies `--home=sqlite`. `--database-url postgres://…` tests against that
 * server instead of a private one. Other options go to `bun test` (`--bail`, `-t=name`).
 */

/**
 * Keeps memory once it has been used: on virtual machines a new page costs so much that tests take an eighth less processor time.
 * Tests that measure run as the product does.
 */
const KEPT_MEMORY = { MIMALLOC_PURGE_DELAY: '-1' }

/** Wait for the last output of a process that has ended. */
const LAST_OUTPUT_MS = 3_000

const PROCESSORS = Math.max(1, Math.min(4, navigator.hardwareConcurrency))
/**
 * Parallel processes: one more than there are processors, because tests wait for timers, files and database servers, and a
 * browser and its test for each other.
 */
const WORKERS = PROCESSORS + 1
/** Files that are repeated at most: if more fail, it is not by chance. */
const MAX_REPEATED = 10

const given = takeDatabaseUrlOrExit()
const options = given.filter((argument) => argument.startsWith('-'))
const wanted = given.filter((argument) => !argument.startsWith('-'))
const isWhole = wanted.length === 0
const mayPrepare = !options.includes('--no-servers')
const bunOptions = options.filter((option) => option !== '--no-servers' && !option.startsWith('--home='))

const runs: { part: Part; outcome: Outcome }[] = []
/** Failures of everything but tests. */
const faults: Failure[] = []
/** Failures that did not come again. */
const passedLater: Failure[] = []
const servers: PrivateServer[] = []
const fileTimes: FileTime[] = []
const stages = createStages()
const running = new Set<Bun.Subprocess>()
let isInterrupted = false

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (isInterrupted) process.exit(1) // The servers end by themselves when we are gone.
    isInterrupted = true
    for (const child of running) child.kill()
  })
}
stopWithNpx()

try {
  stages.begin('preparation')
  const onlyHome = mayPrepare ? readHome(options) : 'sqlite'
  await prepare()
  const files = (isWhole ? ['tests'] : wanted).flatMap(findTestFiles)
  const filesOn = (home: Home) => files.filter((file) => homesOf(file, onlyHome).includes(home))
  const onSqlite = Object.groupBy(filesOn('sqlite'), kindOf)
  const onPostgres = Object.groupBy(filesOn('postgres'), (file) => (isWaiting(file) ? 'waiting' : 'other'))
  if (Object.keys(onSqlite).length + Object.keys(onPostgres).length === 0)
    throw new Error(
      `None of these tests runs on ${onlyHome} alone: scripts/test/homes.ts lists those that do`,
    )
  const { e2e = [], quiet = [], separate = [] } = onSqlite
  await Promise.all([
    isWhole && provideServers(),
    (isWhole || e2e.length > 0) && runStep('Building the web app', 'scripts/build-web.ts'),
  ])
  stages.begin('tests')
  // Not beside the build, for which everything waits.
  const checked = isWhole ? runStep('The check', 'scripts/check.ts', { isBeside: true }) : null
  const waiting = onSqlite.waiting ?? []
  const waitingParts: Part[] = [
    ...waiting.filter(isKilling).map((file) => ({ files: [file], timeoutMs: WAITING_TIMEOUT_MS })),
    { files: waiting.filter((file) => !isKilling(file)), timeoutMs: WAITING_TIMEOUT_MS },
    { files: onPostgres.waiting ?? [], home: 'postgres', timeoutMs: WAITING_TIMEOUT_MS },
  ]
  const parts = [
    ...separate.map((file): Part => ({ files: [file], isMeasured: file.endsWith('.measured.test.ts') })),
    ...split(onPostgres.other ?? [], WORKERS, { home: 'postgres' }),
    ...split(onSqlite.other ?? [], WORKERS),
  ]
  const browserParts = split(e2e, WORKERS, { timeoutMs: E2E_TIMEOUT_MS })
  const isOne = parts.length + browserParts.length === 1
  const run = (part: Part) => {
    if (browserParts.includes(part)) stages.begin('browser tests')
    return runTests(part, !isOne)
  }
  await Promise.all([
    inParallel(waitingParts, 1, run),
    inParallel([...parts, ...browserParts], WORKERS, run),
    checked,
  ])
  stages.begin('quiet tests')
  const quietParts = Object.values(Object.groupBy(quiet, (file) => String(PATIENT_FILES.includes(file))))
  await inParallel(quietParts, quietParts.length, (files = []) =>
    runTests({ files, isMeasured: true }, quietParts.length > 1),
  )
  if (isWhole) await repeatFailed()
} catch (error) {
  fail(error)
} finally {
  await Promise.all(servers.map((server) => server.stop()))
}
if (isInterrupted) fail('Interrupted')
if (isWhole) {
  console.log(`\nStages:\n${stages.end().join('\n')}`)
  console.log(`\nFiles, by their processor time:\n${formatFileTimes(fileTimes).join('\n')}\n`)
}
const failures = [...runs.flatMap(({ outcome }) => outcome.failures), ...faults]
const counts: Counts = { passed: 0, failed: faults.length, skipped: 0 }
for (const { outcome } of runs) {
  counts.passed += outcome.counts.passed
  counts.failed += outcome.counts.failed
  counts.skipped += outcome.counts.skipped
}
if (passedLater.length > 0) console.log(`\nPassed only when repeated:\n${formatFailures(passedLater)}\n`)
if (failures.length > 0) console.log(`\nFailed:\n${formatFailures(failures)}\n`)
console.log(formatSummary(counts))
process.exit(counts.failed > 0 || counts.passed === 0 ? 1 : 0)

/** The arguments without `--database-url`, whose server the tests get. */
function takeDatabaseUrlOrExit(): string[] {
  try {
    const { databaseUrl, rest } = takeDatabaseUrl(process.argv.slice(2))
    if (databaseUrl !== null) nameServer(databaseUrl, process.env)
    return rest
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exit(1)
  }
}

/** Prepares the sources and finds the browser that tests use. */
async function prepare(): Promise<void> {
  await prepareSources()
  if (mayPrepare) await ensureSystemPackages()
  process.env.CHROMIUM_PATH ||= findTestBrowser() ?? ''
  if (isWhole) process.env.TMPDIR = createRunFolder()
}

/** Bundles the server and starts database servers for all tests, which find them through environment variables. */
async function provideServers(): Promise<void> {
  await Promise.all([
    bundleServer().then((variables) => Object.assign(process.env, variables)),
    mayPrepare &&
      offerServer('TEST_POSTGRES_URL', startPostgres, { TEST_POSTGRES_TEMPLATE: POSTGRES_TEMPLATE }),
    mayPrepare && offerServer('TEST_MARIADB_URL', startMariadb),
  ])
}

/** @param also variables that hold for a private server only */
async function offerServer(
  variable: string,
  start: () => Promise<PrivateServer>,
  also: Record<string, string> = {},
): Promise<void> {
  if (process.env[variable]) return
  const server = await start()
  servers.push(server)
  Object.assign(process.env, { [variable]: server.url }, also)
}

/**
 * Runs a script; an error counts as one failure.
 *
 * @param isBeside at a low priority, with its output held back until it ends, because others run at the same time
 */
async function runStep(what: string, script: string, { isBeside = false } = {}): Promise<void> {
  const { exitCode, output } = await stream(bun(script), { isHeldBack: isBeside, isLowPriority: isBeside })
  if (exitCode !== 0) fail(`${what} failed`, isBeside ? output.trim().split('\n') : [])
}

/** Test files that run sequentially in one process. */
interface Part {
  files: readonly string[]
  home?: Home
  /** True for tests that measure time or memory. */
  isMeasured?: boolean
  /** `TEST_TIMEOUT_MS` if absent. */
  timeoutMs?: number
}

/** When and where a file runs. */
function kindOf(file: string): 'e2e' | 'quiet' | 'waiting' | 'separate' | 'other' {
  if (file.endsWith('.e2e.ts')) return 'e2e'
  if (file.endsWith('.quiet.test.ts')) return 'quiet'
  if (isWaiting(file)) return 'waiting'
  return isKilling(file) || file.endsWith('.measured.test.ts') ? 'separate' : 'other'
}

/** True for files that leave processors to others. In a run of some files they may have all processes. */
function isWaiting(file: string): boolean {
  return isWhole && (file.startsWith('tests/backups/') || WAITING_FILES.includes(file))
}

function isKilling(file: string): boolean {
  return file.endsWith('.killed.test.ts')
}

/**
 * Distributes files over parts for parallel processes; few files stay in one part. Long files are parts of their own and come
 * first, so that no long part is left at the end.
 */
function split(files: readonly string[], workers: number, each: Omit<Part, 'files'> = {}): Part[] {
  if (files.length === 0) return []
  const isSplit = workers > 1 && files.length > workers
  const long = isSplit ? LONG_FILES.filter((file) => files.includes(file)) : []
  const others = files.filter((file) => !long.includes(file))
  const parts = isSplit ? divided(others, workers) : [others]
  return [...long.map((file) => [file]), ...parts].map((part) => ({ files: part, ...each }))
}

/** @param isHeldBack holds its output until it ends, because others print at the same time */
async function runTests(part: Part, isHeldBack = false): Promise<void> {
  if (part.files.length === 0 || isInterrupted) return
  runs.push({ part, outcome: await runPart(part, isHeldBack) })
}

/** Runs each file with failures once more, alone. */
async function repeatFailed(): Promise<void> {
  const failed = runs.flatMap((run) =>
    [...new Set(run.outcome.failures.map(({ file }) => file))].map((file) => ({ run, file })),
  )
  if (failed.length > MAX_REPEATED) return
  for (const { run, file } of failed) {
    if (isInterrupted) return
    stages.begin('repeated tests')
    const { outcome, passed } = repeated(run.outcome, file, await runPart({ ...run.part, files: [file] }))
    run.outcome = outcome
    passedLater.push(...passed)
  }
}

/** Runs test files in one `bun test`. */
async function runPart(
  { files, home, isMeasured, timeoutMs = TEST_TIMEOUT_MS }: Part,
  isHeldBack = false,
): Promise<Outcome> {
  const paths = files.map((file) => `./${file}`)
  const preload = process.env.TEST_SCRIPTS ? ['--preload=./tests/support/preload-scripts.ts'] : []
  const startedAt = performance.now()
  const {
    exitCode,
    errorOutput,
    files: times,
  } = await stream(bun('test', `--timeout=${timeoutMs}`, ...preload, ...bunOptions, ...paths), {
    isHeldBack,
    variables: { ...(isMeasured ? {} : KEPT_MEMORY), ...(home === undefined ? {} : { TEST_HOME: home }) },
  })
  fileTimes.push(
    ...times.map((each) => (home === undefined ? each : { ...each, file: `${each.file} (${home})` })),
  )
  if (isHeldBack) {
    const processorMs = times.reduce((sum, each) => sum + each.processorMs, 0)
    const [now, took, busy] = [performance.now(), performance.now() - startedAt, processorMs].map((ms) =>
      (ms / 1000).toFixed(0),
    )
    console.error(`At ${now} s, after ${took} s with ${busy} s of processor time\n`)
  }
  const counts = parseSummary(errorOutput) ?? { passed: 0, failed: 0, skipped: 0 }
  if (exitCode !== 0 && counts.failed === 0 && !isInterrupted)
    fail(`bun test ended with exit code ${exitCode}: ${paths.join(' ')}`)
  const failures = findFailures(errorOutput).map((failure) =>
    home === undefined ? failure : { ...failure, name: `${failure.name} (on ${home})` },
  )
  return { counts, failures }
}

/** The value of `--home=`; null if absent. */
function readHome(given: readonly string[]): Home | null {
  const home = given.find((option) => option.startsWith('--home='))?.slice('--home='.length)
  if (home === undefined || home === 'sqlite' || home === 'postgres') return home ?? null
  throw new Error(`There is no home ${home}: --home takes sqlite or postgres`)
}

/** Test files at a path in the project (a file or a folder), sorted. */
function findTestFiles(path: string): string[] {
  const found = statSync(join(ROOT, path), { throwIfNoEntry: false })
  if (!found) throw new Error(`There is no ${path}`)
  if (!found.isDirectory()) return [relative(ROOT, resolve(ROOT, path))]
  const names = [...new Bun.Glob('**/*.{test.ts,test.tsx,e2e.ts}').scanSync(join(ROOT, path))]
  if (names.length === 0) throw new Error(`There are no tests in ${path}`)
  return names.map((name) => join(path, name)).sort()
}

/** @param details what is repeated at the end of the run, because the output between is long */
function fail(reason: unknown, details: readonly string[] = []): void {
  const message = reason instanceof Error ? reason.message : String(reason)
  console.error(message)
  faults.push({ name: message, file: '', reason: details })
}

interface StreamOptions {
  isHeldBack?: boolean
  isLowPriority?: boolean
  variables?: Record<string, string>
}

/**
 * Runs a command and forwards its output, immediately or once it has ended.
 *
 * @returns also the times of the test files that it ran
 */
async function stream(
  command: string[],
  { isHeldBack = false, isLowPriority = false, variables = {} }: StreamOptions,
): Promise<{ exitCode: number; output: string; errorOutput: string; files: FileTime[] }> {
  if (isInterrupted) return { exitCode: 0, output: '', errorOutput: '', files: [] }
  const env = { ...process.env, ...variables, ...(process.stdout.isTTY ? { FORCE_COLOR: '1' } : {}) }
  const child = Bun.spawn(command, { cwd: ROOT, env, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  if (isLowPriority) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL)
  running.add(child)
  const watch = watchFiles(child.pid)
  const held: Uint8Array[] = []
  let output = ''
  let errorOutput = ''
  async function pass(from: ReadableStream<Uint8Array>, to: NodeJS.WriteStream, isError: boolean) {
    const decoder = new TextDecoder()
    for await (const chunk of from) {
      if (isHeldBack) held.push(chunk)
      else to.write(chunk)
      const text = decoder.decode(chunk, { stream: true })
      output += text
      if (!isError) continue
      errorOutput += text
      watch.read(text)
    }
  }
  const passed = Promise.all([
    pass(child.stdout, process.stdout, false),
    pass(child.stderr, process.stderr, true),
  ])
  const exitCode = await child.exited
  // A server that a failed test has left behind keeps the pipes open.
  await Promise.race([passed, Bun.sleep(LAST_OUTPUT_MS)])
  running.delete(child)
  for (const chunk of held) process.stderr.write(chunk)
  return { exitCode, output, errorOutput, files: watch.end() }
}
