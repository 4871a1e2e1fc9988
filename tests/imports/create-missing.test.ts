import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createLink } from '../records/links-support.ts'
import { type Bench, createBench, readLog, refusalOf } from '../records/support.ts'
import { createLinkWorld, type LinkImport, linksOf, loadLinks, startLinks } from './link-support.ts'
import { doorOf, ended, resultOf } from './support.ts'

let bench: Bench
beforeAll(async () => {
  bench = await createBench()
})
afterAll(() => bench.stop())

const CREATE: LinkImport = { missing: 'create' }
const undo = () => bench.trpc.records.undo.mutate({ baseId: bench.baseId })
const redo = () => bench.trpc.records.redo.mutate({ baseId: bench.baseId })
const world = (kind: 'hm' | 'bt' | 'mm' | 'oo', options?: { holdsKey?: boolean; required?: boolean }) =>
  createLinkWorld(bench, kind, { books: ['Old'], people: ['Ann', 'Bob'] }, options)
const titlesOf = async ({ list }: { list(): Promise<Record<string, unknown>[]> }) =>
  (await list()).map(({ Title }) => Title)

describe('an import that creates the linked records which it names', () => {
  test('is refused for other fields than links, and for records that need more than a name', async () => {
    const { books, people, own } = await world('mm')
    const title = books.field('Title').id
    const note = await bench.trpc.schema.createField.mutate({
      tableId: books.id,
      field: { title: 'Note', type: 'LongText' },
    })
    expect(
      await refusalOf(startLinks(bench, books.id, [title, note.id], 't,n\nA,x\n', CREATE)),
    ).toMatchObject({
      code: 'BAD_REQUEST',
      message: 'Only columns of link fields can create missing records',
    })
    const code = await bench.trpc.schema.createField.mutate({
      tableId: people.id,
      field: { title: 'Code', type: 'Number' },
    })
    const values = [1, 2].map((Id) => ({ Id, Code: Id }))
    await bench.rest.patch(`/api/v2/tables/${people.id}/records`, values)
    await bench.trpc.schema.updateField.mutate({ fieldId: code.id, patch: { required: true } })
    const refusal = await refusalOf(startLinks(bench, books.id, [title, own.fieldId], 't,l\nA,Zoe\n', CREATE))
    expect(refusal.message).toContain('“Code” is required and has no default')
    expect(await people.total()).toBe(2)
  })

  test.each(['hm', 'bt', 'mm', 'oo'] as const)(
    'adds each once and links it (%s), as one step of undo',
    async (kind) => {
      const { books, people, own, links } = await world(kind)
      const file = 't,l\nA,Zoe\nB,Ann\nC, Max \nD,\n'
      const { result, report } = await loadLinks(bench, books, [own], file, CREATE)
      expect(report).toEqual([])
      expect(result).toMatchObject({ rows: 4, cellsRefused: 0, created: [{ tableId: people.id, count: 2 }] })
      const after = { Old: [], A: ['Zoe'], B: ['Ann'], C: ['Max'], D: [] }
      expect(await links()).toEqual(after)
      expect(await titlesOf(people)).toEqual(['Ann', 'Bob', 'Zoe', 'Max'])
      await undo()
      expect(await links()).toEqual({ Old: [] })
      expect(await titlesOf(people)).toEqual(['Ann', 'Bob'])
      await redo()
      expect(await links()).toEqual(after)
      expect(await titlesOf(people)).toEqual(['Ann', 'Bob', 'Zoe', 'Max'])
    },
  )

  test('reads lists, and adds a name that several cells have once', async () => {
    const { books, people, own, links } = await world('mm')
    await loadLinks(bench, books, [own], 't,l\nA,"Zoe, Ann"\nB,"Max, Zoe"\nC,"""Smith, John"""\n', CREATE)
    expect(await links()).toEqual({ Old: [], A: ['Ann', 'Zoe'], B: ['Zoe', 'Max'], C: ['Smith, John'] })
    expect(await titlesOf(people)).toEqual(['Ann', 'Bob', 'Zoe', 'Max', 'Smith, John'])
  })

  test('fills the other fields of new records with their defaults, and numbers them', async () => {
    const { books, people, own } = await world('bt')
    const field = (title: string, type: 'SingleLineText' | 'AutoNumber', defaultValue?: string) =>
      bench.trpc.schema.createField.mutate({
        tableId: people.id,
        field: { title, type, defaultValue } as never,
      })
    await field('City', 'SingleLineText', 'Rome')
    await field('No', 'AutoNumber')
    await loadLinks(bench, books, [own], 't,l\nA,Zoe\n', CREATE)
    expect((await people.list()).at(-1)).toMatchObject({ Title: 'Zoe', City: 'Rome', No: 3 })
  })

  test('only adds names of rows that are written, and says in a preview how many', async () => {
    const { books, people, own, links } = await world('bt')
    const file = 't,l\nOld,Zoe\nNew,Max\n,Eve\nOld,Tim\n'
    const update = { mode: 'update' as const }
    const preview = await loadLinks(bench, books, [own], file, { ...CREATE, update, preview: true })
    expect(preview.result).toMatchObject({
      update: { isPreview: true, changed: 1, skipped: 1, withoutKey: 1, repeated: 1 },
      created: [{ tableId: people.id, count: 1 }],
      changeId: null,
    })
    expect(await titlesOf(people)).toEqual(['Ann', 'Bob'])
    const { result } = await loadLinks(bench, books, [own], file, { ...CREATE, update })
    expect(result).toMatchObject({ update: { changed: 1 }, created: [{ count: 1 }] })
    expect(await links()).toEqual({ Old: ['Zoe'] })
    expect(await titlesOf(people)).toEqual(['Ann', 'Bob', 'Zoe'])
    const again = await loadLinks(bench, books, [own], file, { ...CREATE, update })
    expect(again.result).toMatchObject({ update: { changed: 0, unchanged: 1 }, created: [], changeId: null })
  })

  test('previews rows that are only added, too', async () => {
    const { books, people, own } = await world('mm')
    const preview = await loadLinks(bench, books, [own], 't,l\nA,"Zoe,Max"\nB,Zoe\n', {
      ...CREATE,
      preview: true,
    })
    expect(preview.result).toMatchObject({
      update: { isPreview: true, added: 2 },
      created: [{ count: 2 }],
      changeId: null,
    })
    expect([await books.total(), await people.total()]).toEqual([1, 2])
  })

  test('leaves out names that the display field cannot hold, and finds those that it writes in another way', async () => {
    const books = await bench.table()
    const days = await bench.table({ Title: 'Date' }, [{ Title: '2024-01-31' }])
    const { own } = await createLink(bench, books, days, 'mm')
    const file = 't,l\nA,2024-01-31\nB,2024-02-01\nC,someday\nD,"2024-02-01, 2024-02-02"\n'
    const { result, report } = await loadLinks(bench, books, [own], file, CREATE)
    expect(result.created).toMatchObject([{ count: 2 }])
    expect(report).toEqual([expect.stringContaining('“someday”')])
    expect(await linksOf(bench, own, books.field('Title').id)).toMatchObject({
      A: ['2024-01-31'],
      B: ['2024-02-01'],
      C: [],
    })
  })

  test('reads names that are days and times in the time zone of the import', async () => {
    const books = await bench.table()
    const meetings = await bench.table({ Title: 'DateTime' }, [{ Title: '2024-03-05 23:30:00+00:00' }])
    const { own } = await createLink(bench, books, meetings, 'mm')
    const file = 't,l\nA,2024-03-05 18:30\nB,2024-03-06 18:30\n'
    const options = { ...CREATE, timeZone: 'America/New_York' }
    const { result, report } = await loadLinks(bench, books, [own], file, options)
    expect(report).toEqual([])
    expect(result.created).toMatchObject([{ count: 1 }])
    expect(await titlesOf(meetings)).toEqual(['2024-03-05 23:30:00+00:00', '2024-03-06 23:30:00+00:00'])
  })

  test('creates records of the same table, unless rows of the file have the name', async () => {
    const tasks = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'Old' }])
    const { own } = await createLink(bench, tasks, tasks, 'bt', { title: 'Parent' })
    const { result } = await loadLinks(bench, tasks, [own], 't,l\nA,B\nB,Root\nC,Old\n', CREATE)
    expect(result).toMatchObject({ rows: 3, created: [{ count: 1 }] })
    expect(await linksOf(bench, own, tasks.field('Title').id)).toEqual({
      Old: [],
      Root: [],
      A: ['B'],
      B: ['Root'],
      C: ['Old'],
    })
  })

  test('keeps rows whose required link it creates', async () => {
    const books = await bench.table({ Title: 'SingleLineText' }, [])
    const people = await bench.table({ Title: 'SingleLineText' }, [])
    const { own } = await createLink(bench, books, people, 'bt', { required: true })
    const { result } = await loadLinks(bench, books, [own], 't,l\nA,Zoe\nB,\n', CREATE)
    expect(result).toMatchObject({ rows: 1, rowsRefused: 1, created: [{ count: 1 }] })
    expect(await linksOf(bench, own, books.field('Title').id)).toEqual({ A: ['Zoe'] })
  })

  test('lists the new records in the log of their table', async () => {
    const { books, people, own } = await world('mm')
    await loadLinks(bench, books, [own], 't,l\nA,Zoe\n', CREATE)
    const log = await readLog(bench, people)
    expect(log.filter(({ kind }) => kind === 'records.import')).toHaveLength(1)
  })

  test('does so over REST for all link columns', async () => {
    const { books, people, own, links } = await world('mm')
    const { url, token } = doorOf(bench.app, bench.owner)
    const answer = await fetch(`${url}/api/v2/tables/${books.id}/import?missing=create`, {
      method: 'POST',
      headers: { 'xc-auth': token, 'content-type': 'application/octet-stream' },
      body: `Title,${own.title}\nA,"Zoe, Ann"\n`,
    })
    const { id } = (await answer.json()) as { id: string }
    const result = resultOf(await ended(doorOf(bench.app, bench.owner), id))
    expect(result).toMatchObject({ rows: 1, created: [{ tableId: people.id, count: 1 }] })
    expect((await links()).A).toEqual(['Ann', 'Zoe'])
  })

  test('and updates others is one step of undo, too', async () => {
    const { books, people, own, links } = await world('bt')
    const update = { mode: 'updateAndAdd' as const }
    await loadLinks(bench, books, [own], 't,l\nOld,Zoe\nNew,Max\n', { ...CREATE, update })
    const after = { Old: ['Zoe'], New: ['Max'] }
    expect(await links()).toEqual(after)
    await undo()
    expect(await links()).toEqual({ Old: [] })
    expect(await titlesOf(people)).toEqual(['Ann', 'Bob'])
    await redo()
    expect(await links()).toEqual(after)
    expect(await titlesOf(people)).toEqual(['Ann', 'Bob', 'Zoe', 'Max'])
  })
})
