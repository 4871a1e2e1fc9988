import { join } from 'node:path'

// This file, start.ts, install.ts and build-web.ts may import only Bun and Node modules: they run before `bun install`.

/** Folder of the project, independent of the working directory. */
export const ROOT = join(import.meta.dir, '..')

/** Arguments that run a script or command with the current Bun, even if `bun` is not on the PATH. */
export const bun = (...args: string[]): string[] => [process.execPath, ...args]

/** Runs a command in the project folder with this terminal; returns its exit code (128 + n after signal n). */
export async function run(command: readonly string[], env: Record<string, string> = {}): Promise<number> {
  const child = Bun.spawn([...command], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['inherit', 'inherit', 'inherit'],
  })
  return await child.exited
}
