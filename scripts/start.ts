import { watch } from 'node:fs'
import { join } from 'node:path'
import { prepareSources } from './install.ts'
import { stopWithNpx } from './launcher.ts'
import { bun, ROOT, run } from './project.ts'
import { fingerprintWeb, isWebStale } from './web-stamp.ts'

// This file must not need node_modules, which a fresh clone does not have.

const REBUILD_DELAY_MS = 100

/** `bun run start`: installs and builds missing parts, then runs the server in this process. */
async function start(): Promise<void> {
  await prepareSources()
  // A command such as `check` needs no web app.
  const isCommand = process.argv.length > 2
  if (!isCommand && (await isWebStale(await fingerprintWeb(true)))) {
    console.log('Building the web app, once for each version; this takes about a minute')
    // In a separate process, so that the server does not retain the bundler's memory.
    const exitCode = await run(bun('scripts/build-web.ts'))
    if (exitCode !== 0) process.exit(exitCode)
  }
  process.env.NODE_ENV = 'production'
  await import('../src/main.ts')
}

/** `bun run dev`: restarts the server when its sources change, and rebuilds the web app when its sources change. */
async function develop(): Promise<void> {
  await prepareSources()
  const build = () => run(bun('scripts/build-web.ts', '--development'))
  await build()
  let pending: Timer | undefined
  const rebuildSoon = () => {
    clearTimeout(pending)
    pending = setTimeout(() => {
      build().catch(console.error)
    }, REBUILD_DELAY_MS)
  }
  for (const folder of ['web', 'src/core']) watch(join(ROOT, folder), { recursive: true }, rebuildSoon)
  const server = Bun.spawn(bun('--watch', 'src/main.ts'), {
    cwd: ROOT,
    env: { ...process.env, NODE_ENV: 'development' },
    stdio: ['inherit', 'inherit', 'inherit'],
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => server.kill(signal))
  process.exit(await server.exited)
}

stopWithNpx()
await (process.argv.includes('--watch') ? develop() : start())
