import type { RunningServer } from './app.ts'
import { READER_VARIABLE } from './reader-process.ts'

/** A terminal and the programs around this one may all send the signal of one Ctrl+C: echoes this soon are ignored. */
const ECHO_MS = 1_000

/** Runs the command of the command line; without one starts the server, and stops it gracefully on SIGTERM or SIGINT. */
async function main(): Promise<void> {
  // The executable also starts itself as a reader process, which needs no server.
  if (process.env[READER_VARIABLE] === '1') {
    await import('./reader.ts')
    return
  }
  const { runCommand } = await import('./commands/index.ts')
  const exitCode = await runCommand(
    process.argv.slice(2),
    process.env,
    { print: console.log, printError: console.error },
    {
      openBaseFiles: async (config) => (await import('./app.ts')).openBaseFiles(config),
      restoreBaseAt: async (config, input) => (await import('./app.ts')).restoreBaseAt(config, input),
    },
  )
  if (exitCode !== null) process.exit(exitCode)
  const [{ startServer }, { readConfig }, { keepServing }] = await Promise.all([
    import('./app.ts'),
    import('./config.ts'),
    import('./keep-serving.ts'),
  ])
  const start = startServer(readConfig(process.env), canStartAnew() ? startAnew : null)
  stopOnSignals(start)
  const server = await start
  keepServing(server.kernel.log)
  console.log(`Sheaf is at ${server.url.replace('127.0.0.1', 'localhost')}`)
}

const canStartAnew = (): boolean => process.platform !== 'win32' && process.execve !== undefined

/**
 * Replaces this process by a new one of the same program, with the same number, arguments, environment and terminal: nothing
 * of it is left, and what has started it notices nothing.
 */
function startAnew(): void {
  // The executable takes options of the runtime from `BUN_OPTIONS` only: among its arguments they would be those of a command.
  const args = Bun.isStandaloneExecutable
    ? process.argv.slice(2)
    : [...process.execArgv, ...process.argv.slice(1)]
  try {
    process.execve?.(process.execPath, [process.execPath, ...args], process.env)
  } catch (error) {
    // Started again by hand, or by what watches over it, the server goes on where this one ends.
    console.error('The server could not start itself anew:', error)
    process.exit(1)
  }
}

/** Stops the server at a signal, and at once at a second one. Signals during the start wait for its end. */
function stopOnSignals(start: Promise<RunningServer>): void {
  let state: 'serving' | 'stopping' | 'stoppable at once' = 'serving'
  const stop = async (signal: NodeJS.Signals) => {
    if (state === 'stopping') return
    if (state === 'stoppable at once') {
      console.error(`Stopped at once by a second ${signal}.`)
      process.exit(1)
    }
    state = 'stopping'
    // Signals that waited while the process was busy are handled before the immediate.
    setTimeout(() => setImmediate(() => (state = 'stoppable at once')), ECHO_MS)
    const server = await start.catch(() => null)
    // Why it did not start is said by who started it.
    if (!server) return
    try {
      await server.stop()
      process.exit(0)
    } catch (error) {
      server.kernel.log.error('stopping failed', error)
      process.exit(1)
    }
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(signal))
}

main().catch((error) => {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
})
