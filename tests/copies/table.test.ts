import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Field, TableSchema } from '../../src/core/model.ts'
import { doorOf, ended } from '../imports/support.ts'
import { uploadOne } from '../records/attachments-support.ts'
import { type Bench, changesNothing, createBench, refusalOf, type TestTable } from '../records/support.ts'
import { createMember } from '../support/factories.ts'

let bench: Bench
let people: TestTable
let tasks: TestTable
let lastId: number
beforeAll(async () => {
  bench = await createBench()
  const { trpc } = bench
  people = await bench.table({ Title: 'SingleLineText', Rate: 'Number' }, [
    { Title: 'p1', Rate: 3 },
    { Title: 'p2', Rate: 4 },
    { Title: 'p3', Rate: 5 },
  ])
  tasks = await bench.table(
    {
      Title: 'SingleLineText',
      Hours: { type: 'Number', required: true, defaultValue: 1 },
      Code: { type: 'SingleLineText', unique: true },
      State: { type: 'SingleSelect', options: { choices: [{ title: 'Open' }, { title: 'Done' }] } },
      Made: 'CreatedTime',
      By: 'CreatedBy',
    },
    [
      { Title: 't1', Hours: 2, Code: 'a', State: 'Open' },
      { Title: 't2', Hours: 5, Code: 'b', State: 'Done' },
      { Title: 't3', Hours: 7, Code: 'c' },
    ],
  )
  const add = (title: string, type: string, options: object) =>
    trpc.schema.createField.mutate({ tableId: tasks.id, field: { title, type, options } as never })
  const team = await add('Team', 'Links', { kind: 'mm', relatedTableId: people.id })
  const owner = await add('Owner', 'LinkToAnotherRecord', { kind: 'bt', relatedTableId: people.id })
  const helpers = await add('Helpers', 'Links', { kind: 'hm', relatedTableId: people.id })
  const twin = await add('Twin', 'LinkToAnotherRecord', { kind: 'oo', relatedTableId: people.id })
  const after = await add('After', 'Links', { kind: 'mm', relatedTableId: tasks.id })
  await add('Rates', 'Rollup', {
    relationFieldId: team.id,
    targetFieldId: people.field('Rate').id,
    function: 'sum',
  })
  await add('Cost', 'Formula', { formula: '{Hours} * {Rates}' })
  await add('No', 'AutoNumber', {})
  const link = (fieldId: string, id: number, targets: number[]) => ({
    kind: 'link' as const,
    tableId: tasks.id,
    fieldId,
    id,
    targets,
  })
  await trpc.records.write.mutate({
    change: {
      baseId: bench.baseId,
      operations: [
        link(team.id, 1, [1, 2]),
        link(owner.id, 1, [2]),
        link(owner.id, 2, [2]),
        link(helpers.id, 1, [1, 3]),
        link(twin.id, 3, [1]),
        link(after.id, 2, [1]),
        link(after.id, 3, [1, 2]),
      ],
    },
  })
  // The number that the last record had is never given again, in the copy either.
  const { body } = await bench.rest.post(tasks.path, { Title: 'gone', Hours: 1 })
  lastId = body.Id
  await bench.rest.delete(tasks.path, { Id: lastId })
})
afterAll(() => bench.stop())

const open = (tableId: string): Promise<TableSchema> => bench.trpc.schema.table.query({ tableId })
const named = ({ fields }: Pick<TableSchema, 'fields'>, title: string): Field => {
  const field = fields.find((each) => each.title === title)
  if (!field) throw new Error(`No field ${title} among ${fields.map((each) => each.title).join(', ')}`)
  return field
}

async function copy(options: object = {}, tableId = tasks.id): Promise<TableSchema> {
  const started = await bench.trpc.copies.table.mutate({ tableId, options })
  const job = await ended(doorOf(bench.app, bench.owner), started.jobId)
  expect([job.status, job.error, job.result]).toEqual(['completed', null, { id: started.tableId }])
  return open(started.tableId)
}

const undo = () => bench.trpc.records.undo.mutate({ baseId: bench.baseId })
const redo = () => bench.trpc.records.redo.mutate({ baseId: bench.baseId })
const rows = async (tableId: string, query = '') =>
  (await bench.rest.get(`/api/v2/tables/${tableId}/records?limit=100${query}`)).body.list

/** The ids that a link leads to, by the record. */
async function linked(tableId: string, field: Field, ids = [1, 2, 3]): Promise<unknown[]> {
  return Promise.all(
    ids.map(async (id) => {
      const { body } = await bench.rest.get(`/api/v2/tables/${tableId}/links/${field.id}/records/${id}`)
      if ('list' in body) return body.list.map((row: { Id: number }) => row.Id)
      return 'Id' in body ? body.Id : null
    }),
  )
}

describe('a copy of a table', () => {
  test('is refused to editors, of tables that are not there, and under a title in use', async () => {
    const editor = bench.app.trpc((await createMember(bench.app, bench.baseId, 'editor')).token)
    expect((await refusalOf(editor.copies.table.mutate({ tableId: tasks.id }))).status).toBe(403)
    const { table } = bench.trpc.copies
    expect((await refusalOf(table.mutate({ tableId: 'mnothing' }))).code).toBe('TABLE_NOT_FOUND')
    await changesNothing(bench, async () => {
      const taken = await refusalOf(table.mutate({ tableId: tasks.id, options: { title: people.title } }))
      expect(taken).toMatchObject({ code: 'DUPLICATE_ALIAS', status: 422 })
      expect(taken.message).toContain(people.title)
      const dotted = await refusalOf(table.mutate({ tableId: tasks.id, options: { title: 'a.b' } }))
      expect(dotted.message).toContain('not allowed "."')
      const all = await bench.trpc.schema.tables.query({ baseId: bench.baseId, includeJunctions: true })
      const junction = all.find(({ isJunction }) => isJunction)?.id ?? ''
      expect((await refusalOf(table.mutate({ tableId: junction }))).message).toContain('is a junction table')
    })
  })

  test('has the fields, values and rules of the original, right behind it', async () => {
    const made = await copy()
    expect(made.table.title).toBe(`${tasks.title} copy`)
    const titles = (await bench.trpc.schema.tables.query({ baseId: bench.baseId })).map(({ title }) => title)
    expect(titles.indexOf(made.table.title)).toBe(titles.indexOf(tasks.title) + 1)
    const original = await open(tasks.id)
    const shape = ({ fields }: TableSchema) =>
      fields.map(({ title, type, required, unique, defaultValue, isDisplay }) => {
        return { title, type, required, unique, defaultValue, isDisplay }
      })
    // The key of "Owner" is called after the table it leads to in both.
    expect(shape(made)).toEqual(shape(original))
    for (const { id } of [...original.fields, ...original.views])
      expect(JSON.stringify(made)).not.toContain(id)
    const values = '&fields=Id,Title,Hours,Code,State,Rates,Cost,No'
    expect(await rows(made.table.id, values)).toEqual(await rows(tasks.id, values))
    expect(await rows(made.table.id, values)).toMatchObject([
      { Id: 1, Title: 't1', Rates: 7, Cost: 14, No: 1 },
      { Id: 2, Title: 't2' },
      { Id: 3, Title: 't3' },
    ])
    // A unique field is unique in the copy, and does not look at the original.
    const path = `/api/v2/tables/${made.table.id}/records`
    expect((await bench.rest.post(path, { Title: 'x', Hours: 1, Code: 'd' })).body).toEqual({
      Id: lastId + 1,
    })
    expect((await rows(made.table.id, '&where=(Code,eq,d)'))[0].No).toBe(5)
    const again = await bench.rest.post(path, { Title: 'x', Hours: 1, Code: 'a' })
    expect([again.status, JSON.stringify(again.body)]).toEqual([400, expect.stringContaining('Code')])
    expect(await tasks.total()).toBe(3)
  })

  test('has records that were made now, by whoever copies', async () => {
    const creator = await createMember(bench.app, bench.baseId, 'creator')
    const { jobId, tableId } = await bench.app.trpc(creator.token).copies.table.mutate({ tableId: tasks.id })
    expect((await ended(doorOf(bench.app, creator), jobId)).status).toBe('completed')
    const [record] = await rows(tableId)
    expect(record.By.email).toBe(creator.email)
    expect(Date.now() - Date.parse(record.Made)).toBeLessThan(60_000)
    expect(record.UpdatedAt).toBeNull()
  })

  test('links the same records by links of every kind, and takes none from the original', async () => {
    const [made, original] = [await copy(), await open(tasks.id)]
    const expected = {
      Team: [[1, 2], [], []],
      Owner: [2, 2, null],
      Helpers: [[1, 3], [], []],
      Twin: [null, null, 1],
      After: [[], [1], [1, 2]],
    }
    for (const [title, ids] of Object.entries(expected)) {
      for (const { table, fields } of [made, original]) {
        expect([title, await linked(table.id, named({ fields }, title))]).toEqual([title, ids])
      }
    }
    // Inside, links lead to the copy; what is linked has a reverse of its own for each.
    expect(named(made, 'After').options.relatedTableId).toBe(made.table.id)
    const reverses = (await open(people.id)).fields.filter(
      ({ options, isSystem }) => options.relatedTableId === made.table.id && !isSystem,
    )
    for (const { title } of reverses) expect(title).toMatch(/ cop(y|ies)/)
    expect(new Set(reverses.map(({ title }) => title)).size).toBe(4)
    const owned = reverses.find(({ id }) => id === named(made, 'Owner').options.inverseFieldId)
    if (!owned) throw new Error('"Owner" has no reverse')
    expect(await linked(people.id, owned)).toEqual([[], [1, 2], []])
    // Each goes its own way.
    const unlink = `/api/v2/tables/${made.table.id}/links/${named(made, 'Helpers').id}/records/1`
    expect((await bench.rest.delete(unlink, [{ Id: 3 }])).status).toBe(200)
    expect(await linked(tasks.id, named(original, 'Helpers'))).toEqual([[1, 3], [], []])
    expect(await linked(made.table.id, named(made, 'Helpers'))).toEqual([[1], [], []])
  })

  test('has the views with their filters, sorts, groups and options, and none of their links', async () => {
    const original = await open(tasks.id)
    const [grid] = original.views
    const cost = named(original, 'Cost').id
    const board = await bench.trpc.views.create.mutate({
      tableId: tasks.id,
      title: 'Board',
      kind: 'kanban',
      options: { stackFieldId: named(original, 'State').id },
    } as never)
    await bench.trpc.views.update.mutate({
      viewId: grid?.id ?? '',
      patch: {
        filter: { fieldId: cost, operator: 'gt', value: 0 },
        sorts: [{ fieldId: cost, direction: 'desc' }],
        groups: [{ fieldId: named(original, 'State').id, direction: 'asc' }],
      },
    })
    await bench.trpc.shares.save.mutate({ kind: 'view', targetId: grid?.id ?? '', patch: {} })
    const made = await copy()
    const [first, second] = made.views
    expect(made.views.map(({ title, kind }) => [title, kind])).toEqual([
      [grid?.title ?? '', 'grid'],
      ['Board', 'kanban'],
    ])
    expect(first?.isShared).toBe(false)
    expect(first?.sorts).toMatchObject([{ fieldId: named(made, 'Cost').id, direction: 'desc' }])
    expect(first?.groups).toMatchObject([{ fieldId: named(made, 'State').id }])
    expect(await rows(made.table.id, `&viewId=${first?.id}`)).toHaveLength(1)
    expect(JSON.stringify(second?.options)).toBe(
      JSON.stringify((await open(tasks.id)).views[1]?.options).replace(
        named(original, 'State').id,
        named(made, 'State').id,
      ),
    )
    expect((await copy({ withViews: false })).views.map(({ title }) => title)).toEqual([grid?.title ?? ''])
    await bench.trpc.views.delete.mutate({ viewId: board.id })
  })

  test('requires nothing of the records of other tables, and no copy of its links does', async () => {
    const makers = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'm1' }])
    const parts = await bench.table({ Title: 'SingleLineText' })
    const options = { kind: 'bt' as const, relatedTableId: makers.id }
    const field = { title: 'Maker', type: 'LinkToAnotherRecord' as const, options, required: true }
    const maker = await bench.trpc.schema.createField.mutate({ tableId: parts.id, field })
    const add = (title: string) => {
      const values = { [parts.field('Title').id]: title, [maker.id]: '[1]' }
      const operations = [{ kind: 'insert' as const, tableId: parts.id, rows: [{ values }] }]
      return bench.trpc.records.write.mutate({ change: { baseId: bench.baseId, operations } })
    }
    await add('p1')
    for (const withData of [true, false]) await copy({ withData }, makers.id)
    await add('p2')
    const reverse = (await open(makers.id)).fields.find(({ type }) => type === 'Links')
    const { jobId } = await bench.trpc.copies.field.mutate({ fieldId: reverse?.id ?? '' })
    expect((await ended(doorOf(bench.app, bench.owner), jobId)).status).toBe('completed')
    await add('p3')
    expect(await parts.titles()).toEqual(['p1', 'p2', 'p3'])
    expect(named(await open(parts.id), 'Maker').required).toBe(true)
  })

  test('without records is empty, numbers from one, and leaves what it links alone', async () => {
    const made = await copy({ title: 'Empty tasks', withData: false })
    expect(made.table.title).toBe('Empty tasks')
    expect(await rows(made.table.id)).toEqual([])
    const path = `/api/v2/tables/${made.table.id}/records`
    expect((await bench.rest.post(path, { Title: 'x', Hours: 1 })).body).toEqual({ Id: 1 })
    expect((await rows(made.table.id))[0].No).toBe(1)
    expect(await linked(made.table.id, named(made, 'Team'), [1])).toEqual([[]])
  })

  test('goes with one undo, its reverses as well, and comes back with one redo', async () => {
    const count = (await open(people.id)).fields.length
    const made = await copy()
    expect((await open(people.id)).fields.length).toBeGreaterThan(count)
    expect((await undo()).kind).toBe('table.create')
    expect((await bench.rest.get(`/api/v2/tables/${made.table.id}/records`)).status).toBe(404)
    expect((await open(people.id)).fields).toHaveLength(count)
    expect((await redo()).kind).toBe('table.create')
    expect(await rows(made.table.id)).toHaveLength(3)
    expect(await linked(made.table.id, named(made, 'Helpers'))).toEqual([[1, 3], [], []])
    await undo()
  })

  test('shares the files of the original, which stay when that one goes', async () => {
    const files = await bench.table({ Title: 'SingleLineText', Files: 'Attachment' })
    const file = await uploadOne(bench, bench.owner.token, 'note.txt', 'kept')
    await bench.rest.post(files.path, { Title: 'with a file', Files: [file] })
    const made = await copy({}, files.id)
    await bench.trpc.schema.deleteTable.mutate({ tableId: files.id })
    const [row] = await rows(made.table.id)
    expect(row.Files).toMatchObject([{ path: file.path, title: 'note.txt' }])
    const answer = await fetch(`${bench.app.url}/${row.Files[0].signedPath}`)
    expect([answer.status, await answer.text()]).toEqual([200, 'kept'])
    // Whoever may read the copy may put the file into another of its records.
    const again = { Title: 'again', Files: row.Files }
    expect((await bench.rest.post(`/api/v2/tables/${made.table.id}/records`, again)).status).toBe(200)
  })
})
