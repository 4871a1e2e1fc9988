import { readFileSync } from 'node:fs'

const CHECK_INTERVAL_MS = 500
/** npm exec, the shell it starts, `bun run`, and one to spare. */
const MAX_LAUNCHERS = 4

/**
 * Sends this process SIGTERM when the `npx` above it is gone. Told to stop, npx passes that on to its shell only, and
 * we would be left behind, still holding the port. Does nothing when npx is not above us, or where there is no /proc.
 */
export function stopWithNpx(): void {
  const launchers = findLaunchers()
  if (launchers.length === 0) return
  const timer = setInterval(() => {
    if (findLaunchers().join() === launchers.join()) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGTERM')
  }, CHECK_INTERVAL_MS)
  timer.unref()
}

/** Process ids from our parent up to npm's, or none. A process that lost its parent has another one. */
function findLaunchers(): number[] {
  const launchers: number[] = []
  let pid = process.ppid
  while (pid > 1 && launchers.length < MAX_LAUNCHERS) {
    launchers.push(pid)
    const found = readProcess(pid)
    if (found === null) return []
    if (/^npm /.test(found.command) || /\bnp[mx]-cli\.js$/m.test(found.command)) return launchers
    pid = found.parent
  }
  return []
}

function readProcess(pid: number): { parent: number; command: string } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // "pid (name) state parent ...", where the name may itself hold spaces and brackets.
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
    return { parent, command: readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', '\n') }
  } catch {
    return null // No /proc, or the process has just ended.
  }
}
