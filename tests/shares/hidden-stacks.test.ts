import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import { byLink, createSecrets, refusalOf, type Secrets } from './world.ts'

let app: TestApp
let owner: TestUser
let world: Secrets
let viewId: string
let shareId: string
let teamId: string

beforeAll(async () => {
  app = await createTestApp()
  owner = await app.signUp('owner@example.com')
  world = await createSecrets(app, owner)
  const { trpc, baseId, tableId, teams, fields, insert } = world
  const options = { kind: 'bt', relatedTableId: teams.table.id }
  const field = { title: 'Home team', type: 'LinkToAnotherRecord' as const, options }
  teamId = (await trpc.schema.createField.mutate({ tableId, field })).id
  // "Zoe" has nothing but a name.
  await insert(tableId, [{ [fields.name]: 'Zoe' }])
  const { red, ann } = world.records
  await trpc.records.write.mutate({
    change: { baseId, operations: [{ kind: 'link', tableId, fieldId: teamId, id: ann, targets: [red] }] },
  })
  viewId = (await trpc.views.create.mutate({ tableId, title: 'Board', kind: 'kanban' })).id
  const all = (await trpc.schema.table.query({ tableId })).fields
  const shown = new Set([fields.name, fields.mood, fields.team])
  const lines = all.map(({ id }, order) => ({ fieldId: id, show: shown.has(id), order }))
  await trpc.views.arrange.mutate({ viewId, fields: lines })
  shareId = (await trpc.shares.save.mutate({ kind: 'view', targetId: viewId, patch: {} })).id
})
afterAll(() => app.stop())

const visitor = () => app.trpc(byLink('view', shareId))

/** Hides these stacks of a field, and no other. */
async function hide(stackFieldId: string, keys: (string | null)[]): Promise<void> {
  const { trpc, tableId } = world
  const view = (await trpc.schema.table.query({ tableId })).views.find(({ id }) => id === viewId)
  const stacks = keys.map((key) => ({ key, isHidden: true, isCollapsed: false }))
  await trpc.views.update.mutate({
    viewId,
    patch: { options: { ...view?.options, stackFieldId, stacks } },
  })
}

/** The names in a list as somebody reads it, in alphabetical order. */
async function names(trpc = visitor(), through?: string): Promise<unknown[]> {
  const query = {
    tableId: world.tableId,
    viewId: through,
    fieldIds: [world.fields.name],
    limit: 10,
    offset: 0,
  }
  return (await trpc.records.list.query({ query })).rows.flat().toSorted()
}

describe('a hidden stack of a shared kanban', () => {
  test('is not there for its visitors, whichever way they read', async () => {
    const { tableId, fields, records } = world
    await hide(fields.mood, ['Sad'])
    const { ben } = records
    const trpc = visitor()
    expect(await names()).toEqual(['Ann', 'Zoe'])
    expect(await trpc.records.count.query({ selection: { tableId } })).toEqual({ count: 2 })
    expect(await refusalOf(trpc.records.get.query({ tableId, recordId: ben }))).toBe('404 RECORD_NOT_FOUND')
    const search = { text: 'Ben', fieldId: null }
    expect(await trpc.records.count.query({ selection: { tableId, search } })).toEqual({ count: 0 })
    const group = [{ fieldId: fields.mood, value: 'Sad' }]
    expect(await trpc.records.count.query({ selection: { tableId, group } })).toEqual({ count: 0 })
    const filter = { fieldId: fields.mood, operator: 'eq', value: 'Sad' }
    expect(await trpc.records.count.query({ selection: { tableId, filter } })).toEqual({ count: 0 })
    const either = { join: 'or' as const, children: [filter, { ...filter, value: 'Fine' }] }
    expect(await trpc.records.count.query({ selection: { tableId, filter: either } })).toEqual({ count: 1 })
    const { groups } = await trpc.records.groups.query({
      request: {
        selection: { tableId },
        groups: [{ fieldId: fields.mood, direction: 'asc' }],
        summaries: [],
        offset: 0,
        limit: 10,
      },
    })
    expect(groups.map(({ keys, count }) => [keys.at(-1), count]).toSorted()).toEqual([
      [null, 1],
      ['Fine', 1],
    ])
    const summaries = [{ fieldId: fields.name, summary: 'filled' }]
    const told = await trpc.records.summaries.query({ selection: { tableId }, summaries })
    expect(Object.values(told)).toEqual([2])
  })

  test('is not there for programs either, nor in files', async () => {
    const { tableId, fields, records } = world
    await hide(fields.mood, ['Sad'])
    const rest = app.rest(byLink('view', shareId))
    const nobody = app.rest()
    const at = `/api/v2/public/shared-view/${shareId}`
    const list = await rest.get(`/api/v2/tables/${tableId}/records`)
    expect(list.body.pageInfo.totalRows).toBe(2)
    expect((await rest.get(`/api/v2/tables/${tableId}/records/count`)).body).toEqual({ count: 2 })
    expect((await rest.get(`/api/v2/tables/${tableId}/records/${records.ben}`)).status).toBe(404)
    const rows = await nobody.get(`${at}/rows?where=(Mood,eq,Sad)`)
    expect(rows.body.pageInfo.totalRows).toBe(0)
    const stacks = await nobody.get(`${at}/group/${fields.mood}`)
    expect(JSON.stringify(stacks.body)).toContain('Ann')
    expect(JSON.stringify(stacks.body)).not.toMatch(/Ben|Eve/)
    const linked = await nobody.get(`${at}/rows/${records.eve}/mm/${fields.team}`)
    expect(linked.status).toBe(404)
    const csv = await (await fetch(`${app.url}${at}/rows/export/csv`)).text()
    expect([csv.includes('Ann'), /Ben|Eve/.test(csv)]).toEqual([true, false])
  })

  test('of records without a value, of people, of boxes and of linked records is not there either', async () => {
    const { fields, records } = world
    const stacks: [string, (string | null)[], string[]][] = [
      [fields.mood, [null], ['Ann', 'Ben', 'Eve']],
      [fields.mood, [null, 'Fine'], ['Ben', 'Eve']],
      [fields.mood, ['No such mood', "x' or 1=1 --", '__proto__'], ['Ann', 'Ben', 'Eve', 'Zoe']],
      [fields.boss, [owner.id], ['Ben', 'Eve', 'Zoe']],
      [fields.boss, [null], ['Ann']],
      [fields.office, ['true'], ['Eve', 'Zoe']],
      [fields.office, ['false'], ['Ann', 'Ben']],
      [fields.office, ['false', 'true'], []],
      [teamId, [String(records.red)], ['Ben', 'Eve', 'Zoe']],
      [teamId, [null], ['Ann']],
      [teamId, ['nothing', '9'.repeat(400), '1.5'], ['Ann', 'Ben', 'Eve', 'Zoe']],
      [fields.mood, [], ['Ann', 'Ben', 'Eve', 'Zoe']],
    ]
    for (const [fieldId, keys, left] of stacks) {
      await hide(fieldId, keys)
      expect([keys, await names()]).toEqual([keys, left])
    }
  })

  test('is there for members, and for visitors of the base', async () => {
    const { trpc, baseId, fields } = world
    await hide(fields.mood, ['Sad', null])
    expect(await names()).toEqual(['Ann'])
    const everyone = ['Ann', 'Ben', 'Eve', 'Zoe']
    expect(await names(app.trpc(owner.token), viewId)).toEqual(everyone)
    const { id } = await trpc.shares.save.mutate({ kind: 'base', targetId: baseId, patch: {} })
    expect(await names(app.trpc(byLink('base', id)), viewId)).toEqual(everyone)
  })

  test('does not become public because the field of the stacks is deleted', async () => {
    const { trpc, fields } = world
    await hide(fields.mood, ['Sad'])
    await trpc.schema.deleteField.mutate({ fieldId: fields.mood })
    expect(await refusalOf(names())).toBe('403 FORBIDDEN')
    await trpc.schema.restoreField.mutate({ fieldId: fields.mood })
    expect(await names()).toEqual(['Ann', 'Zoe'])
  })
})
