import { afterAll, expect, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, join, relative } from 'node:path'
import { WEB_OUTPUT, WEB_STAMP } from '../../scripts/web-stamp.ts'
import { startPostgres } from '../support/postgres.ts'
import { exerciseWorkers } from './executable-work.ts'

const ROOT = join(import.meta.dir, '../..')
/** On the disk of the packages, which are linked there instead of copied. */
const folder = mkdtempSync('/var/tmp/sheaf-image-')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Step {
  word: string
  text: string
}

/** The instructions of the Dockerfile by stage, with continued lines joined. */
function readStages(): Step[][] {
  const lines = readFileSync(join(ROOT, 'Dockerfile'), 'utf8').replaceAll('\\\n', ' ').split('\n')
  const steps = lines.flatMap((line): Step[] => {
    const [, word, text] = /^([A-Z]+) +(.+)$/.exec(line) ?? []
    return word && text ? [{ word, text: text.trim() }] : []
  })
  const stages: Step[][] = []
  for (const step of steps) {
    if (step.word === 'FROM') stages.push([])
    stages.at(-1)?.push(step)
  }
  return stages
}

const textsOf = (stage: Step[], word: string): string[] =>
  stage.filter((step) => step.word === word).map(({ text }) => text)

/** The files that `COPY . .` copies: all but those that .dockerignore and this checkout leave out. */
function copySources(to: string): void {
  const ignored = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n').filter(Boolean)
  cpSync(ROOT, to, {
    recursive: true,
    filter: (path) =>
      !ignored.some((name) => path === join(ROOT, name) || path.startsWith(`${join(ROOT, name)}/`)),
  })
}

async function run(command: string[], cwd: string, env: Record<string, string> = {}): Promise<string> {
  const child = Bun.spawn(command, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  if ((await child.exited) !== 0) throw new Error(`${command.join(' ')} failed:\n${output.join('\n')}`)
  return output.join('\n')
}

/** A server that has not started by then does not start. */
const START_MS = 60_000

/** Repeats a health check until it succeeds. */
async function expectHealthy(check: () => Promise<string>): Promise<void> {
  const deadline = performance.now() + START_MS
  const isHealthy = () => check().then(Boolean, () => false)
  while (!(await isHealthy()) && performance.now() < deadline) await Bun.sleep(200)
  expect(await isHealthy()).toBe(true)
}

/** Runs as a user without rights, if this process may change its user. */
const unprivileged =
  process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : []

// Containers cannot run everywhere, so the steps of the Dockerfile run here, in folders that are as empty as an image's.
test('the steps of the Dockerfile build an executable that serves as a user without rights', async () => {
  const [build, image] = readStages()
  if (!build || !image) throw new Error('The Dockerfile has two stages')
  const source = join(folder, 'source')
  mkdirSync(source)
  for (const { word, text } of build) {
    if (word === 'COPY' && text === '. .') {
      copySources(source)
      // The last build of the web app. If these sources are the same, `bun run build` takes it; else the compressed files that are.
      for (const built of [WEB_OUTPUT, WEB_STAMP])
        if (existsSync(built)) cpSync(built, join(source, relative(ROOT, built)), { recursive: true })
    } else if (word === 'COPY') {
      const [target = '', ...names] = text.split(/ +/).toReversed()
      for (const name of names) {
        const to = statSync(join(ROOT, name)).isDirectory() ? target : join(target, name)
        cpSync(join(ROOT, name), join(source, to), { recursive: true })
      }
    } else if (word === 'RUN') {
      await run(
        ['sh', '-c', text.replaceAll('/source', source).replace(/^bun /, `${process.execPath} `)],
        source,
      )
    }
  }
  expect(textsOf(image, 'FROM')).toHaveLength(1)
  expect(textsOf(image, 'USER')).toEqual(['sheaf'])
  expect(textsOf(image, 'VOLUME')).toEqual(['/data'])
  const [copied = ''] = textsOf(image, 'COPY')
  const [, built = '', target = ''] = /^--from=build (\S+) (\S+)$/.exec(copied) ?? []
  const binary = join(folder, basename(target))
  cpSync(built.replace('/source', source), binary)
  // The sources are not in the image.
  rmSync(source, { recursive: true })
  const data = join(folder, 'data')
  mkdirSync(data, { mode: 0o700 })
  for (const path of [folder, binary]) chmodSync(path, 0o755)
  if (unprivileged.length > 0) chownSync(data, 65_534, 65_534)

  const probe = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  const port = String(probe.port)
  await probe.stop(true)
  const env = Object.fromEntries((textsOf(image, 'ENV')[0] ?? '').split(/ +/).map((pair) => pair.split('=')))
  expect(env).toMatchObject({ HOST: '0.0.0.0', DATA_DIR: '/data' })
  const settings = { ...env, HOST: '127.0.0.1', PORT: port, DATA_DIR: data, DATABASE_URL: '' }
  const start = [...unprivileged, binary]
  expect(await run([...start, 'check'], folder, settings)).toContain('Nothing is wrong.')
  let server = Bun.spawn(start, { cwd: folder, env: settings, stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const [, check = ''] = /CMD (\[.+\])$/.exec(textsOf(image, 'HEALTHCHECK')[0] ?? '') ?? []
    const [program, ...args] = JSON.parse(check) as string[]
    expect(program).toBe('sheaf')
    await expectHealthy(() => run([...start, ...args], folder, settings))
    const page = await fetch(`http://127.0.0.1:${port}/`)
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<title>')])
    expect(statSync(join(data, 'sheaf.db')).uid).toBe(
      unprivileged.length > 0 ? 65_534 : (process.getuid?.() ?? 0),
    )
    await exerciseWorkers(`http://127.0.0.1:${port}`, server.pid)
  } finally {
    server.kill('SIGTERM')
  }
  expect(await server.exited).toBe(0)
  await expect(run([...start, 'health'], folder, settings)).rejects.toThrow()

  const database = await startPostgres()
  const shared = { ...settings, DATABASE_URL: database.url }
  server = Bun.spawn(start, { cwd: folder, env: shared, stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    await expectHealthy(() => run([...start, 'health'], folder, shared))
    await exerciseWorkers(`http://127.0.0.1:${port}`, server.pid)
  } finally {
    server.kill('SIGTERM')
    await server.exited
    await database.stop()
  }
}, 600_000)
