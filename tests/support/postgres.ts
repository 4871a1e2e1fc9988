import { writeFileSync } from 'node:fs'
import { findPostgresBin } from './find-binary.ts'
import {
  createServerHome,
  findFreePort,
  type PrivateServer,
  runToEnd,
  startSupervised,
} from './supervised-server.ts'

// No data outlives the run, so none needs to reach the disk.
const SETTINGS = [
  'fsync=off',
  'synchronous_commit=off',
  'full_page_writes=off',
  'max_connections=200',
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
]

/**
 * Starts a private PostgreSQL in a temporary folder, on a free port of 127.0.0.1, without touching the
 * system's service. As root it runs as `postgres` (or `nobody`).
 * @throws Error when PostgreSQL is not installed or does not start
 */
export async function startPostgres(): Promise<PrivateServer> {
  const bin = findPostgresBin()
  if (bin === null) throw new Error('PostgreSQL is not installed: apt-get install postgresql')
  const { dir, runAs } = createServerHome('postgres', ['postgres', 'nobody'])
  const password = crypto.randomUUID()
  writeFileSync(`${dir}/password`, password, { mode: 0o644 }) // The folder itself is closed to others.
  await runToEnd([
    ...runAs,
    `${bin}/initdb`,
    ...[`--pgdata=${dir}/data`, '--username=sheaf', `--pwfile=${dir}/password`, '--auth=scram-sha-256'],
    ...['--encoding=UTF8', '--locale=C.UTF-8', '--no-sync', '--no-instructions'],
  ])
  const port = await findFreePort()
  const url = `postgres://sheaf:${password}@127.0.0.1:${port}/postgres`
  const stop = await startSupervised({
    dir,
    signal: 'QUIT', // "Immediate shutdown": it does not wait for clients.
    command: [
      ...[...runAs, `${bin}/postgres`, '-D', `${dir}/data`, '-p', String(port)],
      ...SETTINGS.flatMap((setting) => ['-c', setting]),
    ],
    isReady: async () => {
      await using sql = new Bun.SQL(url, { max: 1 })
      await sql`select 1`
    },
  })
  return { url, stop }
}
