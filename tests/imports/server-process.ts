import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SERVER_MAIN } from '../support/server-main.ts'

const ROOT = join(import.meta.dir, '../..')
/** Linux counts processor time in ticks of a hundredth of a second (`getconf CLK_TCK`). */
const TICK_MS = 10

/** The server in a process of its own, which can be killed and measured. */
export interface ServerProcess {
  url: string
  /** Ends it with a signal and gives its exit code once it is gone. */
  end(signal: 'SIGINT' | 'SIGKILL' | 'SIGTERM'): Promise<number>
  /** Memory that it holds at present, in bytes. */
  rss(): number
  /** Processor time that all its threads have used, in milliseconds. */
  cpuTimeMs(): number
}

/**
 * Starts the server on a free port and waits until it listens.
 * @param env more variables; undefined removes one of this process
 * @param root the folder of other sources than this project's
 */
export async function startServerProcess(
  dataDir: string,
  env: Record<string, string | undefined> = {},
  root?: string,
): Promise<ServerProcess> {
  const child = Bun.spawn([process.execPath, root === undefined ? SERVER_MAIN : join(root, 'src/main.ts')], {
    cwd: root ?? ROOT,
    env: {
      ...process.env,
      PORT: '0',
      HOST: '127.0.0.1',
      DATA_DIR: dataDir,
      LOG_LEVEL: 'info',
      DATABASE_URL: '',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const url = await addressIn(child.stdout)
  return {
    url,
    async end(signal) {
      child.kill(signal)
      return await child.exited
    },
    rss() {
      const pages = Number(readFileSync(`/proc/${child.pid}/statm`, 'utf8').split(' ')[1])
      return pages * 4096
    },
    cpuTimeMs() {
      // The name of the program, in parentheses, may contain spaces. `utime` and `stime` are the fields 14 and 15.
      const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
      return (Number(fields[11]) + Number(fields[12])) * TICK_MS
    },
  }
}

async function addressIn(output: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of output) {
    text += decoder.decode(chunk, { stream: true })
    const url = /"message":"listening","url":"([^"]+)"/.exec(text)?.[1]
    if (url) return url
  }
  throw new Error(`The server did not start:\n${text}`)
}
