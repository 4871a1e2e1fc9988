import { chownSync, existsSync, mkdtempSync, readFileSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A running private database server. */
export interface PrivateServer {
  /** Administrator's connection URL on 127.0.0.1, with its password. */
  url: string
  /** Stops the server; resolves when its files are removed. Safe to call twice. */
  stop(): Promise<void>
}

/** A temporary folder and the system user whose server may write to it. */
interface ServerHome {
  dir: string
  /** Command prefix for running as that user; empty if we are not root. */
  runAs: readonly string[]
}

const READY_TIMEOUT_MS = 60_000
const POLL_MS = 50

// The server lives as long as the pipe to its stdin, which closes however this process ends, even by kill -9;
// `bun test` has no exit hook. The supervisor then stops the server and removes its folder.
const SUPERVISOR = `
exec 3<&0
dir=$1 signal=$2; shift 2
"$@" </dev/null 3<&- >>"$dir/server.log" 2>&1 &
server=$!
trap '' PIPE # With our parent gone, a word on stderr would kill us before the clean-up.
{ cat <&3 >/dev/null; kill -s "$signal" "$server"; } 2>/dev/null &
watcher=$!
wait "$server"; code=$?
kill "$watcher" 2>/dev/null
[ "$code" = 0 ] || tail -n 20 "$dir/server.log" >&2
rm -rf "$dir"
exit "$code"`

/** Linux's file system in memory. */
const IN_MEMORY = '/dev/shm'
/** More than the servers of a whole run store at once. */
const MIN_FREE_BYTES = 8 * 1024 ** 3

/** The file system in memory if it has room: there, creating a database takes a quarter of the processor time. */
export function fastestFolder(minFreeBytes = MIN_FREE_BYTES): string {
  if (!existsSync(IN_MEMORY)) return tmpdir()
  const { bavail, bsize } = statfsSync(IN_MEMORY)
  return bavail * bsize >= minFreeBytes ? IN_MEMORY : tmpdir()
}

/**
 * Creates a temporary folder for a server. As root, its owner is the first existing user of `users`, because
 * PostgreSQL refuses to run as root.
 *
 * @param isDurable on the disk, for measurements; otherwise in memory if there is room
 */
export function createServerHome(
  name: string,
  users: readonly string[],
  { isDurable = false } = {},
): ServerHome {
  const dir = mkdtempSync(join(isDurable ? tmpdir() : fastestFolder(), `sheaf-${name}-`))
  if (process.getuid?.() !== 0) return { dir, runAs: [] }
  const passwd = readFileSync('/etc/passwd', 'utf8')
  for (const user of users) {
    const [, uid, gid] = new RegExp(`^${user}:[^:]*:(\\d+):(\\d+):`, 'm').exec(passwd) ?? []
    if (uid === undefined || gid === undefined) continue
    chownSync(dir, Number(uid), Number(gid))
    return { dir, runAs: ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--'] }
  }
  throw new Error(`None of the users ${users.join(', ')} exists to run ${name} as`)
}

/**
 * Starts `command` under a supervisor that stops it with `signal` and removes `dir` as soon as this process
 * ends. Resolves once `isReady` does not throw.
 * @throws Error with the end of the server's log if it ends early or is not ready within a minute
 */
export async function startSupervised(options: {
  dir: string
  signal: 'QUIT' | 'INT' | 'KILL' | 'TERM'
  command: readonly string[]
  isReady: () => Promise<unknown>
}): Promise<() => Promise<void>> {
  const { dir, signal, command, isReady } = options
  const supervisor = Bun.spawn(['/bin/sh', '-c', SUPERVISOR, 'supervisor', dir, signal, ...command], {
    cwd: '/',
    stdin: 'pipe',
    stdout: 'ignore',
    stderr: 'pipe',
    detached: true, // Ctrl-C in the terminal is ours to handle, not the server's.
  })
  supervisor.unref()
  const stop = async () => {
    await supervisor.stdin.end()
    await supervisor.exited
  }
  const deadline = Date.now() + READY_TIMEOUT_MS
  for (;;) {
    const failure = await isReady().then(
      () => null,
      (error: unknown) => String(error),
    )
    if (failure === null) return stop
    if (supervisor.exitCode !== null || Date.now() > deadline) {
      await stop()
      const log = await new Response(supervisor.stderr).text()
      throw new Error(`${command.join(' ')}\ndid not start: ${failure}\n${log}`)
    }
    await Bun.sleep(POLL_MS)
  }
}

/**
 * Runs a command to its end.
 * @throws Error with its output when it fails
 */
export async function runToEnd(command: readonly string[]): Promise<void> {
  const child = Bun.spawn([...command], { cwd: '/', stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const output = Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  if ((await child.exited) !== 0) throw new Error(`${command.join(' ')} failed:\n${(await output).join('')}`)
}
