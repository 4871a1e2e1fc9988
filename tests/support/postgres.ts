import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { findPostgresBin } from './find-binary.ts'
import { findFreePort } from './free-port.ts'
import { createServerHome, type PrivateServer, runToEnd, startSupervised } from './supervised-server.ts'

/**
 * No data of a test outlives the run, so none needs to reach the disk. Hundreds of databases are created, whose copies go
 * through the write-ahead log: its files are not filled with zeros beforehand, and reused early, for they may be in memory.
 */
const NOT_DURABLE = [
  'fsync=off',
  'synchronous_commit=off',
  'full_page_writes=off',
  'wal_level=minimal',
  'max_wal_senders=0',
  'wal_init_zero=off',
  'max_wal_size=256MB',
]
const SETTINGS = ['max_connections=200', 'listen_addresses=127.0.0.1', 'unix_socket_directories=']

/**
 * Name of the migrated database that test apps copy on a private server, where it is removed with the server's files. It is
 * in `TEST_POSTGRES_TEMPLATE` then.
 */
export const POSTGRES_TEMPLATE = 'test_template'

interface PostgresOptions {
  /** Commits wait for the disk, as on a server in use: for measurements. */
  isDurable?: boolean
}

/**
 * Starts a private PostgreSQL in a temporary folder, on a free port of 127.0.0.1, without touching the
 * system's service. As root it runs as `postgres` (or `nobody`).
 * @throws Error when PostgreSQL is not installed or does not start
 */
export async function startPostgres(options?: PostgresOptions): Promise<PrivateServer> {
  const { dir, url, run } = await createPostgres(options)
  return { url, stop: await run(dir) }
}

/** A PostgreSQL of our own that a test can stop and start. It is running at first. */
export interface RestartablePostgres {
  url: string
  /** Ends all connections, as a restart does. Resolves when the server is gone. */
  stop(): Promise<void>
  start(): Promise<void>
  /** Stops all its processes where they are, as on a machine that is paused: connections stay open and nothing answers. */
  freeze(): void
  /** Lets them go on. */
  thaw(): void
  /** Stops it and removes its files. */
  remove(): Promise<void>
}

/** @throws as `startPostgres` */
export async function startRestartablePostgres(): Promise<RestartablePostgres> {
  const { dir, url, run } = await createPostgres()
  // A folder for each run, because it is removed with the server.
  const start = () => run(createServerHome('postgres-run', ['postgres', 'nobody']).dir, 'INT')
  let stop: (() => Promise<void>) | null = await start()
  const signal = (name: 'SIGSTOP' | 'SIGCONT') => {
    const main = Number(readFileSync(`${dir}/data/postmaster.pid`, 'utf8').split('\n')[0])
    const children = readFileSync(`/proc/${main}/task/${main}/children`, 'utf8').trim().split(' ')
    for (const pid of [main, ...children.map(Number)]) process.kill(pid, name)
  }
  return {
    url,
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    async stop() {
      await stop?.()
      stop = null
    },
    async start() {
      stop ??= await start()
    },
    async remove() {
      await stop?.()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

/** Creates the files of a server; `run` starts it and resolves with a function that stops it. */
async function createPostgres({ isDurable = false }: PostgresOptions = {}) {
  const settings = isDurable ? SETTINGS : [...NOT_DURABLE, ...SETTINGS]
  const bin = findPostgresBin()
  if (bin === null) throw new Error('PostgreSQL is not installed: apt-get install postgresql')
  const { dir, runAs } = createServerHome('postgres', ['postgres', 'nobody'], { isDurable })
  const password = crypto.randomUUID()
  writeFileSync(`${dir}/password`, password, { mode: 0o644 }) // The folder itself is closed to others.
  await runToEnd([
    ...runAs,
    `${bin}/initdb`,
    `--pgdata=${dir}/data`,
    '--username=sheaf',
    `--pwfile=${dir}/password`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C.UTF-8',
    '--no-sync',
    '--no-instructions',
  ])
  const port = await findFreePort()
  const url = `postgres://sheaf:${password}@127.0.0.1:${port}/postgres`
  /**
   * @param home removed with the server, also when this process is killed
   * @param signal `QUIT`: immediate shutdown, without waiting for clients; `INT`: as `pg_ctl restart` does
   */
  const run = (home: string, signal: 'QUIT' | 'INT' = 'QUIT') =>
    startSupervised({
      dir: home,
      signal,
      command: [
        ...runAs,
        `${bin}/postgres`,
        '-D',
        `${dir}/data`,
        '-p',
        String(port),
        ...settings.flatMap((setting) => ['-c', setting]),
      ],
      isReady: async () => {
        await using sql = new Bun.SQL(url, { max: 1 })
        await sql`select 1`
      },
    })
  return { dir, url, run }
}
