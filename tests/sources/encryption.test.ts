import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Bench, createBench } from '../records/support.ts'
import { createBase } from '../support/factories.ts'
import { startMariadb } from '../support/mariadb.ts'
import type { PrivateServer } from '../support/supervised-server.ts'
import { connect, createForeign, type ForeignDatabase } from './support.ts'

let bench: Bench
let plain: ForeignDatabase
let secure: PrivateServer
let folder: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sheaf-tls-'))
  const at = (name: string) => join(folder, name)
  for (const name of ['ca', 'other']) {
    openssl(
      `req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=${name} -keyout ${at(`${name}.key`)} -out ${at(`${name}.pem`)}`,
    )
  }
  openssl(
    `req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout ${at('server.key')} -out ${at('server.csr')}`,
  )
  openssl(
    `x509 -req -days 2 -in ${at('server.csr')} -CA ${at('ca.pem')} -CAkey ${at('ca.key')} -CAcreateserial -out ${at('server.pem')}`,
  )
  chmodSync(folder, 0o755)
  chmodSync(at('server.key'), 0o644)
  bench = await createBench()
  plain = await createForeign('mariadb', [
    'create table note (id int auto_increment primary key, text varchar(40))',
  ])
  secure = await startMariadb([
    `--ssl-cert=${at('server.pem')}`,
    `--ssl-key=${at('server.key')}`,
    `--ssl-ca=${at('ca.pem')}`,
  ])
  await using sql = new Bun.SQL(secure.url, { max: 1 })
  await sql.unsafe('create database shop')
  await sql.unsafe('create table shop.note (id int auto_increment primary key, text varchar(40))')
  // From now on it lets nobody in without encryption.
  await sql.unsafe('set global require_secure_transport = on')
})
afterAll(async () => {
  await bench.stop()
  await plain.stop()
  await secure.stop()
  rmSync(folder, { recursive: true, force: true })
})

function openssl(words: string): void {
  const { exitCode, stderr } = Bun.spawnSync(['openssl', ...words.split(' ')])
  if (exitCode !== 0) throw new Error(`openssl ${words}: ${stderr}`)
}

/** Connects a new base, writes a record and reads it. */
async function writes(sent: ForeignDatabase['sent']): Promise<unknown> {
  const { id: baseId } = await createBase(bench.app, bench.owner)
  await connect({ ...bench, baseId }, sent)
  const [table] = await bench.trpc.schema.tables.query({ baseId })
  const path = `/api/v2/tables/${table!.id}/records`
  expect((await bench.rest.post(path, { text: 'hello' })).status).toBe(200)
  return (await bench.rest.get(path)).body.list.at(-1)?.text
}

const secureConnection = (ssl: object) => {
  const { port, username: user, password } = new URL(secure.url)
  return {
    client: 'mysql2',
    connection: { host: '127.0.0.1', port, user, password, database: 'shop', ...ssl },
  }
}
const pem = (name: string) => readFileSync(join(folder, `${name}.pem`), 'utf8')

describe('a connection to MySQL', () => {
  test('that prefers encryption has it where the server can, and goes on without where it cannot', async () => {
    const { connection, ...rest } = plain.sent
    expect(await writes({ ...rest, connection: { ...connection, sslMode: 'Preferred' } })).toBe('hello')
    expect(await writes(secureConnection({ sslMode: 'Preferred' }))).toBe('hello')
    const test = (ssl: object) =>
      bench.trpc.sources.test.mutate({ baseId: bench.baseId, ...secureConnection(ssl) })
    // MariaDB says only that it denies access.
    expect(await test({ sslMode: 'No' })).toMatchObject({ ok: false })
  })

  test('that requires it has it, with the authority and the host where these are asked for', async () => {
    expect(await writes(secureConnection({ sslMode: 'Required' }))).toBe('hello')
    const own = { sslMode: 'Required-CA', ssl: { ca: pem('ca') } }
    expect(await writes(secureConnection(own))).toBe('hello')
    for (const ssl of [
      { sslMode: 'Required-CA', ssl: { ca: pem('other') } },
      { sslMode: 'Required-Identity', ssl: { ca: pem('ca') } },
    ]) {
      const sent = secureConnection(ssl)
      const refused = await bench.trpc.sources.test.mutate({ baseId: bench.baseId, ...sent })
      expect([ssl.sslMode, refused]).toEqual([
        ssl.sslMode,
        { ok: false, message: expect.stringContaining('certificate') },
      ])
    }
  })
})
