import { READER_VARIABLE } from './reader-process.ts'

/** A terminal and the programs around this one may all send the signal of one Ctrl+C. */
const REPEATED_SIGNAL_MS = 1_000

/** Runs the command of the command line; without one starts the server, and stops it gracefully on SIGTERM or SIGINT. */
async function main(): Promise<void> {
  // The executable also starts itself as a reader process, which needs no server.
  if (process.env[READER_VARIABLE] === '1') {
    await import('./reader.ts')
    return
  }
  const { runCommand } = await import('./commands/index.ts')
  const exitCode = await runCommand(process.argv.slice(2), process.env, {
    print: console.log,
    printError: console.error,
  })
  if (exitCode !== null) process.exit(exitCode)
  const [{ startServer }, { readConfig }, { keepServing }] = await Promise.all([
    import('./app.ts'),
    import('./config.ts'),
    import('./keep-serving.ts'),
  ])
  const server = await startServer(readConfig(process.env))
  keepServing(server.kernel.log)
  console.log(`Sheaf is at ${server.url.replace('127.0.0.1', 'localhost')}`)
  let stoppingSince: number | null = null
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (stoppingSince !== null) {
        if (performance.now() - stoppingSince < REPEATED_SIGNAL_MS) return
        server.kernel.log.warn('stopped at once by a second signal', { signal })
        process.exit(1)
      }
      stoppingSince = performance.now()
      server.stop().then(
        () => process.exit(0),
        (error) => {
          server.kernel.log.error('stopping failed', error)
          process.exit(1)
        },
      )
    })
  }
}

try {
  await main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}
