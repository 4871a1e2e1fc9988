import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { io, type Socket } from 'socket.io-client'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import { all, byLink, createSecrets, refusalOf, refusalsOf, type Secrets } from './world.ts'

let app: TestApp
let owner: TestUser
let world: Secrets
let id: string

beforeAll(async () => {
  app = await createTestApp()
  owner = await app.signUp('owner@example.com')
  world = await createSecrets(app, owner)
  id = (await save({})).id
})
afterAll(() => app.stop())

const save = (patch: Parameters<typeof world.trpc.shares.save.mutate>[0]['patch']) =>
  world.trpc.shares.save.mutate({ kind: 'base', targetId: world.baseId, patch })
const visitor = (password?: string) => app.trpc(byLink('base', id, password))
const insert = () => ({
  change: {
    baseId: world.baseId,
    operations: [
      {
        kind: 'insert' as const,
        tableId: world.tableId,
        rows: [{ values: { [world.fields.name]: 'Guest' } }],
      },
    ],
  },
})

describe('a link to a base', () => {
  test('shows its tables and records, and no member', async () => {
    const { baseId, tableId, fields } = world
    const trpc = visitor()
    expect(await trpc.bases.get.query({ baseId })).toMatchObject({
      title: expect.any(String),
      role: 'viewer',
    })
    expect((await trpc.schema.tables.query({ baseId })).map(({ title }) => title)).toEqual([
      'Secret teams',
      'Staff',
    ])
    expect((await trpc.records.list.query({ query: { tableId, limit: 10, offset: 0 } })).ids).toHaveLength(3)
    const form = await world.trpc.views.create.mutate({ tableId, title: 'Ask', kind: 'form' })
    await world.trpc.views.update.mutate({
      viewId: form.id,
      patch: { options: { ...form.options, emailTo: 'boss@example.com' } },
    })
    const everything = [
      await trpc.schema.table.query({ tableId }),
      await trpc.records.people.query({ baseId }),
      await trpc.records.formerPeople.query({ tableId, ids: [owner.id] }),
      ...(await Promise.all(
        [
          `/api/v1/db/meta/projects/${baseId}`,
          `/api/v1/db/meta/tables/${tableId}`,
          `/api/v1/db/meta/tables/${tableId}/views`,
          `/api/v1/db/meta/forms/${form.id}`,
          `/api/v2/tables/${tableId}/records`,
          `/api/v1/db/data/noco/${baseId}/Staff/groupby?column_name=Boss`,
        ].map(async (path) => {
          const { status, body } = await app.rest(byLink('base', id)).get(path)
          expect([path, status]).toEqual([path, 200])
          return body
        }),
      )),
    ]
    const text = JSON.stringify(everything)
    expect(text).not.toMatch(/@example\.com/)
    expect(text).not.toContain(id)
    expect(text).toContain('"display_name":"owner"')
    // A member reads the same with the addresses, also just after a visitor has.
    const own = await app.rest(owner.token).get(`/api/v2/tables/${tableId}/records`)
    expect(JSON.stringify(own.body)).toContain('owner@example.com')
    const again = await app.rest(byLink('base', id)).get(`/api/v2/tables/${tableId}/records`)
    expect(JSON.stringify(again.body)).not.toContain('@example.com')
    expect(fields.boss).not.toBe('')
  })

  test('tells no address that stands in a condition of a view', async () => {
    const { trpc, tableId, fields, viewId } = world
    const view = await trpc.views.duplicate.mutate({ viewId })
    const condition = { fieldId: fields.boss, operator: 'nlike', value: 'boss.address@example.com' }
    const filter = { join: 'and' as const, children: [condition] }
    await trpc.views.update.mutate({
      viewId: view.id,
      patch: { filter, coloring: { mode: 'filter', rules: [{ color: '#ff0000', filter }] } },
    })
    const { views } = await visitor().schema.table.query({ tableId })
    expect(views.map((one) => one.id)).toContain(view.id)
    const guest = app.rest(byLink('base', id))
    const filters = await guest.get(`/api/v2/meta/views/${view.id}/filters`)
    expect(filters.status).toBe(200)
    expect(JSON.stringify([views, filters.body])).not.toContain('boss.address')
    const own = await app.rest(owner.token).get(`/api/v2/meta/views/${view.id}/filters`)
    expect(JSON.stringify(own.body)).toContain('boss.address')
    await trpc.views.delete.mutate({ viewId: view.id })
  })

  test('shows no other base, and nothing that is for members', async () => {
    const { baseId, tableId, records } = world
    const elsewhere = await createSecrets(app, owner, 'Elsewhere')
    const trpc = visitor()
    const rest = app.rest(byLink('base', id))
    const refused = {
      otherBase: trpc.bases.get.query({ baseId: elsewhere.baseId }),
      otherTable: trpc.schema.table.query({ tableId: elsewhere.tableId }),
      otherRecords: trpc.records.count.query({ selection: { tableId: elsewhere.tableId } }),
      members: trpc.bases.members.query({ baseId }),
      history: trpc.records.history.query({ tableId, recordId: records.ann }),
      shares: trpc.shares.list.query({ baseId }),
      share: trpc.shares.save.mutate({ kind: 'base', targetId: baseId, patch: { role: 'editor' } }),
      field: trpc.schema.createField.mutate({ tableId, field: { title: 'X', type: 'Number' } }),
      view: trpc.views.create.mutate({ tableId, title: 'X', kind: 'grid' }),
      trash: trpc.schema.tables.query({ baseId, trash: true }),
      undo: trpc.records.undo.mutate({ baseId }),
    }
    expect(await refusalsOf(refused)).toEqual(all(refused, expect.stringMatching(/^40[13] /)))
    for (const path of ['users', 'api-tokens', 'bases', 'shared', 'info']) {
      expect([path, (await rest.get(`/api/v1/db/meta/projects/${baseId}/${path}`)).status]).toEqual([
        path,
        403,
      ])
    }
    expect(
      (await rest.post(`/api/v1/db/meta/projects/${baseId}/users`, { email: 'x@y.co', roles: 'viewer' }))
        .status,
    ).toBe(403)
  })

  test('lets viewers write nothing, and editors records alone, which nobody in particular has written', async () => {
    const { baseId, tableId, fields } = world
    expect(await refusalOf(visitor().records.write.mutate(insert()))).toBe('403 FORBIDDEN')
    expect(await refusalOf(visitor().records.deleteMatching.mutate({ selection: { tableId } }))).toBe(
      '403 FORBIDDEN',
    )
    await save({ role: 'editor' })
    const { inserted, actorId } = await visitor().records.write.mutate(insert())
    expect(actorId).toBeNull()
    const recordId = inserted[0]!
    const { entries, people } = await world.trpc.records.history.query({ tableId, recordId })
    expect([entries.map((entry) => entry.actorId), people]).toEqual([[null], []])
    const selection = { tableId, filter: { fieldId: fields.name, operator: 'eq', value: 'Guest' } }
    const changed = await visitor().records.updateMatching.mutate({
      selection,
      values: { [fields.mood]: 'Sad' },
    })
    expect(changed.count).toBe(1)
    // People are chosen by their ids: an address tells nobody whether it is a member's.
    const assign = (value: string) =>
      refusalOf(visitor().records.updateMatching.mutate({ selection, values: { [fields.boss]: value } }))
    expect(await assign('owner@example.com')).toBe(await assign('nobody@example.com'))
    expect(await assign(owner.id)).toBeNull()
    expect(await visitor().records.people.query({ baseId })).toEqual([
      { id: owner.id, email: '', displayName: 'owner' },
    ])
    expect((await visitor().records.deleteMatching.mutate({ selection })).count).toBe(1)
    expect(
      await refusalOf(
        visitor().schema.createField.mutate({ tableId, field: { title: 'X', type: 'Number' } }),
      ),
    ).not.toBeNull()
    expect(await refusalOf(visitor().records.undo.mutate({ baseId }))).toBe('401 AUTHENTICATION_REQUIRED')
  })

  test('lets editors bring files', async () => {
    const { baseId, tableId, fields, records } = world
    const body = new FormData()
    body.append('file', new File(['hello'], 'note.txt', { type: 'text/plain' }))
    const upload = () =>
      fetch(`${app.url}/api/v1/db/storage/upload`, { method: 'POST', headers: byLink('base', id), body })
    await save({ role: 'editor' })
    const [file] = (await (await upload()).json()) as {
      path: string
      title: string
      mimetype: string
      size: number
    }[]
    const { path, title, mimetype, size } = file!
    const cell = JSON.stringify([{ path, title, mimetype, size }])
    await visitor().records.write.mutate({
      change: {
        baseId,
        operations: [
          { kind: 'update', tableId, rows: [{ id: records.ben, values: { [fields.photo]: cell } }] },
        ],
      },
    })
    const signed = await visitor().records.signFiles.query({ tableId, paths: [path] })
    expect(Object.keys(signed.files)).toEqual([path])
    await save({ role: 'viewer' })
    expect((await upload()).status).toBe(403)
  })
})

describe('the socket by a link', () => {
  const connect = (auth: object) => io(app.url, { transports: ['websocket'], reconnection: false, auth })
  const outcome = (socket: Socket) =>
    new Promise<string>((resolve) => {
      socket.once('connect', () => resolve('connected'))
      socket.once('connect_error', () => resolve('refused'))
    })
  const closed = (socket: Socket) =>
    new Promise<void>((resolve) => socket.once('disconnect', () => resolve()))

  test('tells visitors of a base what changes there, and nothing of other bases', async () => {
    await save({ role: 'viewer', password: 'open sesame' })
    const shut = connect({ sharedBaseId: id })
    expect(await outcome(shut)).toBe('refused')
    shut.close()
    const socket = connect({ sharedBaseId: id, password: 'open sesame' })
    expect(await outcome(socket)).toBe('connected')
    const other = await createSecrets(app, owner, 'Next door')
    expect(await socket.emitWithAck('base:join', other.baseId, 0)).toMatchObject({ joined: false })
    expect(await socket.emitWithAck('base:join', world.baseId, 0)).toMatchObject({ joined: true })
    const news = new Promise<{ baseId: string }>((resolve) => socket.once('change', resolve))
    await world.trpc.records.write.mutate(insert())
    expect((await news).baseId).toBe(world.baseId)
    const end = closed(socket)
    await save({ password: null })
    await end
  })

  test('ends when the link does, and is not there for links to views', async () => {
    const view = await world.share()
    const byView = connect({ sharedViewId: view.id })
    expect(await outcome(byView)).toBe('refused')
    byView.close()
    const socket = connect({ sharedBaseId: id })
    expect(await outcome(socket)).toBe('connected')
    const end = closed(socket)
    await save({ expiresAt: new Date(Date.now() + 4000).toISOString() })
    await end
    const again = connect({ sharedBaseId: id })
    expect(await outcome(again)).toBe('connected')
    await closed(again)
    await save({ expiresAt: null })
    const last = connect({ sharedBaseId: id })
    expect(await outcome(last)).toBe('connected')
    const over = closed(last)
    await world.trpc.shares.close.mutate({ kind: 'base', targetId: world.baseId })
    await over
    expect(await refusalOf(visitor().bases.get.query({ baseId: world.baseId }))).toBe('404 BASE_NOT_FOUND')
  })
})

test('a link to a diagram shows the tables of its source, and nothing else', async () => {
  const [source] = (await app.services.bases.sourcesOf([world.baseId])).get(world.baseId) ?? []
  const { id } = await world.trpc.shares.save.mutate({ kind: 'erd', targetId: source?.id ?? '', patch: {} })
  const trpc = app.trpc(byLink('erd', id))
  const diagram = await trpc.shares.diagram.query()
  expect(diagram.tables.map(({ title }) => title).toSorted()).toEqual(['Secret teams', 'Staff'])
  expect(diagram.links).toHaveLength(2)
  expect(Object.keys(diagram.tables[0]?.fields[0] ?? {}).toSorted()).toEqual([
    'id',
    'isDisplay',
    'isForeignKey',
    'isPrimaryKey',
    'title',
    'type',
  ])
  const refused = {
    records: trpc.records.count.query({ selection: { tableId: world.tableId } }),
    table: trpc.schema.table.query({ tableId: world.tableId }),
    base: trpc.bases.get.query({ baseId: world.baseId }),
  }
  expect(await refusalsOf(refused)).toEqual(all(refused, '403 FORBIDDEN'))
  expect(await refusalOf(app.trpc(owner.token).shares.diagram.query())).toBe('403 FORBIDDEN')
})

describe('a change that the browser of a visitor sends again', () => {
  test.each(['one after the other', 'together'])('is written once: %s', async (order) => {
    const link = await save({ role: 'editor' })
    const guest = app.trpc(byLink('base', link.id))
    const count = async () =>
      (await world.trpc.records.count.query({ selection: { tableId: world.tableId } })).count
    const before = await count()
    const change = { ...insert().change, clientId: `guest ${order}` }
    const send = () => guest.records.write.mutate({ change })
    const [first, again] =
      order === 'together' ? await Promise.all([send(), send()]) : [await send(), await send()]
    expect(first.inserted).toHaveLength(1)
    expect([again.id, again.inserted]).toEqual([first.id, first.inserted])
    expect(await count()).toBe(before + 1)
    await save({ role: 'viewer' })
  })

  test('is written once if it is a condition', async () => {
    const link = await save({ role: 'editor' })
    const guest = app.trpc(byLink('base', link.id))
    await guest.records.write.mutate(insert())
    const { ids } = await guest.records.list.query({
      query: { tableId: world.tableId, limit: 100, offset: 0 },
    })
    const recordIds = ids.slice(-1)
    const call = {
      selection: { tableId: world.tableId, recordIds },
      values: { [world.fields.name]: 'Host' },
      clientId: 'guest condition',
    }
    const first = await guest.records.updateMatching.mutate(call)
    await guest.records.write.mutate({
      change: {
        baseId: world.baseId,
        operations: [
          {
            kind: 'update',
            tableId: world.tableId,
            rows: [{ id: recordIds[0]!, values: { [world.fields.name]: 'Later' } }],
          },
        ],
      },
    })
    const again = await guest.records.updateMatching.mutate(call)
    expect(again.id).toBe(first.id)
    const { values } = await world.trpc.records.get.query({ tableId: world.tableId, recordId: recordIds[0]! })
    expect(values[world.fields.name]).toBe('Later')
    await save({ role: 'viewer' })
  })
})
