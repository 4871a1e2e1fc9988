import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createCopyJob } from '../../modules/imports/copies/jobs.ts'
import type { UserActor } from '../../src/core/actor.ts'
import { createId } from '../../src/core/ids.ts'
import { doorOf, ended } from '../imports/support.ts'
import { type Bench, createBench, refusalOf, type TestTable } from '../records/support.ts'
import type { TestUser } from '../support/app.ts'
import { createBase, createMember } from '../support/factories.ts'

let bench: Bench
let tasks: TestTable
let people: TestTable
beforeAll(async () => {
  bench = await createBench()
  const { trpc } = bench
  const ann = await createMember(bench.app, bench.baseId, 'editor')
  people = await bench.table({ Title: 'SingleLineText', Rate: 'Number' }, [
    { Title: 'p1', Rate: 3 },
    { Title: 'p2', Rate: 4 },
  ])
  tasks = await bench.table({ Title: 'SingleLineText', Hours: 'Number', Who: 'User' }, [
    { Title: 't1', Hours: 2, Who: ann.email },
    { Title: 't2', Hours: 5 },
  ])
  const add = async (title: string, type: string, options: object) =>
    trpc.schema.createField.mutate({ tableId: tasks.id, field: { title, type, options } as never })
  const link = await add('People', 'Links', { kind: 'mm', relatedTableId: people.id })
  await add('Rates', 'Rollup', {
    relationFieldId: link.id,
    targetFieldId: people.field('Rate').id,
    function: 'sum',
  })
  await add('Cost', 'Formula', { formula: '{Hours} * {Rates}' })
  await trpc.records.write.mutate({
    change: {
      baseId: bench.baseId,
      operations: [{ kind: 'link', tableId: tasks.id, fieldId: link.id, id: 1, targets: [1, 2] }],
    },
  })
  const { fields } = await trpc.schema.table.query({ tableId: tasks.id })
  const cost = fields.find(({ title }) => title === 'Cost')?.id ?? ''
  await trpc.views.create.mutate({ tableId: tasks.id, title: 'Board', kind: 'kanban' })
  await trpc.views.update.mutate({
    viewId: tasks.schema.views[0]?.id ?? '',
    patch: {
      filter: { fieldId: cost, operator: 'gt', value: 0 },
      sorts: [{ fieldId: cost, direction: 'desc' }],
      groups: [{ fieldId: tasks.field('Hours').id, direction: 'asc' }],
    },
  })
  await trpc.schema.deleteTable.mutate({ tableId: (await bench.table()).id })
})
afterAll(() => bench.stop())

const copy = async (user: TestUser, options = {}) => {
  const started = await bench.app.trpc(user.token).copies.base.mutate({ baseId: bench.baseId, options })
  expect((await ended(doorOf(bench.app, user), started.jobId)).status).toBe('completed')
  return started.baseId
}

async function openCopy(baseId: string, user: TestUser = bench.owner) {
  const trpc = bench.app.trpc(user.token)
  const tables = await trpc.schema.tables.query({ baseId })
  const table = tables.find(({ title }) => title === tasks.title)
  if (!table) throw new Error('The copy has no such table')
  return { trpc, tables, schema: await trpc.schema.table.query({ tableId: table.id }) }
}

const rows = async (tableId: string, user: TestUser = bench.owner, viewId?: string) =>
  (
    await bench.app
      .rest(user.token)
      .get(
        `/api/v2/tables/${tableId}/records?fields=Title,Hours,Rates,Cost,Who${viewId ? `&viewId=${viewId}` : ''}`,
      )
  ).body.list

describe('a copy of a base', () => {
  test('has the tables, links, formulas, views and records of the original, under ids of its own', async () => {
    const baseId = await copy(bench.owner)
    expect((await bench.trpc.bases.get.query({ baseId })).title).toMatch(/ copy$/)
    const { schema, tables } = await openCopy(baseId)
    expect(tables.map(({ title }) => title).toSorted()).toEqual([people.title, tasks.title].toSorted())
    const original = await bench.trpc.schema.table.query({ tableId: tasks.id })
    const text = JSON.stringify(schema)
    for (const { id } of [...original.fields, ...original.views, original.table])
      expect(text).not.toContain(id)
    expect(schema.views.map(({ title, kind }) => [title, kind])).toEqual(
      original.views.map(({ title, kind }) => [title, kind]),
    )
    expect(await rows(schema.table.id)).toEqual(await rows(tasks.id))
    expect(await rows(schema.table.id)).toMatchObject([{ Title: 't1', Rates: 7, Cost: 14 }, { Title: 't2' }])
    // Its view filters by its own formula.
    expect(await rows(schema.table.id, bench.owner, schema.views[0]?.id)).toHaveLength(1)
  })

  test('goes its own way: writes in one do not show in the other, and ids go on', async () => {
    const baseId = await copy(bench.owner)
    const { schema } = await openCopy(baseId)
    const path = `/api/v2/tables/${schema.table.id}/records`
    expect((await bench.rest.post(path, { Title: 'new' })).body).toEqual({ Id: 3 })
    expect(await tasks.total()).toBe(2)
    await bench.rest.patch(tasks.path, { Id: 1, Title: 'changed' })
    expect((await rows(schema.table.id))[0].Title).toBe('t1')
    await bench.rest.patch(tasks.path, { Id: 1, Title: 't1' })
    const undone = await bench.trpc.records.undo.mutate({ baseId })
    expect(undone.kind).toBe('records.insert')
    expect((await bench.trpc.records.undo.mutate({ baseId })).kind).toBeNull()
  })

  test('takes no records and no further views where that is asked for', async () => {
    const baseId = await copy(bench.owner, { title: 'Empty', withData: false, withViews: false })
    const { schema } = await openCopy(baseId)
    expect(await rows(schema.table.id)).toEqual([])
    expect(schema.views).toHaveLength(1)
    expect((await bench.trpc.bases.get.query({ baseId })).title).toBe('Empty')
  })

  test('is for creators who may make bases, over REST as well', async () => {
    const editor = await createMember(bench.app, bench.baseId, 'editor')
    const refused = bench.app.trpc(editor.token).copies.base.mutate({ baseId: bench.baseId })
    expect((await refusalOf(refused)).status).toBe(403)
    const { status, body } = await bench.rest.post(`/api/v1/db/meta/duplicate/${bench.baseId}`, {
      base: { title: 'By REST' },
      options: { excludeData: true },
    })
    expect([status, body.base_id]).toEqual([200, expect.stringMatching(/^p/)])
    const job = await ended(doorOf(bench.app, bench.owner), body.id)
    expect(job.result).toEqual({ id: body.base_id })
    for (const options of [{ excludeUsers: true }, { excludeData: 'yes' }]) {
      const refused = await bench.rest.post(`/api/v1/db/meta/duplicate/${bench.baseId}`, { options })
      expect([refused.status, JSON.stringify(refused.body)]).toEqual([
        400,
        expect.stringContaining(Object.keys(options)[0]!),
      ])
    }
    expect((await bench.rest.post('/api/v1/db/meta/duplicate/pnothing', {})).status).toBe(404)
  })
})

describe('a copy of a shared base', () => {
  test('belongs to whoever has the link and the password, and names nobody', async () => {
    const view = await bench.trpc.views.create.mutate({ tableId: tasks.id, title: 'Others', kind: 'grid' })
    const condition = { fieldId: tasks.field('Who').id, operator: 'nlike', value: 'boss@example.com' }
    const filter = { join: 'and' as const, children: [condition] }
    await bench.trpc.views.update.mutate({ viewId: view.id, patch: { filter } })
    const share = await bench.trpc.shares.save.mutate({
      kind: 'base',
      targetId: bench.baseId,
      patch: { password: 'open sesame' },
    })
    const guest = await bench.app.signUp('guest@example.com')
    await bench.rest.patch(`/api/v1/users/${guest.id}`, { roles: 'org-level-creator' })
    const { copies } = bench.app.trpc(guest.token)
    const wrong = copies.sharedBase.mutate({ shareId: share.id, password: 'wrong' })
    expect((await refusalOf(wrong)).code).toBe('INVALID_SHARED_VIEW_PASSWORD')
    const { baseId, jobId } = await copies.sharedBase.mutate({ shareId: share.id, password: 'open sesame' })
    expect((await ended(doorOf(bench.app, guest), jobId)).status).toBe('completed')
    const { schema } = await openCopy(baseId, guest)
    expect(schema.views.map(({ title }) => title)).toContain('Others')
    expect(JSON.stringify(schema.views)).not.toContain('boss@')
    const found = await rows(schema.table.id, guest)
    expect(found).toMatchObject([{ Title: 't1', Cost: 14, Who: null }, { Title: 't2' }])
    const members = await bench.app.trpc(guest.token).bases.members.query({ baseId })
    expect(members).toHaveLength(1)
    expect(JSON.stringify(members)).toContain('guest@example.com')
    await bench.trpc.shares.close.mutate({ kind: 'base', targetId: bench.baseId })
    const closed = copies.sharedBase.mutate({ shareId: share.id, password: 'open sesame' })
    expect((await refusalOf(closed)).status).toBe(404)
  })
})

test.each(['a copy', 'a file'])('%s is not for somebody who is removed while it waits', async (kind) => {
  const { app, owner } = bench
  // Without computed fields, whose values are read with the rights of the person.
  const { id: baseId } = await createBase(app, owner)
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const name = `occupies the base for ${kind}`
  app.kernel.jobs.register(name, { run: () => released, recover: async () => null })
  await app.kernel.jobs.start(name, { userId: owner.id, baseId, input: {} })
  const creator = await createMember(app, baseId, 'creator')
  const as = app.trpc(creator.token)
  const { jobId } =
    kind === 'a copy'
      ? await as.copies.base.mutate({ baseId, options: {} })
      : await as.baseFiles.export.mutate({ baseId })
  await app.services.auth.access.setMembership(baseId, creator.id, null)
  release()
  const outcome = await ended(doorOf(app, creator), jobId)
  expect(outcome).toMatchObject({ status: 'failed', result: null })
  expect(outcome.error).toContain('permission to access')
  expect(await as.bases.list.query()).toEqual([])
})

test('what a copy that was cut off has begun is removed at the next start', async () => {
  const { kernel, services } = bench.app
  const [owner, newBaseId] = [{ id: bench.owner.id } as UserActor, createId('base')]
  const original = await services.bases.require(bench.baseId)
  const draft = { baseId: newBaseId, title: 'Cut off', withSources: true }
  await services.bases.copies.begin(owner, original, draft)
  await kernel.sources.copy(bench.baseId, newBaseId, {
    tables: [tasks.schema.table.tableName],
    withData: true,
    replaced: [],
  })
  expect(await kernel.sources.exists(newBaseId)).toBe(true)
  // What SQLite leaves beside a copy whose process was killed while it wrote.
  if (kernel.sources.newHome === 'sqlite3') writeFileSync(`${kernel.sources.path(newBaseId)}-journal`, 'half')
  const input = { owner, baseId: bench.baseId, newBaseId, title: 'Cut off', withData: true }
  const job = createCopyJob({ kernel, ...services, copyRows: services.copies.rows })
  const at = { id: 'job', userId: owner.id }
  expect(await job.recover({ ...input, withViews: true, isVisitor: false }, at)).toBeNull()
  expect(await kernel.sources.exists(newBaseId)).toBe(false)
  const titles = (await services.bases.trashed()).map(({ title }) => title)
  expect(titles).not.toContain('Cut off')
  const left = readdirSync(join(kernel.config.dataDir, 'bases')).filter((name) => name.startsWith(newBaseId))
  expect(left).toEqual([])
})
