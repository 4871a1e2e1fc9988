import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { LinkOptions } from '../../src/core/fields/link-options.ts'
import type { Filter } from '../../src/core/filters/index.ts'
import { createLink, type TestEnd, type TestLink } from './links-support.ts'
import { type Bench, createBench, type TestTable } from './support.ts'

let bench: Bench
let tasks: TestTable
let people: TestTable
const links = new Map<string, TestLink>()

const KINDS: { title: string; kind: LinkOptions['kind']; holdsKey?: boolean }[] = [
  { title: 'Belongs', kind: 'bt' },
  { title: 'Has', kind: 'hm' },
  { title: 'Many', kind: 'mm' },
  { title: 'One', kind: 'oo' },
  { title: 'OneHeld', kind: 'oo', holdsKey: true },
]

beforeAll(async () => {
  bench = await createBench()
  tasks = await bench.table({ Title: 'SingleLineText' }, [
    { Title: 'to a named person' },
    { Title: 'to one without a name' },
    { Title: 'to one with an empty name' },
    { Title: 'to nobody' },
  ])
  people = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'Ann' }, {}, { Title: '' }, {}])
  for (const { title, kind, holdsKey } of KINDS) {
    const link = await createLink(bench, tasks, people, kind, { title, holdsKey })
    links.set(title, link)
    for (const id of [1, 2, 3]) await link.write('link', id, [id])
  }
})
afterAll(() => bench.stop())

const LINKED = ['to a named person', 'to one without a name', 'to one with an empty name']

const found = (where: string) => tasks.titles(`?limit=100&where=${encodeURIComponent(where)}`)

async function idsOf(end: TestEnd, filter: Filter): Promise<number[]> {
  const { ids } = await bench.trpc.records.list.query({
    query: { tableId: end.tableId, filter, fieldIds: [], limit: 100, offset: 0 },
  })
  return ids.map(Number)
}

describe('a condition on whether a link is blank', () => {
  test.each(KINDS)('asks $title for linked records and not for their names', async ({ title }) => {
    for (const operator of ['blank', 'null', 'empty', 'is,blank', 'is,null', 'isnot,notblank']) {
      expect([operator, await found(`(${title},${operator})`)]).toEqual([operator, ['to nobody']])
    }
    for (const operator of ['notblank', 'notnull', 'notempty', 'is,notblank', 'isnot,null']) {
      expect([operator, await found(`(${title},${operator})`)]).toEqual([operator, LINKED])
    }
  })

  test.each(KINDS)('asks the other side of $title the same', async ({ title }) => {
    const { inverse } = links.get(title)!
    const condition = (operator: string): Filter => ({ fieldId: inverse.fieldId, operator, value: null })
    expect(await idsOf(inverse, condition('blank'))).toEqual([4])
    expect(await idsOf(inverse, condition('notblank'))).toEqual([1, 2, 3])
    const nested: Filter = { join: 'and', not: true, children: [condition('blank')] }
    expect(await idsOf(inverse, nested)).toEqual([1, 2, 3])
  })

  test('holds in groups, in the filter of a view and in a condition on linked records', async () => {
    expect(await found('(Belongs,notblank)~and((Has,blank)~or(Title,like,empty))')).toEqual([LINKED[2]])
    expect(await found('~not(Belongs,notblank)')).toEqual(['to nobody'])
    const { own } = links.get('Belongs')!
    const view = await bench.rest.post(`/api/v1/db/meta/tables/${tasks.id}/grids`, {
      title: 'Without a person',
    })
    const made = await bench.rest.post(`/api/v1/db/meta/views/${view.body.id}/filters`, {
      fk_column_id: own.fieldId,
      comparison_op: 'blank',
    })
    expect([view.status, made.status]).toEqual([200, 200])
    expect(await tasks.titles(`?viewId=${view.body.id}`)).toEqual(['to nobody'])
    const { inverse } = links.get('Many')!
    const nested = await bench.rest.get(
      `/api/v2/tables/${people.id}/links/${inverse.fieldId}/records/2?where=(Belongs,notblank)`,
    )
    expect(nested.body.list.map(({ Id }: { Id: number }) => Id)).toEqual([2])
  })

  test('still compares a name with a value', async () => {
    expect(await found('(Belongs,eq,Ann)')).toEqual(['to a named person'])
    expect(await found('(Belongs,neq,Ann)')).toEqual([...LINKED.slice(1), 'to nobody'])
    expect(await found('(Has,gt,0)')).toEqual(LINKED)
  })
})
