import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Bench, createBench, refusalOf } from '../records/support.ts'
import { cpuTimeMs } from '../support/cpu-time.ts'
import { createBase } from '../support/factories.ts'
import { connect, createForeign, type ForeignDatabase, jobEnd } from './support.ts'

let bench: Bench
let shop: ForeignDatabase
beforeAll(async () => {
  bench = await createBench()
  shop = await createForeign('postgres', [
    `create table customer (id serial primary key, name varchar(40) not null);
     create table purchase (id serial primary key, customer_id integer references customer (id), total numeric(8,2));
     insert into customer (name) values ('Ann')`,
  ])
})
afterAll(async () => {
  await bench.stop()
  await shop.stop()
})

const sourcesOf = (baseId: string) => `/api/v1/db/meta/projects/${baseId}/bases`
const titlesOf = async (baseId: string) =>
  (await bench.trpc.schema.tables.query({ baseId })).map((table) => table.title)

/** Every file that the server has written. */
function* writtenFiles(folder: string): Generator<string> {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    if (statSync(path).isDirectory()) yield* writtenFiles(path)
    else yield path
  }
}

describe('POST M/projects/{b}/bases', () => {
  test('refuses what is no connection, and a wrong password with its reason, and then shows nothing', async () => {
    const { rest, app, owner } = bench
    const { id: baseId } = await createBase(app, owner)
    expect((await rest.post(sourcesOf(baseId), { alias: 'x' })).status).toBe(400)
    expect((await rest.post(sourcesOf(baseId), { config: { client: 'nope', connection: {} } })).body).toEqual(
      {
        msg: 'Database not supported',
      },
    )
    const config = { ...shop.sent, connection: { ...shop.sent.connection, password: 'wrong' } }
    const { status, body } = await rest.post(sourcesOf(baseId), { alias: 'Shop', config })
    expect(status).toBe(200)
    const job = await jobEnd(bench, body.id)
    expect(job).toMatchObject({ status: 'failed' })
    expect(job.error).toContain('the password is wrong')
    expect((await rest.get(sourcesOf(baseId))).body.list).toHaveLength(1)
    expect(await titlesOf(baseId)).toEqual([])
  })

  test('makes the source with its tables, fields and links by a job; the answers hold no way in', async () => {
    const { rest, app, owner } = bench
    const { id: baseId } = await createBase(app, owner)
    const { status, body } = await rest.post(sourcesOf(baseId), {
      alias: 'Shop',
      type: 'pg',
      config: shop.sent,
      inflection_table: 'camelize',
    })
    expect([status, Object.keys(body)]).toEqual([200, ['id']])
    expect(body.id).toMatch(/^job/)
    const job = await jobEnd(bench, body.id)
    expect(job).toMatchObject({ status: 'completed', progress: { done: 2, total: 2, unit: 'tables' } })
    expect(job.result).toMatchObject({ tables: 2, views: 0, notes: [] })
    const { list } = (await rest.get(sourcesOf(baseId))).body
    const { id } = job.result as { id: string }
    expect(list[1]).toMatchObject({
      id,
      alias: 'Shop',
      type: 'pg',
      is_meta: false,
      is_local: false,
      enabled: true,
      config: { client: 'pg' },
    })
    expect(await titlesOf(baseId)).toEqual(['Customer', 'Purchase'])
    const tables = (await rest.get(`/api/v1/db/meta/projects/${baseId}/${id}/tables`)).body.list
    expect(tables.map((table: { table_name: string }) => table.table_name)).toEqual(['customer', 'purchase'])
    const whole = (await rest.get(`/api/v1/db/meta/tables/${tables[0].id}`)).body
    expect(
      whole.columns.map((column: { title: string; uidt: string }) => [column.title, column.uidt]),
    ).toEqual([
      ['id', 'ID'],
      ['name', 'SingleLineText'],
      ['Purchase', 'Links'],
    ])
  })

  test('connects only the chosen tables', async () => {
    const { id: baseId } = await createBase(bench.app, bench.owner)
    await connect({ ...bench, baseId }, shop.sent, { tables: ['customer'] })
    expect(await titlesOf(baseId)).toEqual(['customer'])
  })

  test('refuses a second one while the first is being made', async () => {
    const { id: baseId } = await createBase(bench.app, bench.owner)
    const create = () => bench.rest.post(sourcesOf(baseId), { config: shop.sent })
    const first = await create()
    expect((await create()).body).toEqual({ msg: 'Another source creation is in progress for this base.' })
    await jobEnd(bench, first.body.id)
    await jobEnd(bench, (await create()).body.id)
    // Both have a table "customer": the second gets another title.
    expect(await titlesOf(baseId)).toEqual(['customer', 'purchase', 'customer_1', 'purchase_1'])
  })

  test('keeps nothing of one that was cancelled', async () => {
    const { id: baseId } = await createBase(bench.app, bench.owner)
    const { body } = await bench.rest.post(sourcesOf(baseId), { config: shop.sent })
    await bench.trpc.jobs.cancel.mutate({ jobId: body.id })
    expect((await jobEnd(bench, body.id)).status).toBe('cancelled')
    expect(await titlesOf(baseId)).toEqual([])
    expect((await bench.rest.get(sourcesOf(baseId))).body.list).toHaveLength(1)
  })
})

describe('the password of a source', () => {
  test('is on no disk, in no answer and in no job', async () => {
    const { app, rest, trpc, owner } = bench
    const { id: baseId } = await createBase(app, owner)
    const sourceId = await connect({ ...bench, baseId }, shop.sent)
    const secret = String(shop.sent.connection.password)
    const answers = [
      (await rest.get(sourcesOf(baseId))).body,
      (await rest.get(`${sourcesOf(baseId)}/${sourceId}`)).body,
      (await rest.get(`/api/v1/db/meta/projects/${baseId}`)).body,
      (await rest.post(`/api/v2/jobs/${baseId}`)).body,
      await trpc.sources.list.query({ baseId }),
    ]
    expect(JSON.stringify(answers)).not.toContain(secret)
    const [source] = (await trpc.sources.list.query({ baseId })).filter(({ isOwn }) => !isOwn)
    expect(source?.connection).toMatchObject({ hasPassword: true, user: shop.sent.connection.user })
    for (const path of writtenFiles(app.config.dataDir)) {
      expect([path, readFileSync(path).includes(secret)]).toEqual([path, false])
    }
  })
})

describe('PATCH M/projects/{b}/bases/{s}', () => {
  let baseId: string
  let sourceId: string
  beforeAll(async () => {
    baseId = (await createBase(bench.app, bench.owner)).id
    sourceId = await connect({ ...bench, baseId }, shop.sent)
  })
  const patch = (body: object) => bench.rest.patch(`${sourcesOf(baseId)}/${sourceId}`, body)

  test('keeps the password where none is sent', async () => {
    const { password: _, ...connection } = shop.sent.connection
    const { status } = await patch({ alias: 'Renamed', config: { client: 'pg', connection } })
    expect(status).toBe(200)
    const tested = await bench.trpc.sources.test.mutate({ baseId, sourceId, client: 'pg', connection })
    expect(tested).toEqual({ ok: true })
  })

  test('does not send the kept password to another server', async () => {
    const heard: string[] = []
    const other = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: { data: (_, bytes) => void heard.push(bytes.toString()) },
    })
    const { password: _, ...connection } = shop.sent.connection
    const config = { client: 'pg', connection: { ...connection, port: other.port } }
    const { status, body } = await patch({ config })
    expect([status, body.msg]).toEqual([400, expect.stringContaining('Enter the password again')])
    const tested = await refusalOf(bench.trpc.sources.test.mutate({ baseId, sourceId, ...config }))
    expect(tested.message).toContain('Enter the password again')
    expect(heard).toEqual([])
    other.stop(true)
  })

  test('refuses a connection that does not work, or is of another kind, and keeps the old one', async () => {
    const connection = { ...shop.sent.connection, database: 'nope' }
    const { status, body } = await patch({ config: { client: 'pg', connection } })
    expect([status, body.error]).toEqual([400, 'DATABASE_ERROR'])
    expect(body.message).toContain('Database "nope" does not exist')
    const other = await patch({ config: { client: 'mysql2', connection: shop.sent.connection } })
    expect(other.body.msg).toBe('The database type of a data source can’t be changed')
    const kept = await bench.trpc.sources.test.mutate({ baseId, sourceId, client: 'pg', connection: {} })
    expect(kept).toEqual({ ok: true })
  })

  test('takes a source back as it was answered, and switches what is allowed in it', async () => {
    const current = (await bench.rest.get(`${sourcesOf(baseId)}/${sourceId}`)).body
    expect((await patch(current)).status).toBe(200)
    const { body } = await patch({ is_data_readonly: true, is_schema_readonly: 1 })
    expect(body).toMatchObject({ is_data_readonly: true, is_schema_readonly: true })
    await patch({ is_data_readonly: false, is_schema_readonly: false })
  })

  test("hides a source's tables while it is off, but not the base's own", async () => {
    await patch({ enabled: false })
    expect(await titlesOf(baseId)).toEqual([])
    await patch({ enabled: true })
    expect(await titlesOf(baseId)).toEqual(['customer', 'purchase'])
    const [own] = (await bench.rest.get(sourcesOf(baseId))).body.list
    const refused = await bench.rest.patch(`${sourcesOf(baseId)}/${own.id}`, { is_data_readonly: true })
    expect(refused.status).toBe(400)
  })
})

describe('DELETE M/projects/{b}/bases/{s}', () => {
  test("refuses the base's own, and forgets another without touching its database", async () => {
    const { app, rest, owner, trpc } = bench
    const { id: baseId } = await createBase(app, owner)
    const sourceId = await connect({ ...bench, baseId }, shop.sent)
    const [own] = (await rest.get(sourcesOf(baseId))).body.list
    const refused = await rest.delete(`${sourcesOf(baseId)}/${own.id}`)
    expect([refused.status, refused.body]).toEqual([400, { msg: 'Error: Cannot delete first base' }])
    const [table] = await trpc.schema.tables.query({ baseId })
    const { status, body } = await rest.delete(`${sourcesOf(baseId)}/${sourceId}`)
    expect([status, body.id.slice(0, 3)]).toEqual([200, 'job'])
    expect(await jobEnd(bench, body.id)).toMatchObject({ status: 'completed', result: { id: sourceId } })
    expect((await rest.get(sourcesOf(baseId))).body.list).toHaveLength(1)
    expect(await titlesOf(baseId)).toEqual([])
    expect(await trpc.schema.tables.query({ baseId, trash: true })).toEqual([])
    const gone = await refusalOf(trpc.schema.table.query({ tableId: table!.id }))
    expect(gone.code).toBe('TABLE_NOT_FOUND')
    expect((await rest.get(`${sourcesOf(baseId)}/${sourceId}`)).body.error).toBe('SOURCE_NOT_FOUND')
    expect(await shop.ask('select name from customer')).toEqual([{ name: 'Ann' }])
  })
})

describe('a database of 600 tables', () => {
  test('is connected within a minute of processor time, with its links and views', async () => {
    const columns = Array.from({ length: 17 }, (_, n) => `value_${n} varchar(50)`).join(', ')
    const tables = Array.from(
      { length: 600 },
      (_, n) =>
        `create table t_${n} (id serial primary key, ${columns}, amount numeric(10,2), parent_id integer
          ${n > 0 ? `references t_${n - 1} (id)` : ''})`,
    )
    const views = Array.from({ length: 20 }, (_, n) => `create view v_${n} as select id, value_1 from t_${n}`)
    const large = await createForeign('postgres', [[...tables, ...views].join(';\n')])
    const { id: baseId } = await createBase(bench.app, bench.owner)
    const usedBefore = cpuTimeMs()
    const sourceId = await connect({ ...bench, baseId }, large.sent)
    const seconds = (cpuTimeMs() - usedBefore) / 1000
    console.info(`600 tables and 20 views were connected in ${seconds.toFixed(1)} s of processor time`)
    expect(seconds).toBeLessThan(60)
    const found = await bench.trpc.schema.tables.query({ baseId })
    expect(found).toHaveLength(620)
    const middle = found.find((table) => table.title === 't_300')!
    const { fields } = await bench.trpc.schema.table.query({ tableId: middle.id })
    expect(fields.filter((field) => field.type === 'Links').map((field) => field.title)).toEqual(['t_301'])
    expect(await bench.trpc.schema.differences.query({ baseId, sourceId })).toEqual([])
    await large.stop()
  })
})

describe('a source whose connection was kept with another key', () => {
  test('is listed, says what to do, and works again once it is entered', async () => {
    const { app, rest, trpc, owner } = bench
    const { id: baseId } = await createBase(app, owner)
    const sourceId = await connect({ ...bench, baseId }, shop.sent)
    const kept = app.kernel.secrets.connections
    app.kernel.secrets.connections = kept.map((byte) => byte ^ 1)
    const [, source] = await trpc.sources.list.query({ baseId })
    expect(source).toMatchObject({ id: sourceId, connection: null })
    const { status, body } = await rest.get(`/api/v1/db/meta/projects/${baseId}/meta-diff/${sourceId}`)
    expect([status, body.message]).toEqual([400, expect.stringContaining('Enter them again')])
    await trpc.sources.update.mutate({ baseId, sourceId, config: shop.sent })
    expect(await trpc.schema.differences.query({ baseId, sourceId })).toEqual([])
    app.kernel.secrets.connections = kept
  })
})
