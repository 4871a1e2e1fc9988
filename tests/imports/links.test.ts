import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import { createLink, linkedIds, type TestEnd } from '../records/links-support.ts'
import { type Bench, createBench, readLog, refusalOf, type TestTable } from '../records/support.ts'
import { createLinkWorld, linksOf, loadLinks, startLinks } from './link-support.ts'
import { doorOf, ended } from './support.ts'

let bench: Bench
beforeAll(async () => {
  bench = await createBench()
})
afterAll(() => bench.stop())

const start = (tableId: string, fieldIds: string[], file: string) =>
  startLinks(bench, tableId, fieldIds, file)
const load = (table: TestTable, ends: TestEnd[], file: string) => loadLinks(bench, table, ends, file)

const undo = () => bench.trpc.records.undo.mutate({ baseId: bench.baseId })
const redo = () => bench.trpc.records.redo.mutate({ baseId: bench.baseId })

/** Two tables, of which the second has the records Ann, Bob and Eve. */
const world = (kind: 'hm' | 'bt' | 'mm' | 'oo', options?: { holdsKey?: boolean; required?: boolean }) =>
  createLinkWorld(bench, kind, { people: ['Ann', 'Bob', 'Eve', 'Ann'] }, options)

describe('an import that fills a link', () => {
  test('is refused where the linked records are named by a formula', async () => {
    const { books, people, own } = await world('mm')
    const named = await bench.trpc.schema.createField.mutate({
      tableId: people.id,
      field: { title: 'Name', type: 'Formula', options: { formula: 'UPPER({Title})' } } as never,
    })
    await bench.trpc.schema.setDisplayField.mutate({ fieldId: named.id })
    expect(await refusalOf(start(books.id, [own.fieldId], 'l\nANN\n'))).toMatchObject({
      code: 'BAD_REQUEST',
      status: 400,
      message: expect.stringContaining('is computed'),
    })
  })

  test('is refused where a required link is given no column', async () => {
    const { books, own } = await world('bt', { required: true })
    const refusal = await refusalOf(start(books.id, [books.field('Title').id], 't\nA\n'))
    expect(refusal).toMatchObject({ code: 'REQUIRED_FIELD_MISSING', status: 422 })
    expect(refusal.message).toContain(`“${own.title}” is required. Choose a column for it.`)
  })

  test('adds nothing where the link is deleted while it runs', async () => {
    const { books, own } = await world('mm')
    const jobId = await start(
      books.id,
      [books.field('Title').id, own.fieldId],
      `t,l\n${'A,Ann\n'.repeat(60_000)}`,
    )
    await bench.trpc.schema.deleteField.mutate({ fieldId: own.fieldId })
    const job = await ended(doorOf(bench.app, bench.owner), jobId)
    expect(job).toMatchObject({ status: 'failed', error: expect.stringContaining('was changed during') })
    expect(await books.total()).toBe(0)
  })

  test('leaves out rows without the record that they must have', async () => {
    const { books, own, links } = await world('bt', { required: true })
    const { result, report } = await load(books, [own], 't,l\nA,Bob\nB,Zoe\nC,\nD,"Bob, Eve"\n')
    expect(result).toMatchObject({ rows: 1, rowsRefused: 3, cellsRefused: 0 })
    expect(await links()).toEqual({ A: ['Bob'] })
    expect(report.map((line) => line.split(',')[0])).toEqual(['4', '3', '5'])
    expect(report[1]).toContain('is named “Zoe”. The row was skipped.')
  })

  test('takes a row whose double has been left out, as it lacks the record that it must have', async () => {
    const { books, own, links } = await world('bt', { required: true })
    const fieldId = books.field('Title').id
    await bench.trpc.schema.updateField.mutate({ fieldId, patch: { unique: true } })
    const { report } = await load(books, [own], 't,l\nA,Zoe\nA,Bob\nA,Eve\n')
    expect(await links()).toEqual({ A: ['Bob'] })
    expect(report.map((line) => line.split(',')[0])).toEqual(['2', '4'])
  })

  test('says which names it does not find, and links the others', async () => {
    const { books, people, own, links } = await world('mm')
    const { result, report } = await load(books, [own], 't,l\nA,"Bob, Zoe, Eve"\nB,Max\nC,\n')
    expect(result).toMatchObject({ rows: 3, rowsRefused: 0, cellsRefused: 2 })
    expect(await links()).toEqual({ A: ['Bob', 'Eve'], B: [], C: [] })
    expect(report).toEqual([
      `2,${own.title},"Bob, Zoe, Eve",No record in “${people.title}” is named “Zoe”`,
      `3,${own.title},Max,No record in “${people.title}” is named “Max”`,
    ])
  })

  test('says where several are named and one is taken', async () => {
    const { books, own, links } = await world('bt')
    const { report } = await load(books, [own], 't,l\nA,"Bob, Eve"\nB,Eve\n')
    expect(await links()).toEqual({ A: [], B: ['Eve'] })
    expect(report).toHaveLength(1)
    expect(report[0]).toContain('allows one linked record, but the cell names several')
  })

  test('means the first of several records with one name', async () => {
    const { books, own, held } = await world('mm')
    await load(books, [own], 't,l\nA,Ann\n')
    expect((await held()).map((ids) => ids.length)).toEqual([1, 0, 0, 0])
  })

  test.each([
    ['hm' as const, {}],
    ['oo' as const, {}],
    ['oo' as const, { holdsKey: true }],
  ])(
    'gives a record that one alone may have to the last row that names it (%s %j), and back',
    async (kind, how) => {
      const { books, own, write, links, held } = await world(kind, how)
      await load(books, [], 't\nOld\nOther\n')
      await write('link', 1, [2])
      await write('link', 2, [3])
      const before = await links()
      expect(before).toEqual({ Old: ['Bob'], Other: ['Eve'] })
      const many = kind === 'hm' ? 'C,"Ann, Bob"' : 'C,Bob'
      await load(books, [own], `t,l\nA,Bob\nB,\n${many}\n`)
      const after = { Old: [], Other: ['Eve'], A: [], B: [], C: kind === 'hm' ? ['Ann', 'Bob'] : ['Bob'] }
      expect(await links()).toEqual(after)
      expect((await held())[1]).toHaveLength(1)
      await undo()
      expect(await links()).toEqual(before)
      expect((await held())[1]).toEqual([1])
      await redo()
      expect(await links()).toEqual(after)
      await undo()
      expect(await links()).toEqual(before)
    },
  )

  test('gives a record back to nobody where the one that had it is gone by now, or has another', async () => {
    const { books, own, write, links } = await world('oo', { holdsKey: true })
    await load(books, [], 't\nOld\nOther\n')
    await write('link', 1, [2])
    await write('link', 2, [3])
    await load(books, [own], 't,l\nA,Bob\nB,Eve\n')
    const member = await bench.app.signUp()
    await bench.app.services.auth.access.setMembership(bench.baseId, member.id, 'editor')
    await bench.app.trpc(member.token).records.write.mutate({
      change: {
        baseId: bench.baseId,
        operations: [{ kind: 'link', tableId: books.id, fieldId: own.fieldId, id: 1, targets: [1] }],
      },
    })
    await undo()
    expect(await links()).toEqual({ Old: ['Ann'], Other: ['Eve'] })
  })

  test('lets rows of the file name each other, and what is there goes first', async () => {
    const tasks = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'Old' }])
    const parent = await createLink(bench, tasks, tasks, 'bt', { title: 'Parent' })
    const friends = await createLink(bench, tasks, tasks, 'mm', { title: 'Friends' })
    const file = 't,p,f\nLeaf,Root,"Leaf, Old"\nRoot,,Leaf\nOld,Root,\nTwig,Old,\n'
    const { report } = await load(tasks, [parent.own, friends.own], file)
    expect(report).toEqual([])
    const [title, ids] = [tasks.field('Title').id, await tasks.list()]
    expect(ids.map(({ Id }) => Id)).toEqual([1, 2, 3, 4, 5])
    expect(await linkedIds(bench, parent.own, 5)).toEqual([1])
    expect(await linkedIds(bench, parent.own, 4)).toEqual([3])
    expect(await linkedIds(bench, friends.inverse, 2)).toEqual([2, 3])
    expect((await linksOf(bench, friends.own, title)).Leaf).toEqual(['Old', 'Leaf'])
    await undo()
    expect(await tasks.titles()).toEqual(['Old'])
    expect(await linkedIds(bench, friends.inverse, 1)).toEqual([])
    await redo()
    expect(await linkedIds(bench, friends.inverse, 2)).toEqual([2, 3])
    expect(await linkedIds(bench, parent.own, 2)).toEqual([3])
  })

  test('takes both ends of one link, each pair once', async () => {
    const tasks = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'Old' }])
    const friends = await createLink(bench, tasks, tasks, 'mm', { title: 'Friends' })
    const pair = await createLink(bench, tasks, tasks, 'oo', { title: 'Deputy' })
    await load(
      tasks,
      [friends.own, friends.inverse, pair.own, pair.inverse],
      't,f,g,d,e\nA,B,,B,Old\nB,,"A, Old",,A\n',
    )
    const title = tasks.field('Title').id
    expect(await linksOf(bench, friends.own, title)).toEqual({ Old: ['B'], A: ['B'], B: [] })
    expect(await linksOf(bench, pair.own, title)).toEqual({ Old: ['A'], A: ['B'], B: [] })
    expect(await linksOf(bench, pair.inverse, title)).toEqual({ Old: [], A: ['Old'], B: ['A'] })
  })

  test('is one line of the log and one event, and computed fields show it', async () => {
    const { books, people, own, inverse } = await world('hm')
    const lookup = await bench.trpc.schema.createField.mutate({
      tableId: people.id,
      field: {
        title: 'Book',
        type: 'Lookup',
        options: { relationFieldId: inverse.fieldId, targetFieldId: books.field('Title').id },
      } as never,
    })
    const seen: { tableIds: string[] }[] = []
    const stop = bench.app.kernel.events.on('records.changed', (change) => seen.push(change))
    await load(books, [own], 't,l\nA,"Bob, Eve"\n')
    stop()
    expect(seen.map(({ tableIds }) => tableIds.toSorted())).toEqual([[books.id, people.id].toSorted()])
    const log = (await readLog(bench, books)).filter(({ kind }) => kind.startsWith('records.'))
    expect(log).toMatchObject([{ kind: 'records.import', records: 1 }])
    const key = own.options.keyFieldId ?? ''
    expect(log[0]?.changes).toMatchObject(
      [2, 3].map((id) => ({ record_id: id, before: { [key]: null }, after: { [key]: 1 } })),
    )
    const page = await bench.trpc.records.list.query({
      query: { tableId: people.id, fieldIds: [lookup.id], limit: 10, offset: 0 },
    })
    expect(page.rows.map(([cell]) => String(cell ?? '').includes('A'))).toEqual([false, true, true, false])
  })
})

describe('cells that are looked at ahead of an import', () => {
  const look = (tableId: string, fieldId: string, texts: string[]) =>
    bench.trpc.imports.missingNames.query({ baseId: bench.baseId, tableId, fieldId, texts })

  test('are refused for what is no link, for another base, and where they are too many', async () => {
    const { books, own } = await world('mm')
    const title = books.field('Title').id
    expect(await refusalOf(look(books.id, title, ['x']))).toMatchObject({ code: 'BAD_REQUEST', status: 400 })
    expect(await refusalOf(look(books.id, 'none', ['x']))).toMatchObject({ code: 'FIELD_NOT_FOUND' })
    const other = await bench.trpc.bases.create.mutate({ title: 'Other' })
    const elsewhere = { baseId: other.id, tableId: books.id, fieldId: own.fieldId, texts: ['x'] }
    expect(await refusalOf(bench.trpc.imports.missingNames.query(elsewhere))).toMatchObject({ status: 404 })
    for (const texts of [Array(1001).fill('x'), ['x'.repeat(150_000), 'y'.repeat(150_000)], ['\0']])
      expect(await refusalOf(look(books.id, own.fieldId, texts))).toMatchObject({ status: 400 })
  })

  test('are those that the import will leave empty', async () => {
    const texts = [
      'Ann',
      'Ann, Bob',
      'Zoe',
      'Bob, Zoe',
      ' Eve ',
      '"Ann"',
      '"Doe, Jane"',
      '99999999999999999999',
      '-1',
      '',
    ]
    for (const [kind, missing] of [
      ['mm' as const, [2, 3, 6, 7, 8]],
      ['bt' as const, [1, 2, 3, 6, 7, 8]],
    ] as const) {
      const { books, own, links } = await world(kind)
      expect(await look(books.id, own.fieldId, texts)).toEqual({ missing: [...missing] })
      const rows = texts.map((text, at) => `${at},"${text.replaceAll('"', '""')}"`)
      const { report } = await load(books, [own], `t,l\n${rows.join('\n')}\n`)
      expect(report.map((line) => Number(line.split(',')[0]) - 2)).toEqual([...missing])
      expect((await links())['4']).toEqual(['Eve'])
    }
  })

  test('are found by numbers, dates and ids', async () => {
    const days = await bench.table({ Day: 'Date' }, [{ Day: '2024-02-29' }, { Day: null }])
    const books = await bench.table()
    const { own } = await createLink(bench, books, days, 'mm')
    expect(await look(books.id, own.fieldId, ['2024-02-29', '2', '1', '2024-03-01', 'x'])).toEqual({
      missing: [2, 3, 4],
    })
  })
})
