import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Bench, createBench, refusalOf } from '../records/support.ts'
import { createMember } from '../support/factories.ts'
import { createForeign, type ForeignDatabase, type ServerKind } from './support.ts'

const TEST = '/api/v1/db/meta/connection/test'

let bench: Bench
const foreign: Partial<Record<ServerKind, ForeignDatabase>> = {}
beforeAll(async () => {
  bench = await createBench()
  foreign.postgres = await createForeign('postgres', ['create table thing (id serial primary key)'])
  foreign.mariadb = await createForeign('mariadb', ['create table thing (id int primary key)'])
})
afterAll(async () => {
  await bench.stop()
  for (const one of Object.values(foreign)) await one.stop()
})

const sentTo = (kind: ServerKind, patch: Record<string, unknown> = {}) => {
  const { client, connection } = foreign[kind]!.sent
  return { client, connection: { ...connection, ...patch } }
}

describe.each(['postgres', 'mariadb'] as const)('POST connection/test with %s', (kind) => {
  test('says that it works, whether the port is a number or a text', async () => {
    expect((await bench.rest.post(TEST, sentTo(kind))).body).toEqual({ code: 0, message: '', data: {} })
    const port = Number(sentTo(kind).connection.port)
    expect((await bench.rest.post(TEST, sentTo(kind, { port }))).body.code).toBe(0)
    expect((await bench.rest.post(TEST, sentTo(kind, { sslMode: 'Preferred' }))).body.code).toBe(0)
  })

  test.each([
    ['a wrong password', { password: 'wrong' }, 'or the password is wrong'],
    ['an unknown user', { user: 'nobody' }, 'The user name "nobody" or the password is wrong'],
    ['an unknown database', { database: 'nope' }, 'Database "nope" does not exist on this server'],
    ['an unknown host', { host: 'no.such.host.invalid' }, 'Unknown host “no.such.host.invalid”'],
    ['a port where nothing answers', { port: 1 }, 'Could not connect to 127.0.0.1:1'],
    ['a server without encryption', { sslMode: 'Required' }, 'encryption'],
  ])('%s: answers 200 with the reason in words', async (_, patch, reason) => {
    const { status, body } = await bench.rest.post(TEST, sentTo(kind, patch))
    expect([status, body.code]).toEqual([200, -1])
    expect(body.message).toContain(reason)
    expect(JSON.stringify(body)).not.toContain(String(sentTo(kind).connection.password))
  })
})

describe('POST connection/test', () => {
  test('ends where a server says nothing', async () => {
    const mute = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
    const started = performance.now()
    const answers = await Promise.all(
      (['postgres', 'mariadb'] as const).map((kind) =>
        bench.rest.post(TEST, sentTo(kind, { port: mute.port })),
      ),
    )
    mute.stop(true)
    for (const { body } of answers) expect(body.message).toContain('did not answer within 8 seconds')
    expect(performance.now() - started).toBeLessThan(40_000)
  })

  test('refuses an unknown client, and answers why a connection that says too little or nonsense fails', async () => {
    const refusal = async (body: object) => (await bench.rest.post(TEST, body)).body
    expect(await refusal({ client: 'dbase', connection: {} })).toEqual({ msg: 'Database not supported' })
    expect(await refusal({ client: 'mssql', connection: {} })).toEqual({ msg: 'Database not supported' })
    const reason = async (body: object) => {
      const answer = await bench.rest.post(TEST, body)
      // As one that is tried and fails (wire §3).
      expect([answer.status, answer.body.code]).toEqual([200, -1])
      return answer.body.message
    }
    expect(await reason({ client: 'pg', connection: {} })).toContain('Enter a database name')
    expect(await reason(sentTo('postgres', { port: 'x' }))).toContain('port')
    expect(await reason(sentTo('postgres', { sslMode: 'Sometimes' }))).toContain('SSL mode')
    for (const sslMode of ['Allowed', 'allow'])
      expect(await reason(sentTo('postgres', { sslMode }))).toContain('Use “prefer”')
    expect(await reason(sentTo('postgres', { ssl: { ca: 'x' } }))).toContain('PEM')
    expect(await reason(sentTo('postgres', { host: 5 }))).toContain('host')
  })

  test('is for those who could make a source somewhere', async () => {
    const { app, baseId } = bench
    expect((await app.rest().post(TEST, sentTo('postgres'))).status).toBe(401)
    const stranger = await app.signUp()
    expect((await app.rest(stranger.token).post(TEST, sentTo('postgres'))).status).toBe(403)
    const editor = await createMember(app, baseId, 'editor')
    expect((await app.rest(editor.token).post(TEST, sentTo('postgres'))).status).toBe(403)
    const creator = await createMember(app, baseId, 'creator')
    expect((await app.rest(creator.token).post(TEST, sentTo('postgres'))).body.code).toBe(0)
    const call = app.trpc(editor.token).sources.test.mutate({ baseId, ...sentTo('postgres') })
    expect((await refusalOf(call)).code).toBe('PERMISSION_DENIED')
  })
})

describe('SQLite files', () => {
  const sent = (filename: string) => ({ client: 'sqlite3', connection: { filename } })

  test('are read from their folder only, however the way out of it is written', async () => {
    const { dataDir } = bench.app.config
    const folder = join(dataDir, 'sources')
    mkdirSync(folder, { recursive: true })
    new Database(join(folder, 'shop.db')).run('create table thing (id integer primary key)')
    new Database(join(dataDir, 'outside.db')).run('create table secret (id integer primary key)')
    writeFileSync(join(folder, 'notes.txt'), 'no database at all')
    symlinkSync(join(dataDir, 'outside.db'), join(folder, 'linked.db'))
    expect((await bench.rest.post(TEST, sent('shop.db'))).body.code).toBe(0)
    for (const way of ['../outside.db', join(dataDir, 'outside.db'), 'linked.db', '/etc/passwd', '.', '']) {
      const { status, body } = await bench.rest.post(TEST, sent(way))
      expect([way, status, body.code]).toEqual([way, 200, -1])
      expect(body.message).not.toContain('database disk image')
    }
    const { body } = await bench.rest.post(TEST, sent('notes.txt'))
    expect(body.message).toContain('is not a readable SQLite database')
  })
})

describe('POST url_to_config', () => {
  test.each([
    [
      'pg://host:5432?u=u&p=p&d=d',
      'pg',
      { user: 'u', password: 'p', database: 'd', host: 'host', port: '5432' },
    ],
    ['postgres://u:p%40ss@h/d', 'pg', { user: 'u', password: 'p@ss', database: 'd', host: 'h' }],
    ['mysql://u:p@h:3307/d', 'mysql2', { user: 'u', password: 'p', database: 'd', host: 'h', port: '3307' }],
    [
      'mysql://u:p@[2001:db8::1]/d?ssl-mode=REQUIRED',
      'mysql2',
      { user: 'u', password: 'p', database: 'd', host: '2001:db8::1', sslmode: 'REQUIRED' },
    ],
    ['vitess://h:15306/d', 'vitess', { database: 'd', host: 'h', port: '15306' }],
    ['tidb://h:4000/d', 'tidb', { database: 'd', host: 'h', port: '4000' }],
    ['oracledb://h:1521/d', 'oracledb', { database: 'd', host: 'h', port: '1521' }],
    ['bad', 'sqlite3', { filename: 'bad' }],
  ])('%s', async (url, client, connection) => {
    const { body } = await bench.app.rest().post('/api/v1/url_to_config', { url })
    expect(body).toEqual({ client, connection })
  })
})

describe('trpc sources.inspect', () => {
  test('lists the schemas and the tables to choose from, and says why it cannot', async () => {
    const { trpc, baseId } = bench
    const found = await trpc.sources.inspect.mutate({ baseId, ...sentTo('postgres') })
    expect(found.schemas).toEqual(['public'])
    expect(found.tables).toMatchObject([{ name: 'thing', kind: 'table', columns: 1 }])
    const refused = await refusalOf(
      trpc.sources.inspect.mutate({ baseId, ...sentTo('postgres', { password: 'wrong' }) }),
    )
    expect(refused).toMatchObject({ code: 'DATABASE_ERROR', status: 400 })
    expect(refused.message).toContain('password is wrong')
  })
})
