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
})
