import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { bun, ROOT, run } from './project.ts'

// Hash of the lockfile that node_modules was last installed from. Modification times are useless: git sets
// them on every checkout.
const STAMP = join(ROOT, 'node_modules', '.sheaf-lockfile')

/**
 * Installs the dependencies of bun.lock if they have changed. After installing, the calling script restarts:
 * a Bun process that found no node_modules keeps using packages from its global cache.
 * @throws Error when `bun install` fails
 */
export async function installDependencies(): Promise<void> {
  const lockfile = Bun.hash(await Bun.file(join(ROOT, 'bun.lock')).bytes()).toString(16)
  if (existsSync(STAMP) && (await Bun.file(STAMP).text()) === lockfile) return
  console.log('Installing dependencies')
  const exitCode = await run(bun('install', '--frozen-lockfile'))
  if (exitCode !== 0) throw new Error(`bun install --frozen-lockfile failed (exit code ${exitCode})`)
  await Bun.write(STAMP, lockfile)
  const again = bun(...process.argv.slice(1))
  process.execve?.(process.execPath, again, { ...process.env })
  process.exit(await run(again)) // Windows has no execve.
}

/** Installs dependencies and generates the message modules. */
export async function prepareSources(): Promise<void> {
  await installDependencies()
  // Imported dynamically: it needs packages that a fresh clone does not have.
  const { generateMessages } = await import('./messages.ts')
  await generateMessages()
}
