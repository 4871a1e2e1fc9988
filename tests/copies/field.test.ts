import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Field } from '../../src/core/model.ts'
import { doorOf, ended } from '../imports/support.ts'
import { type Bench, changesNothing, createBench, refusalOf, type TestTable } from '../records/support.ts'
import { createMember } from '../support/factories.ts'

let bench: Bench
let people: TestTable
let tasks: TestTable
beforeAll(async () => {
  bench = await createBench()
  people = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'p1' }, { Title: 'p2' }, { Title: 'p3' }])
  tasks = await bench.table(
    {
      Title: 'SingleLineText',
      Hours: { type: 'Number', required: true, defaultValue: 1 },
      Code: { type: 'SingleLineText', unique: true },
      State: { type: 'SingleSelect', options: { choices: [{ title: 'Open' }] }, defaultValue: 'Open' },
      Due: 'DateTime',
      Made: 'CreatedTime',
    },
    [
      { Title: 't1', Hours: 2, Code: 'a', Due: '2026-01-02 03:04:05+00:00' },
      { Title: 't2', Hours: 5, Code: 'b', State: null },
      { Title: 't3', Hours: 7 },
    ],
  )
})
afterAll(() => bench.stop())

const fields = async (tableId = tasks.id): Promise<Field[]> =>
  (await bench.trpc.schema.table.query({ tableId })).fields

async function named(title: string, tableId = tasks.id): Promise<Field> {
  const found = (await fields(tableId)).find((field) => field.title === title)
  if (!found) throw new Error(`No field ${title}`)
  return found
}

const add = (title: string, type: string, options: object) =>
  bench.trpc.schema.createField.mutate({ tableId: tasks.id, field: { title, type, options } as never })

async function copy(title: string, how: object = {}): Promise<Field> {
  const { id } = await named(title)
  const started = await bench.trpc.copies.field.mutate({ fieldId: id, ...how })
  const job = await ended(doorOf(bench.app, bench.owner), started.jobId)
  expect([job.status, job.error, job.result]).toEqual(['completed', null, { id: started.fieldId }])
  const made = (await fields()).find((field) => field.id === started.fieldId)
  if (!made) throw new Error('The copy is not there')
  return made
}

const undo = () => bench.trpc.records.undo.mutate({ baseId: bench.baseId })
const redo = () => bench.trpc.records.redo.mutate({ baseId: bench.baseId })
const column = async (title: string) => (await tasks.list()).map((row) => row[title])

async function linked(field: Field, tableId = tasks.id): Promise<unknown[]> {
  return Promise.all(
    [1, 2, 3].map(async (id) => {
      const { body } = await bench.rest.get(`/api/v2/tables/${tableId}/links/${field.id}/records/${id}`)
      if ('list' in body) return body.list.map((row: { Id: number }) => row.Id)
      return 'Id' in body ? body.Id : null
    }),
  )
}

/** What records 1 to 3 link, by the kind of the link. */
const LINKS: [kind: string, expected: (number | number[] | null)[]][] = [
  ['mm', [[1, 2], [2], []]],
  ['hm', [[1, 2], [3], []]],
  ['bt', [2, 2, null]],
  ['oo', [3, 1, null]],
]

describe('a copy of a field', () => {
  test('is refused to editors, and of what is not there or kept by the product', async () => {
    const hours = tasks.field('Hours').id
    const editor = bench.app.trpc((await createMember(bench.app, bench.baseId, 'editor')).token)
    expect((await refusalOf(editor.copies.field.mutate({ fieldId: hours }))).status).toBe(403)
    const { field } = bench.trpc.copies
    await add('Boss', 'LinkToAnotherRecord', { kind: 'bt', relatedTableId: people.id })
    const key = (await fields()).find(({ type }) => type === 'ForeignKey')
    await changesNothing(bench, async () => {
      expect((await refusalOf(field.mutate({ fieldId: 'cnothing' }))).code).toBe('FIELD_NOT_FOUND')
      for (const { id, title } of [await named('Id'), await named('nc_order'), key].filter(
        (each) => !!each,
      )) {
        const refused = await refusalOf(field.mutate({ fieldId: id }))
        expect([refused.status, refused.message]).toEqual([400, expect.stringContaining(title)])
      }
      const elsewhere = { fieldId: hours, viewId: people.schema.views[0]?.id ?? '' }
      expect((await refusalOf(field.mutate(elsewhere))).code).toBe('VIEW_NOT_FOUND')
      const unknown = { fieldId: hours, beforeFieldId: people.field('Title').id }
      expect((await refusalOf(field.mutate(unknown))).code).toBe('FIELD_NOT_FOUND')
    })
  })

  test('has its type, rules and values, but is neither unique nor the name of the records', async () => {
    for (const title of ['Title', 'Hours', 'Code', 'State', 'Due']) {
      const [original, made] = [await named(title), await copy(title)]
      expect(made).toMatchObject({
        title: `${title} copy`,
        type: original.type,
        options: original.options,
        required: original.required,
        defaultValue: original.defaultValue,
        unique: false,
        isDisplay: false,
      })
      expect(await column(made.title)).toEqual(await column(title))
    }
    expect((await copy('Hours')).title).toBe('Hours copy_1')
    const [{ created }] = [{ created: await copy('Made') }]
    expect(await column(created.title)).toEqual(await column('Made'))
    // Nobody has changed the records.
    expect((await tasks.list()).every(({ UpdatedAt }) => UpdatedAt === null)).toBe(true)
    await bench.rest.patch(tasks.path, { Id: 1, 'Code copy': 'b' })
    expect(await column('Code')).toEqual(['a', 'b', null])
    await undo()
  })

  test('without values is empty, and then asks for none', async () => {
    const made = await copy('Hours', { withData: false })
    expect(made).toMatchObject({ required: false, defaultValue: 1 })
    expect(await column(made.title)).toEqual([null, null, null])
  })

  test('stands where it was asked for, and last everywhere else', async () => {
    const viewId = tasks.schema.views[0]?.id ?? ''
    const made = await copy('Hours', { viewId, beforeFieldId: tasks.field('Code').id })
    const { views } = await bench.trpc.schema.table.query({ tableId: tasks.id })
    const order = views[0]?.fields.filter(({ show }) => show).map(({ fieldId }) => fieldId) ?? []
    const at = order.indexOf(made.id)
    expect([order[at - 1], order[at + 1]]).toEqual([tasks.field('Hours').id, tasks.field('Code').id])
  })

  test('goes with one undo and comes back with one redo, with its values', async () => {
    const made = await copy('Code')
    expect((await undo()).kind).toBe('field.create')
    expect((await fields()).map(({ id }) => id)).not.toContain(made.id)
    expect((await redo()).kind).toBe('field.create')
    expect(await column(made.title)).toEqual(['a', 'b', null])
  })

  test('that is computed reads the same fields; one that is broken is as broken', async () => {
    await add('Twice', 'Formula', { formula: '{Hours} * 2' })
    const made = await copy('Twice')
    expect(await column(made.title)).toEqual([4, 10, 14])
    const hours = await copy('Hours')
    await add('Broken', 'Formula', { formula: `{${hours.title}} * 2` })
    await bench.trpc.schema.deleteField.mutate({ fieldId: hours.id })
    expect((await copy('Broken')).error).toBe((await named('Broken')).error)
    expect((await named('Broken')).error).not.toBeNull()
  })

  test('that numbers records has the same numbers, and goes on with them', async () => {
    await add('No', 'AutoNumber', {})
    const made = await copy('No', { withData: false })
    await bench.rest.post(tasks.path, { Title: 't4', Hours: 1 })
    expect(await column(made.title)).toEqual([1, 2, 3, 4])
    await undo()
  })

  test.each(LINKS)(
    'that links records (%s) links the same ones, and takes none away',
    async (kind, expected) => {
      for (const related of [people, tasks]) {
        const title = `${kind} ${related.title}`
        const type = kind === 'bt' || kind === 'oo' ? 'LinkToAnotherRecord' : 'Links'
        const link = await add(title, type, { kind, relatedTableId: related.id })
        const operations = expected.slice(0, 2).map((ids, index) => ({
          kind: 'link' as const,
          tableId: tasks.id,
          fieldId: link.id,
          id: index + 1,
          targets: [ids].flat() as number[],
        }))
        await bench.trpc.records.write.mutate({ change: { baseId: bench.baseId, operations } })
        const before = (await fields(people.id)).length
        const made = await copy(title)
        expect(made.options).toMatchObject({ kind, relatedTableId: related.id })
        for (const field of [link, made]) expect([title, await linked(field)]).toEqual([title, expected])
        if (related === people) {
          const inverse = (await fields(people.id)).find(({ id }) => id === made.options.inverseFieldId)
          expect(inverse?.title).toEndWith('copy')
          expect(await linked(inverse as Field, people.id)).toEqual(
            await linked(
              (await fields(people.id)).find(({ id }) => id === link.options.inverseFieldId) as Field,
              people.id,
            ),
          )
        }
        const path = `/api/v2/tables/${tasks.id}/links/${made.id}/records/2`
        await bench.rest.delete(path, [{ Id: [expected[1]].flat()[0] }])
        expect([title, await linked(link)]).toEqual([title, expected])
        expect([title, await linked(made)]).not.toEqual([title, expected])
        await undo()
        await undo()
        expect((await fields(people.id)).length).toBe(before)
      }
    },
  )

  test('that links records is empty without its links', async () => {
    await add('Team', 'Links', { kind: 'mm', relatedTableId: people.id })
    await bench.trpc.records.write.mutate({
      change: {
        baseId: bench.baseId,
        operations: [
          { kind: 'link', tableId: tasks.id, fieldId: (await named('Team')).id, id: 1, targets: [1, 2] },
        ],
      },
    })
    expect(await linked(await copy('Team'))).toEqual([[1, 2], [], []])
    expect(await linked(await copy('Team', { withData: false }))).toEqual([[], [], []])
  })

  test('is made over REST by a job; a column that nobody has is refused in the words of the clients', async () => {
    const { id } = tasks.field('Code')
    for (const prefix of ['/api/v1/db/meta', '/api/v2/meta']) {
      const path = `${prefix}/duplicate/${bench.baseId}/column`
      const extra = { column_order: { order: 1.5, view_id: tasks.schema.views[0]?.id } }
      const { status, body } = await bench.rest.post(`${path}/${id}`, {
        extra,
        options: { excludeData: true },
      })
      expect([status, body]).toEqual([200, { id: expect.stringMatching(/^job/) }])
      const job = await ended(doorOf(bench.app, bench.owner), body.id)
      expect([job.kind, job.result]).toEqual(['duplicate-column', { id: expect.stringMatching(/^c/) }])
      const unknown = await bench.rest.post(`${path}/cnothing`, {})
      expect([unknown.status, unknown.body]).toEqual([400, { msg: 'Column not found!' }])
    }
    const other = await bench.trpc.bases.create.mutate({ title: 'Other' })
    const elsewhere = await bench.rest.post(`/api/v1/db/meta/duplicate/${other.id}/column/${id}`, {})
    expect([elsewhere.status, elsewhere.body]).toEqual([400, { msg: 'Column not found!' }])
  })
})
