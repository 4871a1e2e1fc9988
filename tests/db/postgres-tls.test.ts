import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { type PostgresConnection, postgresConnection, type SslConfig } from '../../src/db/connection.ts'
import { openPostgresDatabase, openPostgresEngine } from '../../src/db/postgres/engine.ts'
import { findBinary, findPostgresBin } from '../support/find-binary.ts'
import { findFreePort } from '../support/free-port.ts'
import { createServerHome, runToEnd, startSupervised } from '../support/supervised-server.ts'

// A PostgreSQL of its own, whose certificate names "localhost" and is signed by itself.
const openssl = findBinary('openssl')
if (openssl === null) console.log('openssl is not installed: encrypted connections are not tried')
let stop = async () => {}
let connection: PostgresConnection
let ca: string

beforeAll(async () => {
  const bin = findPostgresBin()
  if (openssl === null || bin === null) return
  const { dir, runAs } = createServerHome('postgres', ['postgres', 'nobody'])
  writeFileSync(`${dir}/password`, 'secret', { mode: 0o644 })
  await runToEnd([
    ...runAs,
    `${bin}/initdb`,
    `--pgdata=${dir}/data`,
    '--username=sheaf',
    '--no-sync',
    `--pwfile=${dir}/password`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C.UTF-8',
  ])
  await runToEnd([
    ...runAs,
    openssl,
    'req',
    '-new',
    '-x509',
    '-days',
    '2',
    '-nodes',
    '-subj',
    '/CN=localhost',
    '-addext',
    'subjectAltName=DNS:localhost',
    '-keyout',
    `${dir}/data/server.key`,
    '-out',
    `${dir}/data/server.crt`,
  ])
  ca = readFileSync(`${dir}/data/server.crt`, 'utf8')
  const port = await findFreePort()
  const address = `postgres://sheaf:secret@localhost:${port}/postgres`
  connection = postgresConnection(address)
  const settings = ['ssl=on', 'fsync=off', 'listen_addresses=localhost', 'unix_socket_directories=']
  stop = await startSupervised({
    dir,
    signal: 'QUIT',
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
      await using sql = new Bun.SQL(address, { max: 1 })
      await sql`select 1`
    },
  })
})
afterAll(() => stop())

async function ask(ssl: SslConfig, host = 'localhost'): Promise<unknown> {
  const database = openPostgresDatabase({ ...connection, host, ssl })
  const statement = { sql: 'select ssl from pg_stat_ssl where pid = pg_backend_pid()', params: [] }
  try {
    const [row] = await openPostgresEngine(database, 'public', 'Shop').all<{ ssl: boolean }>(statement)
    return row?.ssl ? 'encrypted' : 'plain'
  } catch (error) {
    return (error as { code: unknown }).code
  } finally {
    await database.close()
  }
}

test.skipIf(openssl === null)('a connection is as safe as its mode says', async () => {
  expect(await ask({ mode: 'disable' })).toBe('plain')
  expect(await ask({ mode: 'prefer' })).toBe('encrypted')
  expect(await ask({ mode: 'require' })).toBe('encrypted')
  expect(await ask({ mode: 'verify-ca' })).toBe('DATABASE_UNREACHABLE')
  expect(await ask({ mode: 'verify-ca', ca })).toBe('encrypted')
  expect(await ask({ mode: 'verify-ca', ca }, '127.0.0.1')).toBe('encrypted')
  expect(await ask({ mode: 'verify-full', ca })).toBe('encrypted')
  expect(await ask({ mode: 'verify-full', ca }, '127.0.0.1')).toBe('DATABASE_UNREACHABLE')
})
