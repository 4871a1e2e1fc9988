import { join } from 'node:path'

// Only Bun and node modules here and in start.ts, install.ts and build-web.ts: they run before `bun install` has.

/** Folder of the project, whatever the working directory. */
export const ROOT = join(import.meta.dir, '..')

/** Arguments that run another script or command with this very Bun, whether or not `bun` is on the PATH. */
export const bun = (...args: string[]): string[] => [process.execPath, ...args]

/** Runs a command in the project folder with our terminal, and gives its exit code (128 + n after signal n). */
export async function run(command: readonly string[], env: Record<string, string> = {}): Promise<number> {
  const child = Bun.spawn([...command], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['inherit', 'inherit', 'inherit'],
  })
  return await child.exited
}
