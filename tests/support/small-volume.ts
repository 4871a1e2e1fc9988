import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A file system of a few megabytes that a test can fill up. */
export interface SmallVolume {
  path: string
  /** Unmounts it and discards its files. */
  remove(): void
}

/** Mounts a volume in memory, which takes Linux and the right to mount; otherwise returns the reason. */
export function mountSmallVolume(megabytes: number): SmallVolume | { reason: string } {
  if (process.platform !== 'linux') return { reason: `no tmpfs on ${process.platform}` }
  if (process.getuid?.() !== 0) return { reason: 'only root may mount a volume' }
  const path = mkdtempSync(join(tmpdir(), 'sheaf-volume-'))
  const mounted = run(['mount', '-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path])
  if (mounted !== null) {
    rmSync(path, { recursive: true })
    return { reason: `a volume cannot be mounted here: ${mounted}` }
  }
  return {
    path,
    remove() {
      const failure = run(['umount', path])
      // A process still has a file open; the volume is unmounted once it is closed.
      if (failure !== null && run(['umount', '--lazy', path]) !== null)
        throw new Error(`${path} cannot be unmounted: ${failure}`)
      rmSync(path, { recursive: true })
    },
  }
}

/** Runs a command; returns null, or its output if it failed. */
function run(command: string[]): string | null {
  try {
    const { success, stderr } = Bun.spawnSync(command, { stdout: 'ignore', stderr: 'pipe' })
    return success ? null : stderr.toString().trim() || 'failed'
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
