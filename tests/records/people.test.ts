import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { hasGroupKey } from '../../src/core/group-key.ts'
import type { TestUser } from '../support/app.ts'
import { createMember } from '../support/factories.ts'
import { type Bench, changesNothing, createBench, readsOf, refusalOf, type TestTable } from './support.ts'

let bench: Bench
let ann: TestUser
let bob: TestUser
let stranger: TestUser
let table: TestTable

beforeAll(async () => {
  bench = await createBench()
  ann = await createMember(bench.app, bench.baseId, 'editor')
  bob = await createMember(bench.app, bench.baseId, 'viewer')
  stranger = await bench.app.signUp('stranger@example.com')
  table = await bench.table({
    Title: 'SingleLineText',
    Who: 'User',
    Team: { type: 'User', options: { multiple: true } },
    Old: 'Collaborator',
    Me: { type: 'User', options: { multiple: true }, defaultValue: '@me' },
  })
})
afterAll(() => bench.stop())

const shown = ({ id, email }: TestUser) => ({ id, email, display_name: null, meta: null })

async function post(values: object) {
  const { status, body } = await bench.rest.post(table.path, values)
  if (status !== 200) return { status, body }
  const row = await bench.rest.get(`${table.path}/${body.Id}`)
  return { status, body: row.body, id: body.Id }
}

const write = (title: string, value: unknown, token = bench.owner.token) =>
  bench.app.trpc(token).records.write.mutate({
    change: {
      baseId: bench.baseId,
      operations: [
        { kind: 'insert', tableId: table.id, rows: [{ values: table.values({ [title]: value }) }] },
      ],
    },
  })

describe('people over REST', () => {
  test.each<[string, () => unknown]>([
    ['an id', () => ann.id],
    ['an e-mail in any case', () => ann.email.toUpperCase()],
    ['a list of objects with ids', () => [{ id: ann.id }]],
    ['a list of objects with e-mails', () => [{ email: ann.email }]],
    ['an object', () => ({ id: ann.id })],
    ['what an answer gave', () => [shown(ann)]],
  ])('take %s, and give a list of one', async (_, input) => {
    const { body } = await post({ Who: input() })
    expect(body.Who).toEqual([shown(ann)])
  })

  test('take several, each once, in the order in which they are given', async () => {
    const { body } = await post({ Team: `${bob.id}, ${ann.email},${bob.email}`, Old: [bob.id] })
    expect(body.Team).toEqual([shown(bob), shown(ann)])
    expect(body.Old).toEqual([shown(bob)])
  })

  test.each<[string, unknown]>([
    ['Who', null],
    ['Who', ''],
    ['Team', []],
  ])('%s takes %p for nobody', async (title, input) => {
    const { body } = await post({ [title]: input })
    expect(body[title]).toBeNull()
  })

  test('refuse who is no member of the base, on every path, and change nothing', async () => {
    const { id: recordId } = await post({ Title: 'x', Who: ann.id })
    const message = (name: string) => ({ msg: `User with id '${name}' is not part of this workspace` })
    await changesNothing(bench, async () => {
      for (const name of [stranger.id, stranger.email, 'usnobody', 'nonsense']) {
        expect(await bench.rest.post(table.path, { Who: name })).toMatchObject({
          status: 422,
          body: message(name),
        })
        expect(await bench.rest.patch(table.path, { Id: recordId, Team: [ann.id, name] })).toMatchObject({
          status: 422,
          body: message(name),
        })
      }
      const team = (await refusalOf(write('Team', `${ann.id},${stranger.id}`))).message
      expect(team).toBe(message(stranger.id).msg)
      const values = table.values({ Who: stranger.id })
      const all = bench.trpc.records.updateMatching.mutate({ selection: { tableId: table.id }, values })
      expect((await refusalOf(all)).message).toBe(message(stranger.id).msg)
    })
  })

  test('refuse several where one is meant, and what is no person at all', async () => {
    await changesNothing(bench, async () => {
      expect(await bench.rest.post(table.path, { Who: [ann.id, bob.id] })).toMatchObject({
        status: 422,
        body: { msg: "Multiple users not allowed for 'Who'" },
      })
      for (const input of [5, true, { name: 'ann' }, [[ann.id]], [{}]]) {
        const { status, body } = await bench.rest.post(table.path, { Who: input })
        expect({ status, error: body.error }).toEqual({ status: 422, error: 'INVALID_VALUE_FOR_FIELD' })
      }
    })
  })
})

describe('"me" as a default', () => {
  test('is whoever makes the record', async () => {
    const { inserted } = await write('Title', 'by ann', ann.token)
    const { body } = await bench.rest.get(`${table.path}/${inserted[0]}`)
    expect(body.Me).toEqual([shown(ann)])
  })

  test('is also someone with a role in all bases, who can be named like a member', async () => {
    const carla = await bench.app.signUp('carla@example.com')
    const { setWorkspaceRole } = bench.trpc.auth
    await setWorkspaceRole.mutate({ userId: carla.id, role: 'workspace-level-editor' })
    const { inserted } = await write('Title', 'by carla', carla.token)
    const { body } = await bench.rest.get(`${table.path}/${inserted[0]}`)
    expect(body.Me).toEqual([shown(carla)])
    expect((await post({ Who: carla.email })).body.Who).toEqual([shown(carla)])
    const people = await bench.trpc.records.people.query({ baseId: bench.baseId })
    expect(people.map(({ id }) => id)).toContain(carla.id)
    const view = `/api/v2/meta/views/${table.schema.views[0]?.id}`
    expect((await bench.rest.patch(view, { owned_by: carla.id })).status).toBe(200)
    await setWorkspaceRole.mutate({ userId: carla.id, role: null })
    expect((await post({ Who: carla.email })).status).toBe(422)
  })

  test('gives way to what is given, and to nobody', async () => {
    expect((await post({ Me: [bob.id] })).body.Me).toEqual([shown(bob)])
    expect((await post({ Me: null })).body.Me).toBeNull()
  })

  test('a person among the defaults who has left is left out', async () => {
    const gone = await createMember(bench.app, bench.baseId, 'editor')
    const other = await bench.table({
      Title: 'SingleLineText',
      Who: { type: 'User', options: { multiple: true }, defaultValue: `${gone.id},${ann.id}` },
    })
    await bench.app.services.auth.access.setMembership(bench.baseId, gone.id, null)
    await bench.rest.post(other.path, { Title: 'x' })
    expect((await other.list())[0]?.Who).toEqual([shown(ann)])
  })
})

describe('someone who has left the base', () => {
  test('stays where they are, is still named, and stands in the way of no other change', async () => {
    const gone = await createMember(bench.app, bench.baseId, 'editor')
    const { id } = await post({ Title: 'kept', Team: [gone.id] })
    await bench.app.services.auth.access.setMembership(bench.baseId, gone.id, null)
    const row = () => bench.rest.get(`${table.path}/${id}`)
    expect((await row()).body.Team).toEqual([shown(gone)])
    expect(await bench.rest.patch(table.path, { Id: id, Team: [gone.id, ann.id] })).toMatchObject({
      status: 200,
    })
    expect((await row()).body.Team).toEqual([shown(gone), shown(ann)])
    const names = { tableId: table.id, ids: [gone.id, stranger.id] }
    expect(await bench.trpc.records.formerPeople.query(names)).toEqual([
      { id: gone.id, email: gone.email, displayName: null },
    ])
    const { body } = await bench.rest.post(table.path, { Team: [gone.id] })
    expect(body).toEqual({ msg: `User with id '${gone.id}' is not part of this workspace` })
  })

  test('is looked for with one read, whatever the number of records that name them', async () => {
    const gone = await createMember(bench.app, bench.baseId, 'editor')
    const rows = Array.from({ length: 200 }, (_, index) => ({ Title: `${index}`, Team: [gone.id] }))
    const { body: made } = await bench.rest.post(table.path, rows)
    const { body: other } = await bench.rest.post(table.path, { Title: 'other' })
    await bench.app.services.auth.access.setMembership(bench.baseId, gone.id, null)
    const patches = made.map(({ Id }: { Id: number }) => ({ Id, Team: [gone.id, ann.id] }))
    await changesNothing(bench, async () => {
      // One of them has never held who is gone.
      const refused = await bench.rest.patch(table.path, [...patches, { Id: other.Id, Team: [gone.id] }])
      expect(refused).toMatchObject({
        status: 422,
        body: { msg: `User with id '${gone.id}' is not part of this workspace` },
      })
    })
    const asked = await readsOf(bench, () => bench.rest.patch(table.path, patches))
    expect(asked.filter((statement) => statement.includes(table.schema.table.tableName))).toHaveLength(1)
    const row = await bench.rest.get(`${table.path}/${made[199].Id}`)
    expect(row.body.Team).toEqual([shown(gone), shown(ann)])
  })

  test('of people who stand nowhere in the table nobody is told', async () => {
    const { trpc, rest } = { trpc: bench.app.trpc(stranger.token), rest: bench.app.rest(stranger.token) }
    const names = { tableId: table.id, ids: [ann.id] }
    expect((await refusalOf(trpc.records.formerPeople.query(names))).status).toBe(403)
    expect((await rest.get(table.path)).status).toBe(403)
  })
})

describe('filters on people', () => {
  test('look at each of several, know "me", and find by e-mail', async () => {
    const other = await bench.table(
      { Title: 'SingleLineText', Team: { type: 'User', options: { multiple: true } } },
      [
        { Title: 'a', Team: [ann.id] },
        { Title: 'ab', Team: [ann.id, bob.id] },
        { Title: 'b', Team: [bob.id] },
        { Title: 'none' },
      ],
    )
    const titles = async (where: string) =>
      (await other.titles(`?where=${encodeURIComponent(where)}`)) as string[]
    expect(await titles(`(Team,anyof,${ann.id})`)).toEqual(['a', 'ab'])
    expect(await titles(`(Team,allof,${ann.id},${bob.id})`)).toEqual(['ab'])
    expect(await titles(`(Team,nanyof,${ann.id})`)).toEqual(['b', 'none'])
    expect(await titles(`(Team,like,${bob.email.slice(0, 6)})`)).toEqual(['ab', 'b'])
    expect(await titles('(Team,blank)')).toEqual(['none'])
    const filter = { fieldId: other.field('Team').id, operator: 'anyof', value: ['@me'] }
    const count = (token: string) =>
      bench.app.trpc(token).records.count.query({ selection: { tableId: other.id, filter } })
    expect([await count(ann.token), await count(bob.token), await count(bench.owner.token)]).toEqual([
      { count: 2 },
      { count: 2 },
      { count: 0 },
    ])
  })
})

describe('a search', () => {
  test('finds people by what one sees of them, and never by their ids', async () => {
    const other = await bench.table({ Title: 'SingleLineText', Who: 'User' }, [
      { Title: 'a', Who: ann.id },
      { Title: 'b', Who: bob.id },
    ])
    const count = async (text: string) =>
      (
        await bench.trpc.records.count.query({
          selection: { tableId: other.id, search: { text, fieldId: null } },
        })
      ).count
    expect(await count(ann.email.toUpperCase())).toBe(1)
    expect(await count('example.com')).toBe(2)
    expect(await count(ann.id)).toBe(0)
  })
})

describe('sorts by people', () => {
  test('go by name, of several by the first, with nobody first and who has left last', async () => {
    const gone = await createMember(bench.app, bench.baseId, 'editor')
    const other = await bench.table(
      { Title: 'SingleLineText', Who: 'User', Team: { type: 'User', options: { multiple: true } } },
      [
        { Title: 'bob', Who: bob.id, Team: [bob.id, ann.id] },
        { Title: 'gone', Who: gone.id, Team: [gone.id, ann.id] },
        { Title: 'nobody' },
        { Title: 'ann', Who: ann.id, Team: [ann.id, bob.id] },
      ],
    )
    await bench.app.services.auth.access.setMembership(bench.baseId, gone.id, null)
    // Ann is an editor, Bob a viewer, and so begin their addresses.
    expect(await other.titles('?sort=Who')).toEqual(['nobody', 'ann', 'bob', 'gone'])
    expect(await other.titles('?sort=-Who')).toEqual(['gone', 'bob', 'ann', 'nobody'])
    expect(await other.titles('?sort=Team')).toEqual(['nobody', 'ann', 'bob', 'gone'])
  })
})

describe('groups of people', () => {
  test('have the records that they count, also where one of several has left', async () => {
    const gone = await createMember(bench.app, bench.baseId, 'editor')
    const other = await bench.table(
      { Title: 'SingleLineText', Team: { type: 'User', options: { multiple: true } } },
      [
        { Title: 'gone first', Team: [gone.id, ann.id] },
        { Title: 'ann first', Team: [ann.id, gone.id] },
        { Title: 'bob first', Team: [bob.id, ann.id] },
        { Title: 'bob last', Team: [ann.id, bob.id] },
      ],
    )
    await bench.app.services.auth.access.setMembership(bench.baseId, gone.id, null)
    const fieldId = other.field('Team').id
    const { groups } = await bench.trpc.records.groups.query({
      request: {
        selection: { tableId: other.id },
        groups: [{ fieldId, direction: 'asc' }],
        summaries: [],
        limit: 10,
        offset: 0,
      },
    })
    const found = await Promise.all(
      groups.map(async ({ keys: [value = null] }) => {
        const query = { tableId: other.id, limit: 10, offset: 0, group: [{ fieldId, value }] }
        return (await bench.trpc.records.list.query({ query })).ids
      }),
    )
    expect(found.map((ids) => ids.length)).toEqual(groups.map(({ count }) => count))
    expect(found.toSorted((a, b) => Number(a[0]) - Number(b[0]))).toEqual([[1], [2], [3, 4]])
    // The browser, which does not know who has left, finds every record in its group.
    const cells = [
      [gone, ann],
      [ann, gone],
      [bob, ann],
      [ann, bob],
    ].map((team) => team.map(({ id }) => id).join(','))
    for (const [
      at,
      {
        keys: [key = null],
      },
    ] of groups.entries())
      for (const id of found[at] ?? [])
        expect(hasGroupKey(other.field('Team'), cells[Number(id) - 1] ?? null, key, 'UTC')).toBe(true)
    expect(hasGroupKey(other.field('Team'), cells[0] ?? null, cells[2] ?? null, 'UTC')).toBe(false)
  })
})

describe('a change of type', () => {
  test('writes people as e-mails, finds them by e-mail and name, and tells who is lost', async () => {
    const other = await bench.table({ Title: 'SingleLineText', Names: 'SingleLineText' }, [
      { Title: '1', Names: ann.email },
      { Title: '2', Names: `${ann.email}, ${bob.email}` },
      { Title: '3', Names: stranger.email },
    ])
    const fieldId = other.field('Names').id
    const to = { fieldId, type: 'User' as const, options: { multiple: true } }
    expect(await bench.trpc.schema.previewType.query(to)).toMatchObject({ total: 3, converted: 2, lost: 1 })
    await bench.trpc.schema.updateField.mutate({
      fieldId,
      patch: { type: 'User', options: { multiple: true } },
    })
    const names = (await other.list()).map((row) => row.Names)
    expect(names).toEqual([[shown(ann)], [shown(ann), shown(bob)], null])
    await bench.trpc.schema.updateField.mutate({ fieldId, patch: { type: 'SingleLineText' } })
    const texts = (await other.list()).map((row) => row.Names)
    expect(texts).toEqual([ann.email, `${ann.email},${bob.email}`, null])
    // Nothing of the people got into what is kept of the field.
    const { fields } = await bench.trpc.schema.table.query({ tableId: other.id })
    expect(JSON.stringify(fields)).not.toContain('example.com')
  })
})
