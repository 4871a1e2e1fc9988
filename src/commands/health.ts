import { readConfig } from '../config.ts'
import { type Command, UsageError } from './command.ts'

const TIMEOUT_MS = 4_000

/** `sheaf health`: for the health checks of containers, which have no other program that can ask. */
export const health: Command = {
  summary: 'asks the server on this machine whether it is well',
  help: `Usage: sheaf health [--ready]

Asks the server that listens on HOST and PORT of this environment. The exit code
is 0 if it answers, and 1 if it does not.

  --ready   whether it should get requests: its databases answer, and it is not stopping`,
  async run(args, env, print) {
    for (const arg of args) if (arg !== '--ready') throw new UsageError(`“sheaf health” has no option ${arg}`)
    const server = localUrl(readConfig(env))
    let response: Response
    try {
      const url = `${server}/api/v1/${args.length > 0 ? 'ready' : 'health'}`
      response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) })
    } catch (error) {
      const { name, code } = error as { name?: string; code?: unknown }
      if (name === 'TimeoutError') print(`${server} did not answer within ${TIMEOUT_MS / 1000} s`)
      else if (code === 'ConnectionRefused' || code === 'ECONNREFUSED')
        print(`No server listens on ${server}`)
      else throw error
      return 1
    }
    print(await response.text())
    return response.ok ? 0 : 1
  },
}

/** The address of the server for programs on its own machine. */
export function localUrl({ host, port }: { host: string; port: number }): string {
  const near = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${near.includes(':') ? `[${near}]` : near}:${port}`
}
