import { chmodSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { fastestFolder } from '../../tests/support/supervised-server.ts'

/** More than the data of all tests that run at the same time, beside the database servers. */
const MIN_FREE_BYTES = 12 * 1024 ** 3

/** Volumes of tests that were interrupted (`mountSmallVolume`) are still mounted. */
const REMOVER = `
trap '' INT TERM HUP
cat >/dev/null
for volume in "$0"/sheaf-volume-*; do umount --lazy "$volume"; done
rm -rf "$0"`

/**
 * Creates the folder for the temporary files of a run, in memory if there is room: there, no commit waits for a disk. It is
 * removed when this process ends, also by `kill -9`.
 */
export function createRunFolder(): string {
  const folder = mkdtempSync(join(fastestFolder(MIN_FREE_BYTES), 'sheaf-run-'))
  // Some tests run servers as other users.
  chmodSync(folder, 0o1777)
  // The pipe to its stdin closes when this process ends.
  const remover = Bun.spawn(['/bin/sh', '-c', REMOVER, folder], {
    cwd: '/',
    stdin: 'pipe',
    stdout: 'ignore',
    stderr: 'ignore',
    detached: true,
  })
  remover.unref()
  return folder
}
