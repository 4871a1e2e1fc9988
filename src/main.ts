import { READER_VARIABLE } from './reader-process.ts'

/** Starts the server, and stops it gracefully on SIGTERM or SIGINT; or runs a command. */
async function main(): Promise<void> {
  // The executable also starts itself as a reader process, which needs no server.
  if (process.env[READER_VARIABLE] === '1') {
    await import('./reader.ts')
    return
  }
  if (process.argv[2] === 'move') {
    const { runMove } = await import('./move-command.ts')
    await runMove(process.argv.slice(3), process.env, console.log)
    return
  }
  const [{ startServer }, { readConfig }, { keepServing }] = await Promise.all([
    import('./app.ts'),
    import('./config.ts'),
    import('./keep-serving.ts'),
  ])
  const server = await startServer(readConfig(process.env))
  keepServing(server.kernel.log)
  console.log(`Sheaf is at ${server.url.replace('127.0.0.1', 'localhost')}`)
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
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
