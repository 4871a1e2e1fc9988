import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import type { TrpcClient } from '../support/client.ts'
import { createBase } from '../support/factories.ts'
import { all, byLink, createSecrets, refusalOf, refusalsOf, type Secrets } from './world.ts'

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

const query = () => ({ tableId: world.tableId, limit: 10, offset: 0 })
const hidden = () => {
  const { salary, office, friend, file, secretTeam } = world.fields
  return [salary, office, friend, file, secretTeam]
}
const NOT_THERE = '404 FIELD_NOT_FOUND'

describe('a link to a view', () => {
  test('shows the table as the view shows it, without a word of what is hidden', async () => {
    const schema = await visitor.schema.table.query({ tableId: world.tableId })
    const titles = schema.fields.map(({ title }) => title)
    expect(titles.toSorted()).toEqual(['Band', 'Boss', 'Id', 'Money', 'Mood', 'Name', 'Photo', 'Teams'])
    expect(schema.views.map(({ title }) => title)).toEqual(['For everyone'])
    const text = JSON.stringify(schema)
    expect(text).not.toMatch(/secret/i)
    for (const id of [...hidden(), world.teams.table.id, owner.id]) expect(text).not.toContain(id)
    expect(text).not.toContain('owner@')
  })

  test('shows the records that meet the view, in its order, by the fields that it shows', async () => {
    const page = await visitor.records.list.query({ query: query() })
    expect(page.ids).toEqual([world.records.ben, world.records.ann])
    const { fields } = await visitor.schema.table.query({ tableId: world.tableId })
    expect(page.fieldIds.toSorted()).toEqual(fields.map(({ id }) => id).toSorted())
    expect(JSON.stringify(page)).not.toContain('Eve')
    const cell = (row: number, id: string) => page.rows[row]?.[page.fieldIds.indexOf(id)]
    // What is computed from hidden fields is shown where its own field is.
    expect([cell(0, world.fields.band), cell(1, world.fields.band)]).toEqual(['high', 'low'])
    expect(cell(1, world.fields.money)).toBe('[777002]')
    expect(await visitor.records.count.query({ selection: { tableId: world.tableId } })).toEqual({ count: 2 })
  })

  test('has no field that is hidden, whichever way it is named', async () => {
    const { tableId } = world
    for (const fieldId of hidden()) {
      const condition = { fieldId, operator: 'notblank', value: null }
      const sorts = [{ fieldId, direction: 'asc' as const }]
      const group = [{ fieldId, value: null }]
      const search = { text: 'a', fieldId }
      const calls = {
        fields: visitor.records.list.query({ query: { ...query(), fieldIds: [fieldId] } }),
        filter: visitor.records.list.query({ query: { ...query(), filter: condition } }),
        nested: visitor.records.count.query({
          selection: { tableId, filter: { join: 'or', not: true, children: [condition] } },
        }),
        sorts: visitor.records.list.query({ query: { ...query(), sorts } }),
        search: visitor.records.list.query({ query: { ...query(), search } }),
        group: visitor.records.list.query({ query: { ...query(), group } }),
        order: visitor.records.list.query({ query: { ...query(), groups: sorts } }),
        groups: visitor.records.groups.query({
          request: { selection: { tableId }, groups: sorts, summaries: [], limit: 10, offset: 0 },
        }),
        groupSums: visitor.records.groups.query({
          request: {
            selection: { tableId },
            limit: 10,
            offset: 0,
            groups: [{ fieldId: world.fields.mood, direction: 'asc' }],
            summaries: [{ fieldId, summary: 'filled' }],
          },
        }),
        summaries: visitor.records.summaries.query({
          selection: { tableId },
          summaries: [{ fieldId, summary: 'filled' }],
        }),
        position: visitor.records.position.query({
          query: { ...query(), sorts },
          recordId: world.records.ann,
        }),
        linked: visitor.records.linked.query({
          tableId,
          fieldId,
          recordId: world.records.ann,
          limit: 5,
          offset: 0,
        }),
      }
      expect(await refusalsOf(calls)).toEqual(all(calls, NOT_THERE))
    }
  })

  test('finds no text in hidden fields and in records that the view leaves out', async () => {
    const found = async (text: string) =>
      (await visitor.records.list.query({ query: { ...query(), search: { text, fieldId: null } } })).ids
    expect(await found('40')).toEqual([])
    expect(await found('1234')).toEqual([])
    expect(await found('Eve')).toEqual([])
    expect(await found('Ann')).toEqual([world.records.ann])
    // The name of a linked record stands in the cell; of the hidden link it does not.
    expect(await found('Red')).toEqual([world.records.ann])
    expect(await found('Blue')).toEqual([])
  })

  test('gives no record that the view leaves out, by its id', async () => {
    const { tableId, records, fields } = world
    const at = (recordId: number | string) => ({ tableId, recordId })
    expect(await refusalOf(visitor.records.get.query(at(records.eve)))).toBe('404 RECORD_NOT_FOUND')
    const ann = await visitor.records.get.query(at(records.ann))
    expect(Object.keys(ann.values).filter((id) => hidden().includes(id))).toEqual([])
    expect(ann.values[fields.name]).toBe('Ann')
    const named = await visitor.records.list.query({
      query: { ...query(), recordIds: [records.eve, records.ann] },
    })
    expect(named.ids).toEqual([records.ann])
    expect(await visitor.records.position.query({ query: query(), recordId: records.eve })).toEqual({
      offset: null,
    })
    const page = { tableId, fieldId: fields.team, limit: 5, offset: 0 }
    expect(await refusalOf(visitor.records.linked.query({ ...page, recordId: records.eve }))).toBe(
      '404 RECORD_NOT_FOUND',
    )
    expect(
      (
        await visitor.records.groups.query({
          request: {
            selection: { tableId },
            summaries: [],
            limit: 10,
            offset: 0,
            groups: [{ fieldId: fields.mood, direction: 'asc' }],
          },
        })
      ).groups.map(({ count }) => count),
    ).toEqual([1, 1])
  })

  test('shows linked records by their names, and nothing of those that could be linked', async () => {
    const { tableId, records, fields, teams } = world
    const at = { tableId, fieldId: fields.team, recordId: records.ann, limit: 5, offset: 0 }
    const page = await visitor.records.linked.query(at)
    expect(page.rows).toEqual([['Red']])
    expect(JSON.stringify(page)).not.toContain('777')
    expect(page.fieldIds).toEqual([teams.fields.find(({ isDisplay }) => isDisplay)?.id ?? ''])
    for (const recordId of [records.ann, null]) {
      expect(await refusalOf(visitor.records.linkable.query({ ...at, recordId }))).toBe('403 FORBIDDEN')
    }
    expect(await refusalOf(visitor.records.linked.query({ ...at, recordId: null }))).toBe('403 FORBIDDEN')
  })

  test('leads to no other view, table or base', async () => {
    const { tableId, teams, baseId } = world
    const other = await world.trpc.views.create.mutate({ tableId, title: 'Inside', kind: 'grid' })
    const elsewhere = await createSecrets(app, owner, 'Elsewhere')
    const calls: Record<string, [call: Promise<unknown>, refusal: string]> = {
      view: [visitor.records.list.query({ query: { ...query(), viewId: other.id } }), '404 VIEW_NOT_FOUND'],
      table: [visitor.records.count.query({ selection: { tableId: teams.table.id } }), '404 TABLE_NOT_FOUND'],
      schema: [visitor.schema.table.query({ tableId: teams.table.id }), '404 TABLE_NOT_FOUND'],
      far: [visitor.schema.table.query({ tableId: elsewhere.tableId }), '404 TABLE_NOT_FOUND'],
      farRecords: [
        visitor.records.list.query({ query: { ...query(), tableId: elsewhere.tableId } }),
        '404 TABLE_NOT_FOUND',
      ],
      files: [
        visitor.records.signFiles.query({ tableId: teams.table.id, paths: ['download/a'] }),
        '404 TABLE_NOT_FOUND',
      ],
      people: [
        visitor.records.formerPeople.query({ tableId: teams.table.id, ids: ['us1'] }),
        '404 TABLE_NOT_FOUND',
      ],
      tables: [visitor.schema.tables.query({ baseId }), '403 FORBIDDEN'],
      base: [visitor.bases.get.query({ baseId }), '403 FORBIDDEN'],
      history: [
        visitor.records.history.query({ tableId, recordId: world.records.ann }),
        '401 AUTHENTICATION_REQUIRED',
      ],
      shares: [visitor.shares.list.query({ baseId }), '401 AUTHENTICATION_REQUIRED'],
    }
    const mapped = <T>(pick: (one: [Promise<unknown>, string]) => T) =>
      Object.fromEntries(Object.entries(calls).map(([name, one]) => [name, pick(one)]))
    const said = await refusalsOf(mapped(([call]) => call))
    expect(said).toEqual(mapped(([, refusal]) => refusal))
    expect(await visitor.records.people.query({ baseId: elsewhere.baseId })).toEqual([])
  })

  test('says of a broken field that it is, and not why', async () => {
    const own = await createSecrets(app, owner, 'Broken')
    const { trpc, tableId, fields } = own
    const guest = app.trpc(byLink('view', (await own.share()).id))
    const inOffice = { fieldId: fields.office, operator: 'checked', value: null }
    await trpc.views.update.mutate({ viewId: own.viewId, patch: { filter: inOffice } })
    await trpc.schema.deleteField.mutate({ fieldId: fields.salary })
    const { fields: shown } = await guest.schema.table.query({ tableId })
    expect(shown.find(({ id }) => id === fields.band)?.error).toBe('This field can’t be shown at the moment')
    const filter = { fieldId: fields.band, operator: 'blank', value: null }
    const refused = await guest.records.count
      .query({ selection: { tableId, filter } })
      .catch((error) => error)
    expect(refused.data.httpStatus).toBe(422)
    await trpc.schema.deleteTable.mutate({ tableId: own.teams.table.id })
    const page = { tableId, fieldId: fields.team, recordId: own.records.ann, limit: 5, offset: 0 }
    const linked = await guest.records.linked.query(page).catch((error) => error)
    expect(linked.data.appCode).toBe('FIELD_NOT_FOUND')
    expect(JSON.stringify([refused, linked, shown])).not.toMatch(/secret/i)
  })

  test('writes nothing', async () => {
    const { tableId, baseId, records, fields } = world
    const write = (operation: object) =>
      visitor.records.write.mutate({ change: { baseId, operations: [operation as never] } })
    const values = { [fields.name]: 'Mallory' }
    const selection = { tableId }
    const calls = [
      write({ kind: 'insert', tableId, rows: [{ values }] }),
      write({ kind: 'update', tableId, rows: [{ id: records.ann, values }] }),
      write({ kind: 'delete', tableId, ids: [records.ann] }),
      write({ kind: 'move', tableId, ids: [records.ann], before: null }),
      write({ kind: 'link', tableId, fieldId: fields.team, id: records.ann, targets: [records.blue] }),
      visitor.records.deleteMatching.mutate({ selection }),
      visitor.records.updateMatching.mutate({ selection, values }),
      visitor.shares.submit.mutate({ values }),
    ]
    const named = Object.fromEntries(calls.map((call, index) => [`call ${index}`, call]))
    expect(await refusalsOf(named)).toEqual(all(named, '403 FORBIDDEN'))
    expect(await world.trpc.records.count.query({ selection })).toEqual({ count: 3 })
  })

  test('of a kanban stacked by a link leads from stack to records, the key of another link stays hidden', async () => {
    const { trpc } = world
    const base = await createBase(app, owner)
    const create = (title: string) =>
      trpc.schema.createTable.mutate({
        baseId: base.id,
        title,
        fields: [{ title: 'Name', type: 'SingleLineText' }],
      })
    const [teams, tasks] = [await create('Secret teams'), await create('Tasks')]
    const tableId = tasks.table.id
    const link = (title: string) =>
      trpc.schema.createField.mutate({
        tableId,
        field: {
          title,
          type: 'LinkToAnotherRecord',
          options: { kind: 'bt', relatedTableId: teams.table.id },
        },
      })
    const [team, rival] = [await link('Team'), await link('Secret rival')]
    const nameOf = ({ fields }: typeof tasks) => fields.find(({ title }) => title === 'Name')?.id ?? ''
    const insert = (table: typeof tasks, values: Record<string, string>) => ({
      kind: 'insert' as const,
      tableId: table.table.id,
      rows: [{ values }],
    })
    const operations = [
      insert(teams, { [nameOf(teams)]: 'Blue' }),
      insert(tasks, { [nameOf(tasks)]: 'Paint', [team.id]: '[1]', [rival.id]: '[1]' }),
    ]
    for (const operation of operations)
      await trpc.records.write.mutate({ change: { baseId: base.id, operations: [operation] } })
    const view = await trpc.views.create.mutate({
      tableId,
      title: 'Board',
      kind: 'kanban',
      options: { stackFieldId: team.id },
    })
    await trpc.views.arrange.mutate({
      viewId: view.id,
      fields: [team, rival].map(({ id }) => ({ fieldId: id, show: false })),
    })
    const { id } = await trpc.shares.save.mutate({ kind: 'view', targetId: view.id, patch: {} })
    const guest = app.trpc(byLink('view', id))
    const schema = await guest.schema.table.query({ tableId })
    const keyFieldId = schema.fields.find(({ title }) => title === 'Team')?.options.keyFieldId
    expect(keyFieldId).toBe(team.options.keyFieldId)
    expect(schema.fields.map(({ id }) => id)).toContain(String(keyFieldId))
    for (const hidden of [rival.id, rival.options.keyFieldId, teams.table.id])
      expect(JSON.stringify(schema)).not.toContain(String(hidden))
    const group = [{ fieldId: String(keyFieldId), value: 1 }]
    const page = await guest.records.list.query({ query: { ...query(), tableId, group } })
    expect(page.rows[0]?.[page.fieldIds.indexOf(team.id)]).toContain('Blue')
  })

  test('tells how the names of linked records are written, and no more of the linked table', async () => {
    const trpc = app.trpc(owner.token)
    const { id: baseId } = await createBase(app, owner)
    const make = (title: string, fields: object[]) =>
      trpc.schema.createTable.mutate({ baseId, title, fields: fields as never })
    const days = await make('Secret days', [
      { title: 'Secret day', type: 'Date', options: { format: 'DD/MM/YYYY' } },
    ])
    const kinds = await make('Secret kinds', [
      { title: 'Secret kind', type: 'SingleSelect', options: { choices: [{ title: 'Secret choice' }] } },
    ])
    const visits = await make('Visits', [{ title: 'Name', type: 'SingleLineText' }])
    const tableId = visits.table.id
    for (const related of [days, kinds]) {
      const options = { kind: 'mm', relatedTableId: related.table.id }
      await trpc.schema.createField.mutate({
        tableId,
        field: { title: `L${related.table.order}`, type: 'Links', options },
      })
    }
    const view = await trpc.views.create.mutate({ tableId, title: 'All', kind: 'gallery' })
    const share = await trpc.shares.save.mutate({ kind: 'view', targetId: view.id, patch: {} })
    const { fields } = await app.trpc(byLink('view', share.id)).schema.table.query({ tableId })
    const names = fields.filter(({ type }) => type === 'Links').map(({ options }) => options.names)
    expect(names).toEqual([{ type: 'Date', options: { format: 'DD/MM/YYYY' } }, undefined])
    expect(JSON.stringify(fields)).not.toMatch(/secret/i)
  })
})
