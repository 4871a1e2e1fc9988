import { postgresConnection } from '../../src/db/connection.ts'
import { migratePostgres } from '../../src/db/migrate.ts'
import { connectPostgres } from '../../src/db/postgres/driver.ts'
import { startMariadb } from './mariadb.ts'
import { POSTGRES_TEMPLATE, startPostgres } from './postgres.ts'
import type { PrivateServer } from './supervised-server.ts'

/** The database servers of a test run. */
type ServerName = 'postgres' | 'mariadb'

/** A private database for one test file. */
export interface TestDatabase {
  name: string
  /** With user and password, e.g. `postgres://sheaf:...@127.0.0.1:41234/test_1f0c...`. */
  url: string
  /** Drops it and closes its open connections. */
  drop(): Promise<void>
}

interface Server {
  urlVariable: string
  start: () => Promise<PrivateServer>
  create: (name: string) => string
  drop: (name: string) => string
}

const SERVERS: Record<ServerName, Server> = {
  postgres: {
    urlVariable: 'TEST_POSTGRES_URL',
    start: startPostgres,
    create: (name) => `create database ${name}`,
    drop: (name) => `drop database if exists ${name} with (force)`,
  },
  mariadb: {
    urlVariable: 'TEST_MARIADB_URL',
    start: startMariadb,
    create: (name) => `create database ${name} character set utf8mb4`,
    drop: (name) => `drop database if exists ${name}`,
  },
}

const starting: Partial<Record<ServerName, Promise<string>>> = {}

/**
 * Administrator's URL of PostgreSQL: `TEST_POSTGRES_URL` if set, otherwise a private server, which starts on
 * the first call and ends with this process.
 * @throws Error if the variable is not set and PostgreSQL is not installed
 */
export const postgresUrl = (): Promise<string> => serverUrl('postgres')

/**
 * Creates an empty database, usually one per test file, which the caller drops. (An `afterAll` here would not
 * work: Bun runs one registered in a `beforeAll` before the tests.)
 * @example
 * const database = await createDatabase('postgres') afterAll(database.drop)
 */
export const createDatabase = (server: ServerName): Promise<TestDatabase> =>
  createOn(server, (name) => SERVERS[server].create(name))

/**
 * Creates a PostgreSQL database for the metadata of a test app. On the private server of a test run it is a copy of one
 * in which all migrations have been applied, which takes half of the time; elsewhere it is empty.
 */
export async function createMetadataDatabase(): Promise<TestDatabase> {
  const url = await postgresUrl()
  const template = process.env.TEST_POSTGRES_TEMPLATE
  if (!template) return createDatabase('postgres')
  migrating ??= migrateTemplate(url, template)
  await migrating
  return createOn('postgres', (name) => `create database ${name} template ${template}`)
}

/** The template, once it can be copied. */
let migrating: Promise<void> | null = null

/** Key of the advisory lock, in the administrator's database, of the process that migrates the template. */
const MIGRATING = 7_433_298

/** Creates the template unless another process of the run has. */
async function migrateTemplate(administrator: string, template: string): Promise<void> {
  await using lock = new Bun.SQL(administrator, { max: 1 })
  await lock`select pg_advisory_lock(${MIGRATING})`
  const [found] = await lock`select 1 from pg_database where datname = ${template}`
  if (found) return
  await lock.unsafe(`create database ${template}`)
  const { href } = Object.assign(new URL(administrator), { pathname: `/${template}` })
  const client = connectPostgres(postgresConnection(href), { searchPath: null, statementTimeoutMs: 0 })
  // A database with connections cannot be copied.
  await migratePostgres(client).finally(() => client.end())
}

async function createOn(server: ServerName, create: (name: string) => string): Promise<TestDatabase> {
  const url = new URL(await serverUrl(server))
  const name = `test_${crypto.randomUUID().replaceAll('-', '')}`
  const { drop } = SERVERS[server]
  const nodes = [url, ...(server === 'postgres' ? await citusWorkers(url) : [])]
  for (const node of nodes) await runStatement(node, create(name))
  const [coordinator, ...workers] = nodes.map((node) =>
    Object.assign(new URL(node), { pathname: `/${name}` }),
  )
  if (coordinator && workers.length > 0) await joinCluster(url, coordinator, workers)
  return {
    name,
    url: Object.assign(new URL(url), { pathname: `/${name}` }).href,
    drop: async () => {
      for (const node of nodes) await runStatement(node, drop(name))
    },
  }
}

/** `host:port` of the worker nodes that the cluster of a database has; empty without Citus. */
const FIND_WORKERS = `select nodename || ':' || nodeport as host from pg_dist_node
  where noderole = 'primary' and groupid > 0 order by nodeid`

/**
 * The worker nodes of a Citus cluster, with the coordinator's user and password: those named by `TEST_CITUS_WORKERS`
 * (`host:port,host:port`), else those that the coordinator's database lists.
 */
async function citusWorkers(coordinator: URL): Promise<URL[]> {
  process.env.TEST_CITUS_WORKERS ??= (await findWorkers(coordinator)).join(',')
  return process.env.TEST_CITUS_WORKERS.split(',')
    .filter((host) => host !== '')
    .map((host) => Object.assign(new URL(coordinator), { host }))
}

async function findWorkers(coordinator: URL): Promise<string[]> {
  await using sql = new Bun.SQL(coordinator.href, { max: 1 })
  const [extension] = await sql`select 1 from pg_extension where extname = 'citus'`
  if (!extension) return []
  return (await sql.unsafe<{ host: string }[]>(FIND_WORKERS)).map(({ host }) => host)
}

/** Key of the advisory lock, in the administrator's database, under which databases join a cluster. */
const JOINING = 7_433_299

/** Joins the databases to one Citus cluster, which places each new schema on one worker. */
async function joinCluster(administrator: URL, coordinator: URL, workers: readonly URL[]): Promise<void> {
  // Joining writes the roles of all nodes, which fails where two processes do so at once.
  await using lock = new Bun.SQL(administrator.href, { max: 1 })
  await lock`select pg_advisory_lock(${JOINING})`
  for (const node of [coordinator, ...workers]) await runStatement(node, 'create extension citus')
  await runStatement(
    coordinator,
    `select citus_set_coordinator_host('${coordinator.hostname}', ${coordinator.port})`,
  )
  for (const { hostname, port } of workers) {
    await runStatement(coordinator, `select citus_add_node('${hostname}', ${port})`)
  }
}

function serverUrl(name: ServerName): Promise<string> {
  const { urlVariable, start } = SERVERS[name]
  const given = process.env[urlVariable]
  if (given) return Promise.resolve(given)
  // Also stored in the environment: with `bun test --isolate` each file gets a new copy of this module.
  starting[name] ??= start().then(({ url }) => {
    process.env[urlVariable] = url
    if (name === 'postgres') process.env.TEST_POSTGRES_TEMPLATE = POSTGRES_TEMPLATE
    return url
  })
  return starting[name]
}

async function runStatement(url: URL, statement: string): Promise<void> {
  await using sql = new Bun.SQL(url.href, { max: 1 })
  await sql.unsafe(statement)
}
