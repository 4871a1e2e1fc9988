import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Bench, benchOf, refusalOf } from '../records/support.ts'
import { createTestApp } from '../support/app.ts'
import { createBase, createMember } from '../support/factories.ts'
import { connect, createForeign, type ForeignDatabase, jobEnd } from './support.ts'

let bench: Bench
let shop: ForeignDatabase
beforeAll(async () => {
  const app = await createTestApp({ database: 'postgres' })
  const owner = await app.signUp()
  bench = benchOf(app, owner, (await createBase(app, owner)).id)
  shop = await createForeign('postgres', [
    'create table wanted (id serial primary key, name text); create table left_out (id serial primary key); create table other (id serial primary key)',
  ])
})
afterAll(async () => {
  await bench.stop()
  await shop.stop()
})

describe('the database of the server itself', () => {
  test('is connected, tried and looked into by a super admin only, by whatever name it is reached', async () => {
    const { app, baseId } = bench
    const { hostname, port, username: user, password, pathname } = new URL(app.config.databaseUrl ?? '')
    const other = hostname === 'localhost' ? '127.0.0.1' : 'localhost'
    const creator = await createMember(app, baseId, 'creator')
    for (const host of [hostname, other]) {
      const sent = { client: 'pg', connection: { host, port, user, password, database: pathname.slice(1) } }
      const trpc = app.trpc(creator.token)
      const words = 'Only a super admin can connect a base to it'
      const tested = await trpc.sources.test.mutate({ baseId, ...sent })
      expect(tested).toEqual({ ok: false, message: expect.stringContaining(words) })
      const looked = await refusalOf(trpc.sources.inspect.mutate({ baseId, ...sent }))
      expect([looked.code, looked.message]).toEqual(['FORBIDDEN', expect.stringContaining(words)])
      const { id } = await trpc.sources.create.mutate({ baseId, ...sent })
      expect(await jobEnd(bench, id)).toMatchObject({
        status: 'failed',
        error: expect.stringContaining(words),
      })
      const made = await trpc.sources.create.mutate({ baseId, ...shop.sent })
      const sourceId = ((await jobEnd(bench, made.id)).result as { id: string }).id
      const moved = await refusalOf(trpc.sources.update.mutate({ baseId, sourceId, config: sent }))
      expect(moved.message).toContain(words)
      const gone = await trpc.sources.delete.mutate({ baseId, sourceId })
      await jobEnd(bench, gone.id)
      expect(await bench.trpc.sources.test.mutate({ baseId, ...sent })).toEqual({ ok: true })
    }
  })
})

describe('tables that were left out when a database was connected', () => {
  test('are no difference for those who apply all, and are added when they are asked for', async () => {
    const { trpc, rest, app, owner } = bench
    const { id: baseId } = await createBase(app, owner)
    const sourceId = await connect({ ...bench, baseId }, shop.sent, { tables: ['wanted'] })
    const titles = async () => (await trpc.schema.tables.query({ baseId })).map(({ title }) => title)
    const path = `/api/v1/db/meta/projects/${baseId}/meta-diff/${sourceId}`
    expect((await rest.get(path)).body).toEqual([])
    await shop.ask('create table later (id serial primary key)')
    const synced = await rest.post(path, {})
    expect((await jobEnd(bench, synced.body.id)).status).toBe('completed')
    expect(await titles()).toEqual(['wanted', 'later'])
    const found = await trpc.schema.differences.query({ baseId, sourceId })
    expect(found.map(({ table, isLeftOut }) => [table, isLeftOut])).toEqual([
      ['left_out', true],
      ['other', true],
    ])
    const { id } = await trpc.schema.syncSource.mutate({ baseId, sourceId, keys: [found[0]!.key] })
    expect((await jobEnd(bench, id)).status).toBe('completed')
    expect(await titles()).toEqual(['wanted', 'later', 'left_out'])
    expect((await trpc.schema.differences.query({ baseId, sourceId })).map(({ table }) => table)).toEqual([
      'other',
    ])
  })

  test('so are tables and fields that people deleted here', async () => {
    const { trpc, rest, app, owner } = bench
    const { id: baseId } = await createBase(app, owner)
    await shop.ask('create table hidden (id serial primary key); alter table wanted add column secret text')
    const sourceId = await connect({ ...bench, baseId }, shop.sent, { tables: ['wanted', 'hidden'] })
    const path = `/api/v1/db/meta/projects/${baseId}/meta-diff/${sourceId}`
    const tables = () => trpc.schema.tables.query({ baseId })
    const idOf = async (title: string) => (await tables()).find((table) => table.title === title)?.id ?? ''
    const columns = async () => {
      const { fields } = await trpc.schema.table.query({ tableId: await idOf('wanted') })
      return fields.map(({ id, columnName }) => ({ id, columnName }))
    }
    const before = await columns()
    const secret = before.find(({ columnName }) => columnName === 'secret')
    await trpc.schema.deleteField.mutate({ fieldId: secret?.id ?? '' })
    await trpc.schema.deleteTable.mutate({ tableId: await idOf('hidden') })
    expect((await rest.get(path)).body).toEqual([])
    await jobEnd(bench, (await rest.post(path, {})).body.id)
    expect((await tables()).map(({ title }) => title)).not.toContain('hidden')
    expect(await columns()).not.toContainEqual(secret!)
    const found = await trpc.schema.differences.query({ baseId, sourceId })
    const named = found.filter(({ table, column }) => column === 'secret' || table === 'hidden')
    expect(named.map(({ isLeftOut }) => isLeftOut)).toEqual([true, true])
    const keys = named.map(({ key }) => key)
    await jobEnd(bench, (await trpc.schema.syncSource.mutate({ baseId, sourceId, keys })).id)
    expect((await tables()).map(({ title }) => title)).toContain('hidden')
    expect(await columns()).toContainEqual(secret!)
    await shop.ask('drop table hidden; alter table wanted drop column secret')
  })

  test('so is, in a copy of the base, what people deleted before it was made', async () => {
    const { trpc, rest, app, owner } = bench
    const { id: baseId } = await createBase(app, owner)
    await shop.ask('create table hidden (id serial primary key); alter table wanted add column secret text')
    await connect({ ...bench, baseId }, shop.sent, { tables: ['wanted', 'hidden'] })
    const tablesOf = (id: string) => trpc.schema.tables.query({ baseId: id })
    const columnsOf = async (tableId = '') =>
      (await trpc.schema.table.query({ tableId })).fields.map(({ id, columnName }) => ({ id, columnName }))
    const tables = await tablesOf(baseId)
    const idOf = (title: string) => tables.find((table) => table.title === title)?.id ?? ''
    const before = await columnsOf(idOf('wanted'))
    const secret = before.find(({ columnName }) => columnName === 'secret')
    await trpc.schema.deleteField.mutate({ fieldId: secret?.id ?? '' })
    await trpc.schema.deleteTable.mutate({ tableId: idOf('hidden') })
    const copy = await trpc.copies.base.mutate({ baseId, options: {} })
    expect((await jobEnd(bench, copy.jobId)).status).toBe('completed')
    const [source] = await trpc.sources.list.query({ baseId: copy.baseId })
    const path = `/api/v1/db/meta/projects/${copy.baseId}/meta-diff/${source?.id}`
    expect((await rest.get(path)).body).toEqual([])
    expect((await jobEnd(bench, (await rest.post(path, {})).body.id)).status).toBe('completed')
    const copied = await tablesOf(copy.baseId)
    expect(copied.map(({ title }) => title)).toEqual(['wanted'])
    expect((await columnsOf(copied[0]?.id)).map(({ columnName }) => columnName)).not.toContain('secret')
    const { items } = await trpc.trash.list.query({ baseId: copy.baseId })
    const asked = { baseId: copy.baseId, items: items.map(({ ref }) => ref) }
    expect((await trpc.trash.restore.mutate(asked)).restored).toBe(2)
    const hidden = (await tablesOf(copy.baseId)).find(({ title }) => title === 'hidden')
    expect((await columnsOf(copied[0]?.id)).map(({ columnName }) => columnName)).toContain('secret')
    expect((await rest.get(`/api/v2/tables/${hidden?.id}/records`)).status).toBe(200)
    await shop.ask('drop table hidden; alter table wanted drop column secret')
  })

  test('so are links that people deleted, also when their table comes back from the database', async () => {
    const { trpc, rest, app, owner } = bench
    const { id: baseId } = await createBase(app, owner)
    const make = 'create table child (id serial primary key, wanted_id integer references wanted (id))'
    await shop.ask(make)
    const sourceId = await connect({ ...bench, baseId }, shop.sent, { tables: ['wanted', 'child'] })
    const path = `/api/v1/db/meta/projects/${baseId}/meta-diff/${sourceId}`
    const sync = async () => jobEnd(bench, (await rest.post(path, {})).body.id)
    const link = async () => {
      const child = (await trpc.schema.tables.query({ baseId })).find(({ title }) => title === 'child')
      const { fields } = await trpc.schema.table.query({ tableId: child?.id ?? '' })
      return fields.find(({ type }) => type === 'LinkToAnotherRecord')
    }
    const before = await link()
    await trpc.schema.deleteField.mutate({ fieldId: before?.id ?? '' })
    expect((await rest.get(path)).body).toEqual([])
    await shop.ask('drop table child')
    await sync()
    await shop.ask(make)
    await sync()
    expect(await link()).toBeUndefined()
    const found = await trpc.schema.differences.query({ baseId, sourceId })
    const keys = found.filter(({ kind }) => kind === 'relation.add').map(({ key }) => key)
    await jobEnd(bench, (await trpc.schema.syncSource.mutate({ baseId, sourceId, keys })).id)
    expect((await link())?.id).toBe(before?.id)
    await shop.ask('drop table child')
  })
})
