import type { Job } from '../../src/jobs.ts'
import type { Bench } from '../records/support.ts'
import { type CommitProxy, startCommitProxy } from '../support/database-proxy.ts'
import { createDatabase, type TestDatabase } from '../support/servers.ts'

/** A database server as a connection names it. */
export type ServerKind = 'postgres' | 'mariadb'

/** A database that is not ours, with a way to ask it past the product. */
export interface ForeignDatabase {
  database: TestDatabase
  /** What a client sends to connect to it. */
  sent: { client: string; connection: Record<string, unknown> }
  /** Its own answer to a statement. */
  ask<T = Record<string, unknown>>(statement: string): Promise<T[]>
  stop(): Promise<void>
}

/** An empty database of that kind in which the statements have been run. */
export async function createForeign(kind: ServerKind, statements: string[]): Promise<ForeignDatabase> {
  const database = await createDatabase(kind)
  const sql = new Bun.SQL(database.url, { max: 1 })
  for (const statement of statements) await sql.unsafe(statement)
  const { hostname, port, username, password } = new URL(database.url)
  const connection = { host: hostname, port, user: username, password, database: database.name }
  return {
    database,
    sent: { client: kind === 'postgres' ? 'pg' : 'mysql2', connection },
    ask: async <T>(statement: string) => [...(await sql.unsafe(statement))] as T[],
    async stop() {
      await sql.close()
      await database.drop()
    },
  }
}

/** A proxy to a connected database, and what a client sends to connect over it. */
export interface ConnectedProxy extends CommitProxy, Pick<ForeignDatabase, 'sent'> {}

export async function proxyCommits({ client, connection }: ForeignDatabase['sent']): Promise<ConnectedProxy> {
  const proxy = await startCommitProxy(`tcp://${connection.host}:${connection.port}`)
  const { hostname: host, port } = new URL(proxy.url)
  return { ...proxy, sent: { client, connection: { ...connection, host, port } } }
}

/** Waits for a job to end and gives it. */
export async function jobEnd(bench: Pick<Bench, 'app'>, id: string): Promise<Job> {
  const { jobs } = bench.app.kernel
  for (;;) {
    const job = await jobs.find(id)
    if (job && job.status !== 'waiting' && job.status !== 'active') return job
    await Bun.sleep(10)
  }
}

/** Connects the bench's base to a database and gives the source's id. @throws Error where the job failed */
export async function connect(
  bench: Bench,
  sent: ForeignDatabase['sent'],
  options: object = {},
): Promise<string> {
  const { id } = await bench.trpc.sources.create.mutate({ baseId: bench.baseId, ...sent, ...options })
  const job = await jobEnd(bench, id)
  if (job.status !== 'completed') throw new Error(`The source was not made: ${job.error}`)
  return (job.result as { id: string }).id
}
