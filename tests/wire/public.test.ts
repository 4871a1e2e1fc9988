import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createSecrets, type Secrets } from '../shares/world.ts'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import type { RestClient } from '../support/client.ts'

let app: TestApp
let owner: TestUser
let world: Secrets
let rest: RestClient
let nobody: RestClient
/** Where the shared grid is, in both generations. */
let doors: string[]
let uuid: string

beforeAll(async () => {
  app = await createTestApp()
  owner = await app.signUp('owner@example.com')
  world = await createSecrets(app, owner)
  rest = app.rest(owner.token)
  nobody = app.rest()
  uuid = (await rest.post(`/api/v1/db/meta/views/${world.viewId}/share`)).body.uuid
  doors = ['/api/v1/db/public', '/api/v2/public'].map((prefix) => `${prefix}/shared-view/${uuid}`)
})
afterAll(() => app.stop())

const NOT_FOUND = { status: 404, body: { msg: 'Not found' } }
const at = async (path: string) => {
  const { status, body } = await nobody.get(path)
  return { status, body }
}
const shareOf = async (kind: 'gallery' | 'kanban' | 'form', options: object = {}) => {
  const view = await world.trpc.views.create.mutate({ tableId: world.tableId, title: kind, kind })
  await world.trpc.views.update.mutate({
    viewId: view.id,
    patch: { options: { ...view.options, ...options } },
  })
  const { body } = await rest.post(`/api/v1/db/meta/views/${view.id}/share`)
  return { viewId: view.id, path: `/api/v1/db/public/shared-view/${body.uuid}` }
}

describe('GET /public/shared-view/{uuid}', () => {
  test('meta tells what the view shows, and no name of anything else', async () => {
    for (const door of doors) {
      const { status, body } = await nobody.get(`${door}/meta`)
      expect(status).toBe(200)
      expect(body).toMatchObject({ id: world.viewId, uuid, type: 3, password: null, created_by: null })
      // Here clients look for whether they may offer a download.
      expect([body.meta, body.view.meta]).toEqual([{ allowCSVDownload: true }, {}])
      expect(body.filter).toEqual({ is_group: true, logical_op: 'and', children: [] })
      expect(body.sorts).toEqual([])
      const titles = (columns: { title: string }[]) => columns.map(({ title }) => title).toSorted()
      expect(titles(body.model.columns)).toEqual([
        'Band',
        'Boss',
        'Id',
        'Money',
        'Mood',
        'Name',
        'Photo',
        'Teams',
      ])
      expect(body.columns).toHaveLength(8)
      const related = body.relatedMetas[world.teams.table.id]
      expect([related.title, titles(related.columns)]).toEqual(['', ['Id', 'Team']])
      expect(body.users).toEqual([{ id: owner.id, display_name: 'owner', email: '', meta: null }])
      const text = JSON.stringify(body)
      expect(text).not.toMatch(/secret|owner@/i)
      const { salary, office, friend, file, secretTeam } = world.fields
      for (const id of [salary, office, friend, file, secretTeam]) expect(text).not.toContain(id)
    }
  })

  test('rows are those of the view, in its order; a filter that cannot be read has no effect', async () => {
    for (const door of doors) {
      const { body } = await nobody.get(`${door}/rows`)
      expect(body.list.map(({ Name }: { Name: string }) => Name)).toEqual(['Ben', 'Ann'])
      expect(body.pageInfo.totalRows).toBe(2)
      expect(Object.keys(body.list[0]).toSorted()).toEqual([
        'Band',
        'Boss',
        'Id',
        'Money',
        'Mood',
        'Name',
        'Photo',
        'Teams',
      ])
      expect(JSON.stringify(body)).not.toContain('owner@')
    }
    const names = async (query: string) => {
      const { status, body } = await nobody.get(`${doors[0]}/rows?${query}`)
      return status === 200 ? body.list.map(({ Name }: { Name: string }) => Name) : [status, body.error]
    }
    expect(await names('where=(Name,eq,Ann)')).toEqual(['Ann'])
    expect(await names('where=(Secret%20salary,gt,50)')).toEqual(['Ben', 'Ann'])
    expect(await names('where=(No%20such,gt,50)')).toEqual(['Ben', 'Ann'])
    expect(await names('where=~and(')).toEqual(['Ben', 'Ann'])
    expect(await names('where[]=(Name,eq,Ann)')).toEqual(['Ben', 'Ann'])
    expect(await names('sort=Name')).toEqual(['Ann', 'Ben'])
    expect(await names('sort=-Secret%20salary')).toEqual(await names('sort=No%20such'))
    expect(await names('fields=Secret%20salary&limit=1')).toEqual(['Ben'])
    expect(await names('fields[0]=Secret%20salary&limit=1')).toEqual(['Ben'])
    expect(await names('limit=1&offset=1')).toEqual(['Ann'])
    expect(await names('nested[Teams][fields]=Secret%20budget')).toEqual(['Ben', 'Ann'])
  })

  test('counts, groups and sums what the view shows, and nothing that it hides', async () => {
    for (const door of doors) {
      expect((await nobody.get(`${door}/count`)).body).toEqual({ count: 2 })
      const groups = await nobody.get(`${door}/groupby?column_name=Mood&sort=Mood`)
      expect(groups.body.list).toEqual([
        { count: 1, Mood: 'Fine' },
        { count: 1, Mood: 'Sad' },
      ])
      expect((await nobody.get(`${door}/groupby/count?column_name=Mood`)).body).toBe(2)
      for (const path of ['groupby', 'groupby/count']) {
        const hidden = await nobody.get(`${door}/${path}?column_name=Secret%20salary`)
        const unknown = await nobody.get(`${door}/${path}?column_name=No%20such`)
        expect([hidden.status, hidden.body.error]).toEqual([unknown.status, unknown.body.error])
        expect(hidden.status).toBe(404)
        expect(
          (await nobody.get(`${door}/${path}?column_name=Mood&subGroupColumnName=Secret%20salary`)).status,
        ).toBe(404)
      }
      expect((await nobody.get(`${door}/count?where=(Secret%20salary,gt,50)`)).status).toBe(422)
    }
    await world.trpc.views.arrange.mutate({
      viewId: world.viewId,
      fields: [
        { fieldId: world.fields.name, summary: 'filled' },
        { fieldId: world.fields.salary, summary: 'sum' },
      ],
    })
    expect((await nobody.get(`${doors[0]}/aggregate`)).body).toEqual({ Name: 2 })
  })

  test('linked records are names, of records that the view shows', async () => {
    const { ann, eve } = world.records
    const { team, secretTeam } = world.fields
    const linked = await nobody.get(`${doors[0]}/rows/${ann}/mm/${team}`)
    expect(linked.body.list).toEqual([{ Id: world.records.red, Team: 'Red' }])
    expect((await nobody.get(`${doors[0]}/rows/${ann}/mm/Teams`)).body.pageInfo.totalRows).toBe(1)
    expect((await nobody.get(`${doors[0]}/rows/${eve}/mm/${team}`)).body.error).toBe('RECORD_NOT_FOUND')
    expect((await nobody.get(`${doors[0]}/rows/${ann}/mm/${secretTeam}`)).body.error).toBe('FIELD_NOT_FOUND')
    expect((await nobody.get(`${doors[0]}/rows/${ann}/hm/${team}`)).status).toBe(400)
    expect(await at(`${doors[0]}/rows/${ann}/bt/${team}`)).toEqual(NOT_FOUND)
    expect((await nobody.get(`${doors[0]}/rows/${ann}/mm/${team}?where=(Secret%20budget,gt,1)`)).status).toBe(
      422,
    )
  })

  test('a kanban gives its stacks, also where their field is hidden', async () => {
    const kanban = await shareOf('kanban', { stackFieldId: world.fields.mood })
    await world.trpc.views.arrange.mutate({
      viewId: kanban.viewId,
      fields: [{ fieldId: world.fields.mood, show: false }],
    })
    const { body } = await nobody.get(`${kanban.path}/group/${world.fields.mood}`)
    expect(
      body.map(({ key, value }: { key: string | null; value: { list: object[] } }) => [
        key,
        value.list.length,
      ]),
    ).toEqual([
      ['Fine', 1],
      ['Sad', 2],
      [null, 0],
    ])
    expect(await at(`${kanban.path}/groupby?column_name=Mood`)).toEqual(NOT_FOUND)
    expect((await nobody.get(`${kanban.path}/rows`)).body.list[0]).toHaveProperty('Mood')
  })

  test('stacks of other fields than selects are those of the values that they have', async () => {
    const stacksOf = async (stackFieldId: string) => {
      const kanban = await shareOf('kanban', { stackFieldId })
      const { body } = await nobody.get(`${kanban.path}/group/${stackFieldId}`)
      return body.map(({ key, value }: { key: string | null; value: { list: { Name: string }[] } }) => [
        key,
        value.list.map(({ Name }) => Name).join(),
      ])
    }
    expect(await stacksOf(world.fields.office)).toEqual([
      ['false', 'Eve'],
      ['true', 'Ann,Ben'],
    ])
    expect(await stacksOf(world.fields.boss)).toEqual([
      [owner.id, 'Ann'],
      [null, 'Ben,Eve'],
    ])
  })

  test('a view of another kind than a call is for is not there', async () => {
    const form = await shareOf('form')
    for (const path of [
      'rows',
      'count',
      'aggregate',
      'groupby?column_name=Name',
      `group/${world.fields.mood}`,
      `rows/1/mm/${world.fields.team}`,
    ]) {
      expect([path, await at(`${form.path}/${path}`)]).toEqual([path, NOT_FOUND])
    }
    expect(await at(`${doors[0]}/nested/${world.fields.team}`)).toEqual(NOT_FOUND)
    // NocoDB groups kanbans alone; here every view that shows records.
    const stacks = await nobody.get(`${doors[0]}/group/${world.fields.mood}`)
    expect([stacks.status, stacks.body.length]).toEqual([200, 3])
    const gallery = await shareOf('gallery')
    expect(await at(`${gallery.path}/groupby?column_name=Mood`)).toEqual(NOT_FOUND)
    expect((await nobody.get(`${gallery.path}/rows`)).status).toBe(200)
  })

  test('a file is sent, or made by a job of which its id is enough to hear', async () => {
    for (const [path, answer] of [
      [`unknown/csv`, [404, "View 'unknown' not found"]],
      [`${uuid}/pdf`, [400, 'Unknown export format “pdf”. Use csv, xlsx, json or ndjson.']],
    ] as const) {
      const { status, body } = await nobody.post(`/api/v2/public/export/${path}`)
      expect([status, body.message ?? body.msg]).toEqual([...answer])
    }
    const { body: job } = await nobody.post(`/api/v2/public/export/${uuid}/csv`)
    expect(job).toEqual({ id: expect.stringMatching(/^job[a-z0-9]{14}$/), name: 'data-export' })
    const listen = async (last: number): Promise<{ title: string; type: string; url: string }> => {
      const { body } = await nobody.post('/jobs/listen', { _mid: last, data: { id: job.id } })
      const { _mid: next, data } = body.at(-1)
      return data.status === 'completed' ? data.data.result : listen(next)
    }
    const made = await listen(0)
    expect([made.title, made.type]).toEqual(['Staff (For everyone)', 'csv'])
    expect(made.url).toStartWith('dltemp/')
    const file = (query: string) => nobody.get(`${doors[0]}/rows/export/csv?${query}`)
    expect((await file('where=(Name,neq,Ann)&fields=Name')).body).toBe('Name\r\nBen\r\n')
    const hidden = ['where=(Secret%20salary,gt,50)', 'fields=Secret%20salary', 'sort=Secret%20salary']
    const refused = await Promise.all(hidden.map(async (query) => (await file(query)).status))
    expect(refused).toEqual([422, 404, 404])
    const [head, ...rows] = (await nobody.get(`/${made.url}`)).body.trim().split('\r\n')
    expect([head.includes('Name'), /secret/i.test(head), rows.length]).toEqual([true, false, 2])
  })

  test('a form offers the records that its links may name', async () => {
    const form = await shareOf('form')
    const { body } = await nobody.get(`${form.path}/nested/${world.fields.team}`)
    expect(body.list).toEqual([
      { Id: world.records.red, Team: 'Red' },
      { Id: world.records.blue, Team: 'Blue' },
    ])
    expect(
      (await nobody.get(`${form.path}/nested/${world.fields.team}?where=(Team,eq,Red)`)).body.list,
    ).toHaveLength(1)
    expect((await nobody.get(`${form.path}/nested/${world.fields.name}`)).status).toBe(400)
    expect((await nobody.get(`${form.path}/nested/c00000000000000`)).body.error).toBe('FIELD_NOT_FOUND')
    const { body: meta } = await nobody.get(`${form.path}/meta`)
    expect([meta.type, meta.view.email]).toEqual([1, null])
  })

  test('is there for whoever has it, and for nobody else', async () => {
    for (const path of [
      'meta',
      'rows',
      'count',
      'aggregate',
      'groupby',
      'rows/1/mm/x',
      'group/x',
      'nested/x',
    ]) {
      const { status, body } = await nobody.get(`/api/v1/db/public/shared-view/unknown/${path}`)
      expect([path, status, body]).toEqual([
        path,
        404,
        { error: 'VIEW_NOT_FOUND', message: "View 'unknown' not found" },
      ])
    }
    // Being signed in opens nothing more.
    expect((await rest.get(`${doors[0]}/rows`)).body.list).toHaveLength(2)
    for (const method of ['PATCH', 'PUT', 'DELETE']) {
      expect((await nobody.send(method, `${doors[0]}/rows`, { body: {} })).status).toBe(404)
    }
  })
})
