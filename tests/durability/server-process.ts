import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SERVER_MAIN } from '../support/server-main.ts'

/** The server as a process of its own, which can be killed. */
export interface ServerProcess {
  url: string
  /** What it has printed so far. */
  printed(): string
  /** Sends a signal and waits for the end; gives the exit code, null where the signal ended it. */
  end(signal: NodeJS.Signals): Promise<number | null>
}

/** Makes a data folder that outlives its servers; call `remove` at the end. */
export function createDataDir(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'sheaf-durability-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

/** Starts a server on a data folder and waits until it listens. @throws Error with what it printed where it ends before that */
export async function startProcess(
  dataDir: string,
  environment: Record<string, string> = {},
): Promise<ServerProcess> {
  const child = Bun.spawn([process.execPath, SERVER_MAIN], {
    env: {
      ...process.env,
      PORT: '0',
      HOST: '127.0.0.1',
      DATA_DIR: dataDir,
      LOG_LEVEL: 'info',
      NODE_ENV: 'production',
      ...environment,
    },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const reader = child.stdout.getReader()
  const decoder = new TextDecoder()
  let printed = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) throw new Error(`${printed}${await new Response(child.stderr).text()}`)
    printed += decoder.decode(value, { stream: true })
    const url = /"url":"(http[^"]+)"/.exec(printed)?.[1]
    if (url === undefined) continue
    void readOn(reader, (chunk) => {
      printed += decoder.decode(chunk, { stream: true })
    })
    return {
      url,
      printed: () => printed,
      async end(signal) {
        child.kill(signal)
        await child.exited
        return child.signalCode === null ? child.exitCode : null
      },
    }
  }
}

/** A full pipe would stop the server at its next line. */
async function readOn(
  reader: { read(): Promise<{ done: boolean; value?: Uint8Array }> },
  take: (chunk: Uint8Array) => void,
): Promise<void> {
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    if (value) take(value)
  }
}
