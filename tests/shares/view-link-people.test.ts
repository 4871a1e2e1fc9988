import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import type { TrpcClient } from '../support/client.ts'
import { byLink, createSecrets, type Secrets } from './world.ts'

let app: TestApp
let owner: TestUser
let world: Secrets
let headers: Record<string, string>
let visitor: TrpcClient

beforeAll(async () => {
  app = await createTestApp()
  owner = await app.signUp('owner@example.com')
  world = await createSecrets(app, owner)
  headers = byLink('view', (await world.share()).id)
  visitor = app.trpc(headers)
})
afterAll(() => app.stop())

describe('a link to a view', () => {
  test('tells people by name alone, and only those whom one sees', async () => {
    const { baseId, tableId } = world
    const stranger = await app.signUp('hidden.person@example.com')
    await app.services.auth.access.setMembership(baseId, stranger.id, 'editor')
    const people = [{ id: owner.id, email: '', displayName: 'owner' }]
    expect(await visitor.records.people.query({ baseId })).toEqual(people)
    const ids = [owner.id, stranger.id]
    expect(await visitor.records.formerPeople.query({ tableId, ids })).toEqual(people)
    // An address is not found out by filters either.
    const filter = { fieldId: world.fields.boss, operator: 'like', value: 'owner@example' }
    expect(await visitor.records.count.query({ selection: { tableId, filter } })).toEqual({ count: 0 })
    const byName = { ...filter, value: 'own' }
    expect(await visitor.records.count.query({ selection: { tableId, filter: byName } })).toEqual({
      count: 1,
    })
  })

  test('writes people into files by name alone, those who have left as well', async () => {
    const path = `/api/v1/db/data/noco/${world.baseId}/Staff/export/csv`
    const csv = async () => String((await app.rest(headers).get(path)).body)
    const left = await app.signUp('left.person@example.com')
    await app.services.auth.access.setMembership(world.baseId, left.id, 'editor')
    const rows = [{ id: world.records.ben, values: { [world.fields.boss]: left.id } }]
    const write = (values: typeof rows) =>
      world.trpc.records.write.mutate({
        change: {
          baseId: world.baseId,
          operations: [{ kind: 'update', tableId: world.tableId, rows: values }],
        },
      })
    await write(rows)
    await app.services.auth.access.setMembership(world.baseId, left.id, null)
    expect((await csv()).match(/owner|left\.person|@/g)).toEqual(['left.person', 'owner'])
    await write([{ id: world.records.ben, values: { [world.fields.boss]: null as never } }])
  })

  test('signs files that stand in cells one sees, and no others', async () => {
    const { tableId, fields, records, baseId } = world
    const upload = async (name: string) => {
      const form = new FormData()
      form.append('file', new File(['hello'], name, { type: 'text/plain' }))
      const answer = await fetch(`${app.url}/api/v1/db/storage/upload`, {
        method: 'POST',
        headers: { 'xc-auth': owner.token },
        body: form,
      })
      const [file] = (await answer.json()) as {
        path: string
        title: string
        mimetype: string
        size: number
      }[]
      return file!
    }
    const files = await Promise.all(['shown.txt', 'hidden.txt', 'left-out.txt', 'unused.txt'].map(upload))
    const [shown, inside, leftOut] = files.map(({ path, title, mimetype, size }) =>
      JSON.stringify([{ path, title, mimetype, size }]),
    )
    await world.trpc.records.write.mutate({
      change: {
        baseId,
        operations: [
          {
            kind: 'update',
            tableId,
            rows: [
              { id: records.ann, values: { [fields.photo]: shown ?? null, [fields.file]: inside ?? null } },
              { id: records.eve, values: { [fields.photo]: leftOut ?? null } },
            ],
          },
        ],
      },
    })
    const paths = files.map(({ path }) => path)
    const signed = await visitor.records.signFiles.query({ tableId, paths })
    expect(Object.keys(signed.files)).toEqual([paths[0]!])
    const opened = await fetch(`${app.url}${signed.files[paths[0]!]?.url}`)
    expect(await opened.text()).toBe('hello')
    // A member of the base is told of all that stand in its cells.
    const own = await world.trpc.records.signFiles.query({ tableId, paths })
    expect(Object.keys(own.files).toSorted()).toEqual(paths.slice(0, 3).toSorted())
    const upload403 = await fetch(`${app.url}/api/v1/db/storage/upload`, { method: 'POST', headers })
    expect(upload403.status).toBe(403)
  })

  test('the REST API with the headers of a link is narrowed alike', async () => {
    const rest = app.rest(headers)
    const { tableId, records, baseId } = world
    const list = await rest.get(`/api/v2/tables/${tableId}/records`)
    expect(list.body.list.map((row: { Name: string }) => row.Name)).toEqual(['Ben', 'Ann'])
    expect(Object.keys(list.body.list[0]).toSorted()).toEqual([
      'Band',
      'Boss',
      'Id',
      'Money',
      'Mood',
      'Name',
      'Photo',
      'Teams',
    ])
    expect(JSON.stringify(list.body)).not.toContain('owner@')
    const hiddenWays = [
      'fields=Secret%20salary',
      'where=(Secret%20salary,gt,1)',
      'sort=Secret%20salary',
      'filterArrJson=' +
        encodeURIComponent(
          JSON.stringify([{ fk_column_id: world.fields.salary, comparison_op: 'gt', value: '1' }]),
        ),
      `sortArrJson=${encodeURIComponent(JSON.stringify([{ fk_column_id: world.fields.salary }]))}`,
    ]
    for (const way of hiddenWays) {
      const named = await rest.get(`/api/v2/tables/${tableId}/records?${way}`)
      const unknown = await rest.get(
        `/api/v2/tables/${tableId}/records?${way.replaceAll('Secret%20salary', 'No%20such').replaceAll(world.fields.salary, 'c00000000000000')}`,
      )
      // A hidden field is answered as one that there is none of.
      expect([way, named.status]).toEqual([way, unknown.status])
      const text = (body: unknown) =>
        JSON.stringify(body)
          .replaceAll('Secret salary', 'No such')
          .replaceAll(world.fields.salary, 'c00000000000000')
      expect(text(named.body)).toBe(text(unknown.body))
      expect(named.status).toBeGreaterThanOrEqual(400)
    }
    expect((await rest.get(`/api/v2/tables/${tableId}/records/${records.eve}`)).status).toBe(404)
    expect((await rest.get(`/api/v2/tables/${tableId}/records/${records.ann}`)).body.Name).toBe('Ann')
    expect((await rest.get(`/api/v2/tables/${tableId}/records/count`)).body).toEqual({ count: 2 })
    expect(
      (await rest.get(`/api/v2/tables/${tableId}/links/${world.fields.team}/records/${records.ann}`)).status,
    ).toBe(403)
    expect((await rest.get(`/api/v1/db/meta/tables/${tableId}`)).status).toBe(403)
    expect((await rest.get(`/api/v1/db/meta/projects/${baseId}/users`)).status).toBe(403)
    expect((await rest.post(`/api/v2/tables/${tableId}/records`, { Name: 'Mallory' })).status).toBe(403)
  })
})
