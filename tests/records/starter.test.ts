import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'

let app: TestApp
let owner: TestUser
beforeAll(async () => {
  app = await createTestApp({ hasStarter: true })
  owner = await app.signUp()
})
afterAll(() => app.stop())

const api = () => app.trpc(owner.token)

/** The tables of the first base, with their fields. */
async function tablesOfStarter() {
  const [base] = await api().bases.list.query()
  const baseId = base?.id ?? ''
  const tables = await api().schema.tables.query({ baseId })
  const whole = await Promise.all(tables.map(({ id }) => api().schema.table.query({ tableId: id })))
  return { title: base?.title, baseId, tables: whole }
}

/** The records of a table as REST clients read them. */
const rowsOf = async (tableId: string) =>
  (await app.rest(owner.token).get(`/api/v2/tables/${tableId}/records?limit=100`)).body.list

describe('what the first person finds', () => {
  test('is a base of linked tables that show most kinds of fields, none of them broken', async () => {
    const { title, tables } = await tablesOfStarter()
    expect(title).toBe('Getting started')
    expect(tables.map(({ table }) => table.title)).toEqual(['Tasks', 'Projects', 'People'])
    const fields = tables.flatMap((table) => table.fields)
    expect(fields.filter(({ error }) => error !== null)).toEqual([])
    const types = new Set(fields.map(({ type }) => type))
    expect(types.size).toBeGreaterThanOrEqual(33)
    const [tasks] = tables
    const shown = tasks?.views[0]?.fields.filter(({ show }) => show).slice(0, 6)
    const titles = shown?.map(({ fieldId }) => fields.find(({ id }) => id === fieldId)?.title)
    expect(titles).toEqual(['Task', 'Status', 'Due', 'Project', 'People', 'Tags'])
  })

  test('has a view of every kind, each of a field that suits it', async () => {
    const views = (await tablesOfStarter()).tables.flatMap((table) => table.views)
    expect(new Set(views.map(({ kind }) => kind)).size).toBe(6)
    const options = Object.fromEntries(views.map(({ kind, options }) => [kind, options]))
    expect(options.kanban).toMatchObject({ stackFieldId: expect.any(String) })
    expect(options.calendar).toMatchObject({ ranges: [{ fromFieldId: expect.any(String) }] })
    expect(options.map).toMatchObject({ geoFieldId: expect.any(String) })
  })

  test('has records that are linked, looked up, summed up and worked out over', async () => {
    const [tasks, projects, people] = (await tablesOfStarter()).tables
    const rows = await rowsOf(tasks?.table.id ?? '')
    expect(rows).toHaveLength(9)
    expect(rows[0]).toMatchObject({
      Task: 'Edit a cell',
      Stage: 'Running',
      People: 1,
      Helpers: 1,
      No: 1,
      Label: 1,
      Project: { Id: 1, Project: 'Getting to know Sheaf' },
      'Assigned to': [{ id: owner.id }],
    })
    const [, website] = await rowsOf(projects?.table.id ?? '')
    expect(website).toMatchObject({ Tasks: 2, Hours: 12, Progress: 80, 'Per hour': 1041.67 })
    const [ada] = await rowsOf(people?.table.id ?? '')
    const url = 'https://www.openstreetmap.org/search?query=London'
    expect(ada).toMatchObject({ Tasks: 4, Card: 'ada@example.com', Map: { label: 'Map', url } })
  })

  test('goes with one undo, and comes back with one redo', async () => {
    const { baseId, tables } = await tablesOfStarter()
    const before = await Promise.all(tables.map(({ table }) => rowsOf(table.id)))
    await api().records.undo.mutate({ baseId })
    expect((await tablesOfStarter()).tables).toEqual([])
    await api().records.redo.mutate({ baseId })
    const after = await Promise.all(tables.map(({ table }) => rowsOf(table.id)))
    const withoutTimes = (rows: object[]) => rows.map((row) => ({ ...row, UpdatedAt: null }))
    expect(after.map(withoutTimes)).toEqual(before.map(withoutTimes))
  })

  test('is for the first alone', async () => {
    const second = await app.signUp()
    expect(await app.trpc(second.token).bases.list.query()).toEqual([])
  })
})
