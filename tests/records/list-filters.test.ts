import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Condition } from '../../src/core/filters/index.ts'
import { uploadOne } from './attachments-support.ts'
import { createLibrary, type Library } from './library.ts'
import { type Bench, createBench } from './support.ts'

let bench: Bench
let library: Library
/** Lookups of the authors through their books, by the title of the book's field. */
const LISTED = ['Title', 'Price', 'Published', 'Sold', 'State', 'Marks', 'Reader', 'Cover'] as const

beforeAll(async () => {
  bench = await createBench()
  library = await createLibrary(bench)
  const { authors, books } = library
  const choices = ['new', 'old', 'rare'].map((title) => ({ title }))
  await library.add(books, 'Sold', 'Checkbox', {})
  await library.add(books, 'State', 'SingleSelect', { choices })
  await library.add(books, 'Marks', 'MultiSelect', { choices })
  await library.add(books, 'Reader', 'User', { multiple: true })
  await library.add(books, 'Cover', 'Attachment', {})
  for (const title of LISTED) await library.addThrough(authors, `${title}s`, 'Books', [books, title])
  const works = { kind: 'hm', relatedTableId: books.id, createInverse: false }
  await library.add(authors, 'Works', 'LinkToAnotherRecord', works)
  const picture = await uploadOne(bench, bench.owner.token, 'Front page.png', 'x')
  const { status } = await bench.rest.patch(books.path, [
    { Id: 1, Sold: true, State: 'new', Marks: 'new,old', Cover: [picture] },
    { Id: 2, Sold: false, State: 'old', Marks: 'rare', Reader: [{ id: bench.owner.id }] },
    { Id: 3, State: 'rare', Marks: 'new' },
  ])
  expect(status).toBe(200)
  await library.link(authors, 'Works', 1, [1, 2])
})

afterAll(() => bench.stop())

/** Authors that meet a condition, over REST: Tolkien wrote Hobbit and LOTR, Asimov Foundation, Nobody nothing. */
const authors = (where: string) =>
  library.authors.titles(`?sort=Id&where=${encodeURIComponent(where)}`).then((titles) => titles.join())

/** The same over tRPC. */
async function meeting(title: string, condition: Omit<Condition, 'fieldId'>): Promise<string> {
  const { id } = await library.field(library.authors, title)
  const { rows } = await bench.trpc.records.list.query({
    query: {
      tableId: library.authors.id,
      limit: 10,
      offset: 0,
      fieldIds: [library.authors.field('Title').id],
      filter: { fieldId: id, ...condition },
    },
  })
  return rows.map(([name]) => name).join()
}

describe('filters on a lookup through many', () => {
  test('take the operators of the field that is looked up, and refuse others', async () => {
    const refused = async (where: string) => {
      const { body, status } = await bench.rest.get(
        `${library.authors.path}?where=${encodeURIComponent(where)}`,
      )
      return [status, body.error]
    }
    expect(await refused('(Prices,gt,dear)')).toEqual([422, 'FILTER_VERIFICATION_FAILED'])
    expect(await refused('(Publisheds,like,1937)')).toEqual([422, 'FILTER_VERIFICATION_FAILED'])
    expect(await refused('(Covers,eq,x)')).toEqual([422, 'FILTER_VERIFICATION_FAILED'])
    expect(await refused('(Solds,gt,1)')).toEqual([422, 'FILTER_VERIFICATION_FAILED'])
  })

  test('compare numbers as numbers, each by itself', async () => {
    // As text "5" would be greater than "10".
    expect(await authors('(Prices,gt,9)')).toBe('Tolkien')
    expect(await authors('(Prices,lt,10)')).toBe('Asimov')
    expect(await authors('(Prices,eq,20.5)')).toBe('Tolkien')
    expect(await authors('(Prices,neq,20.5)')).toBe('Asimov,Nobody')
    expect(await authors('(Prices,blank)')).toBe('Nobody')
    expect(await authors('(Prices,notblank)')).toBe('Tolkien,Asimov')
  })

  test('are empty without values, of text as of numbers', async () => {
    for (const title of ['Prices', 'States']) {
      for (const operator of ['empty', 'null', 'blank']) {
        expect(await authors(`(${title},${operator})`)).toBe('Nobody')
        expect(await authors(`(${title},not${operator})`)).toBe('Tolkien,Asimov')
      }
    }
  })

  test('ask that one value lies in a range, not two on both sides of it', async () => {
    expect(await meeting('Prices', { operator: 'btw', value: [11, 20] })).toBe('')
    expect(await meeting('Prices', { operator: 'btw', value: [11, 21] })).toBe('Tolkien')
    expect(await meeting('Prices', { operator: 'nbtw', value: [11, 20] })).toBe('Tolkien,Asimov,Nobody')
    expect(await authors('(Publisheds,eq,exactDate,1937-09-21)')).toBe('Tolkien')
    expect(await authors('(Publisheds,eq,exactDate,1945-01-01)')).toBe('')
  })

  test('compare dates with days, also relative ones', async () => {
    expect(await authors('(Publisheds,lt,exactDate,1940-01-01)')).toBe('Tolkien')
    expect(await authors('(Publisheds,lt,today)')).toBe('Tolkien,Asimov')
    expect(await authors('(Publisheds,isWithin,pastWeek)')).toBe('')
    const today = new Date().toISOString().slice(0, 10)
    await bench.rest.patch(library.books.path, [{ Id: 3, Published: today }])
    expect(await authors('(Publisheds,isWithin,pastNumberOfDays,2)')).toBe('Asimov')
    await bench.rest.patch(library.books.path, [{ Id: 3, Published: '1951-06-01' }])
  })

  test('look at choices and checkmarks', async () => {
    expect(await authors('(States,anyof,new,rare)')).toBe('Tolkien,Asimov')
    expect(await authors('(States,nanyof,new)')).toBe('Asimov,Nobody')
    expect(await authors('(Markss,allof,old,rare)')).toBe('Tolkien')
    expect(await authors('(Markss,nallof,new,old)')).toBe('Asimov,Nobody')
    expect(await authors('(Solds,checked)')).toBe('Tolkien')
    expect(await authors('(Solds,notchecked)')).toBe('Asimov,Nobody')
  })

  test('find people by id, as "me" and by e-mail, and files by name', async () => {
    const [local = ''] = bench.owner.email.split('@')
    expect(await authors(`(Readers,anyof,${bench.owner.id})`)).toBe('Tolkien')
    expect(await meeting('Readers', { operator: 'eq', value: '@me' })).toBe('Tolkien')
    expect(await meeting('Readers', { operator: 'like', value: local.toUpperCase() })).toBe('Tolkien')
    expect(await meeting('Readers', { operator: 'nlike', value: local })).toBe('Asimov,Nobody')
    expect(await authors('(Covers,like,front)')).toBe('Tolkien')
    // What else the cell says of a file is not looked at.
    expect(await authors('(Covers,like,mimetype)')).toBe('')
    expect(await authors('(Covers,nlike,front)')).toBe('Asimov,Nobody')
    expect(await authors('(Covers,notblank)')).toBe('Tolkien')
  })
})

describe('nested[<Title>] with files and people', () => {
  test('gives files a link that opens them, and people their names', async () => {
    const query = '?fields=Works&limit=1&nested[Works][fields]=Cover,Reader'
    const [row] = await library.authors.list(query)
    const works = row?.Works as { Cover: { signedPath: string }[] | null; Reader: unknown }[]
    expect(works.map(({ Cover }) => Cover?.length ?? null)).toEqual([1, null])
    const answer = await fetch(`${bench.app.url}/${works[0]?.Cover?.[0]?.signedPath}`)
    expect([answer.status, await answer.text()]).toEqual([200, 'x'])
    expect(works[1]?.Reader).toEqual([
      { id: bench.owner.id, email: bench.owner.email, display_name: null, meta: null },
    ])
  })
})
