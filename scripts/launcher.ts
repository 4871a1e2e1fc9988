import { readFileSync } from 'node:fs'

const CHECK_INTERVAL_MS = 500
/** `npm exec`, its shell, `bun run`, and one spare. */
const MAX_LAUNCHERS = 4

/**
 * Sends this process SIGTERM when the `npx` that started it ends. npx forwards signals only to its shell, so
 * that the server would keep running and occupy the port. Has no effect without npx or without /proc.
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

/**
 * Process ids from our parent up to npm; empty without npm. Orphaned processes get a new parent, which
 * changes the list.
 */
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
    // "pid (name) state parent ...", where the name may contain spaces and brackets.
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
    return { parent, command: readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', '\n') }
  } catch {
    return null // No /proc, or the process has just ended.
  }
}
