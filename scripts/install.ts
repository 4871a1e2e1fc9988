import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { bun, ROOT, run } from './project.ts'

// Which lockfile node_modules was last brought in line with. File times would not do: git sets them on every checkout.
const STAMP = join(ROOT, 'node_modules', '.sheaf-lockfile')

/**
 * Installs exactly what bun.lock says, unless that is already done. After installing, the calling script begins again:
 * a Bun that once found no node_modules goes on taking packages from its global cache.
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

/** Makes the sources complete: dependencies, and the modules that are generated from texts. */
export async function prepareSources(): Promise<void> {
  await installDependencies()
  // Imported late: a fresh clone has no compiler of texts before.
  const { generateMessages } = await import('./messages.ts')
  await generateMessages()
}
