import { chmodSync } from 'node:fs'

/**
 * Lets this process only read a file. The result undoes that; null if it is not possible: root may write to any file
 * that is not mounted read-only, and needs a right to mount.
 */
export function writeProtect(path: string): (() => void) | null {
  if (process.getuid?.() !== 0) {
    chmodSync(path, 0o400)
    return () => chmodSync(path, 0o600)
  }
  const run = (...command: string[]) => Bun.spawnSync(command).exitCode === 0
  if (!run('mount', '--bind', path, path)) {
    console.log('skipped: root may not mount here')
    return null
  }
  const unmount = () => {
    // Lazily: a process that was to refuse the file may have it open.
    run('umount', '--lazy', path)
  }
  if (run('mount', '-o', 'remount,ro,bind', path)) return unmount
  unmount()
  console.log('skipped: root may not mount read-only here')
  return null
}
