import { afterAll, beforeAll, expect, test } from 'bun:test'
import { MAX_FIELDS } from '../../modules/schema/index.ts'
import { type Bench, createBench, type TestTable } from './support.ts'

const TYPES = ['SingleLineText', 'Number', 'Date', 'Checkbox', 'LongText'] as const
const VALUES = ['text', 7, '2026-01-02', true, 'longer text']

let bench: Bench
let wide: TestTable

/** A table with as many fields as it can have, and two records with a value in each. */
beforeAll(async () => {
  bench = await createBench()
  const titles = Array.from({ length: MAX_FIELDS }, (_, n) => `F${n}`)
  wide = await bench.table(Object.fromEntries(titles.map((title, n) => [title, TYPES[n % TYPES.length]!])))
  const row = Object.fromEntries(titles.map((title, n) => [title, VALUES[n % VALUES.length]!]))
  const { status } = await bench.rest.post(wide.path, [row, { ...row, F999: 'needle in the last field' }])
  expect(status).toBe(200)
})

afterAll(() => bench.stop())

const search = (text: string) =>
  bench.trpc.records.list.query({
    query: { tableId: wide.id, limit: 10, offset: 0, search: { text, fieldId: null } },
  })

test('a table of 1,000 fields is searched in all of them', async () => {
  expect((await search('longer')).rows).toHaveLength(2)
  expect((await search('needle')).ids).toEqual([2])
  expect((await search('nowhere')).rows).toHaveLength(0)
})

test('it is summarized in all of them', async () => {
  const { fields } = await bench.trpc.schema.table.query({ tableId: wide.id })
  const summaries = fields
    .filter(({ title }) => /^F\d/.test(title))
    .map(({ id, type }) => ({ fieldId: id, summary: type === 'Checkbox' ? 'checked' : 'filled' }))
  expect(summaries).toHaveLength(MAX_FIELDS)
  const answer = await bench.trpc.records.summaries.query({ selection: { tableId: wide.id }, summaries })
  expect(new Set(Object.values(answer))).toEqual(new Set([2]))
})

test('it is edited, deleted, found in the trash and restored', async () => {
  expect((await bench.rest.patch(wide.path, { Id: 1, F0: 'changed' })).status).toBe(200)
  const before = (await bench.rest.get(`${wide.path}/1`)).body
  expect(before.F0).toBe('changed')
  expect((await bench.rest.delete(wide.path, { Id: 1 })).status).toBe(200)
  const { records } = await bench.trpc.records.trash.query({ tableId: wide.id, search: 'changed' } as never)
  expect(records).toHaveLength(1)
  await bench.trpc.records.restoreTrashed.mutate({ tableId: wide.id, recordIds: [1] })
  expect((await bench.rest.get(`${wide.path}/1`)).body).toMatchObject({ F0: 'changed', F998: before.F998 })
})
