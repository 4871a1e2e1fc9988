import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Field } from '../../src/core/model.ts'
import { createLibrary, type Library } from './library.ts'
import { type Bench, createBench, readsOf, type TestTable } from './support.ts'

const LINKS = 15
const LOOKUPS = 45
const ROLLUPS = 24

let bench: Bench
let plain: TestTable
let wide: TestTable
let library: Library

/** A table with as many computed fields as tables of people who like them have, and one with none. */
beforeAll(async () => {
  bench = await createBench()
  library = await createLibrary(bench)
  plain = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }, { Title: 'b' }])
  const rows = Array.from({ length: 60 }, (_, index) => ({ Title: `r${index}` }))
  wide = await bench.table({ Title: 'SingleLineText' }, rows)
  const { books, tags, add } = library
  const links: Field[] = []
  for (let index = 0; index < LINKS; index++) {
    links.push(
      await add(wide, `L${index}`, 'Links', { kind: 'mm', relatedTableId: books.id, createInverse: false }),
    )
  }
  await library.addThrough(books, 'Tag names', 'Tags', [tags, 'Title'])
  await library.addThrough(books, 'Weight', 'Tags', [tags, 'Weight'], 'sum')
  const targets = await Promise.all(
    ['Title', 'Tag names', 'Author'].map((title) => library.field(books, title)),
  )
  for (let index = 0; index < LOOKUPS; index++) {
    const relationFieldId = links[index % LINKS]?.id
    await add(wide, `K${index}`, 'Lookup', { relationFieldId, targetFieldId: targets[index % 3]?.id })
  }
  const summed = await Promise.all(['Price', 'Weight'].map((title) => library.field(books, title)))
  for (let index = 0; index < ROLLUPS; index++) {
    const relationFieldId = links[index % LINKS]?.id
    const targetFieldId = summed[index % 2]?.id
    await add(wide, `R${index}`, 'Rollup', { relationFieldId, targetFieldId, function: 'sum' })
  }
  for (let index = 0; index < LINKS; index++) await library.link(wide, `L${index}`, 1 + index, [1, 2, 3])
})

afterAll(() => bench.stop())

const statementsOf = (work: () => Promise<unknown>) => readsOf(bench, work)

const page = (table: TestTable, more: object = {}) =>
  bench.trpc.records.list.query({ query: { tableId: table.id, limit: 50, offset: 0, ...more } })

test('a page is one statement, with links, lookups and rollups as without', async () => {
  // The search indexes of a table are looked up once for each version of it.
  await Promise.all([page(plain), page(wide)])
  expect(await statementsOf(() => page(plain))).toHaveLength(1)
  expect(await statementsOf(() => page(wide))).toHaveLength(1)
  const { rows, fieldIds } = await page(wide)
  expect(fieldIds.length).toBeGreaterThan(LINKS + LOOKUPS + ROLLUPS)
  expect(rows[0]?.filter((cell) => cell !== null && cell !== 0).length).toBeGreaterThan(5)
})

test('a page of REST asks as often for a wide table as for a plain one', async () => {
  // The number of all records is counted once, and known from then on.
  await plain.list('?limit=1')
  await wide.list('?limit=1')
  expect(await statementsOf(() => plain.list('?limit=50'))).toHaveLength(1)
  expect(await statementsOf(() => wide.list('?limit=50'))).toHaveLength(1)
})

test('a page in an order or through a filter of computed fields is one statement too', async () => {
  const id = async (title: string) => (await library.field(wide, title)).id
  const sorts = [{ fieldId: await id('R0'), direction: 'desc' as const }]
  const filter = { fieldId: await id('K0'), operator: 'like', value: 'hobbit' }
  const [statement] = await statementsOf(() => page(wide, { sorts }))
  // The records are found first, and only theirs are worked out.
  expect(statement).toContain('in (select k from (select')
  expect(await statementsOf(() => page(wide, { sorts, offset: 10 }))).toHaveLength(1)
  expect(await statementsOf(() => page(wide, { filter }))).toHaveLength(1)
  const { ids } = await page(wide, { filter })
  expect(ids).toEqual([1])
})

test('only what is asked for is worked out', async () => {
  const { id } = await library.field(wide, 'Title')
  const [statement] = await statementsOf(() => page(wide, { fieldIds: [id] }))
  expect(statement?.match(/select/g)).toHaveLength(1)
})

test('nested records are one statement for each link that is named', async () => {
  const { authors, books, add } = library
  const own = { kind: 'mm', relatedTableId: books.id, createInverse: false }
  await add(authors, 'One', 'LinkToAnotherRecord', own)
  await add(authors, 'Two', 'LinkToAnotherRecord', own)
  await library.link(authors, 'One', 1, [1, 2])
  await library.link(authors, 'Two', 2, [3])
  await Promise.all([authors.list('?limit=1'), books.list('?limit=1')])
  const asked = await statementsOf(() => authors.list('?nested[One][limit]=1&nested[Two][fields]=Price'))
  expect(asked).toHaveLength(3)
})
