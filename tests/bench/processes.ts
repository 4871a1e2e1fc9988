import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LoadRequest, LoadResult } from './load-types.ts'

const ROOT = join(import.meta.dir, '..', '..')

/** A server in a process of its own. */
export interface Server {
  port: number
  pid: number
  /** From the start of the process to its first line that says that it listens. */
  startMs: number
  stop(): Promise<void>
}

/** Starts a program that prints `{"port": …}` or the address it listens on, and waits for that. */
export async function startProgram(
  script: string,
  env: Record<string, string>,
  args: string[] = [],
): Promise<Server> {
  const startedAt = performance.now()
  const child = Bun.spawn([process.execPath, join(ROOT, script), ...args], {
    cwd: ROOT,
    env: { ...process.env, NODE_ENV: 'production', ...env },
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const reader = child.stdout.getReader()
  const decoder = new TextDecoder()
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) throw new Error(`${script} ended before it listened:\n${text}`)
    text += decoder.decode(value, { stream: true })
    const port = /https?:\/\/[^\s":]+:(\d+)/.exec(text)?.[1]
    if (port === undefined) continue
    const startMs = performance.now() - startedAt
    void drain(reader)
    return {
      port: Number(port),
      pid: child.pid,
      startMs,
      async stop() {
        child.kill('SIGTERM')
        await child.exited
      },
    }
  }
}

/** A full pipe would stop the program at its next line. What went wrong in it is passed on. */
async function drain(reader: { read(): Promise<{ done: boolean; value?: Uint8Array }> }): Promise<void> {
  const decoder = new TextDecoder()
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const lines = (text + decoder.decode(value, { stream: true })).split('\n')
    text = lines.pop() ?? ''
    for (const line of lines) if (line.includes('"level":"error"')) console.error(line)
  }
}

/** Runs the load generator in its process, and gives what it measured. @throws Error where requests failed */
export async function load(request: LoadRequest): Promise<LoadResult> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'load.ts')], {
    stdin: new Blob([JSON.stringify(request)]),
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const text = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error(`The load generator failed: ${text}`)
  const result: LoadResult = JSON.parse(text)
  if (result.failed > 0)
    throw new Error(`${request.method} ${request.path} failed ${result.failed} times: ${result.firstFailure}`)
  return result
}

/** Processor time of a process and its threads so far, in seconds (proc(5): fields 14 and 15, in ticks of 10 ms). */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

/** A process and the processes that it has started and that still run. */
export function withChildren(pid: number): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number),
  )
  return [pid, ...children]
}

/** Memory that only a process has, in MB: without mapped files, whose pages the system takes back when it needs them. */
export function ownMb(pid: number): number {
  const line = /RssAnon:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Number(line?.[1] ?? 0) / 1024
}

/** Resident memory of a process, in MB. */
export function residentMb(pid: number): number {
  const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Number(line?.[1] ?? 0) / 1024
}
