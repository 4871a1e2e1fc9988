import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Bench, createBench } from '../records/support.ts'
import { connect, createForeign, type ForeignDatabase } from './support.ts'

describe.each(['postgres', 'mariadb'] as const)('letters in tables of %s', (kind) => {
  let bench: Bench
  let foreign: ForeignDatabase
  let path: string
  let tableId: string

  beforeAll(async () => {
    bench = await createBench()
    // The engine's own comparison takes some of these as equal.
    const collation = kind === 'mariadb' ? 'character set utf8mb4 collate utf8mb4_general_ci' : ''
    foreign = await createForeign(kind, [
      `create table person (id integer primary key, name varchar(40) ${collation}, boss integer references person (id))`,
      `insert into person values (1, 'Müller', null), (2, 'muller', 1), (3, 'MULLER', 2), (4, 'Muller', 3)`,
      `create table code (id integer primary key, code varchar(40) ${collation}, size decimal(10, 2), person integer references person (id))`,
      `insert into code values (1, '', 7, 1), (2, ' ', 2.5, 1), (3, '12', 100, 1), (4, '12 ', null, 1), (5, '１２', 20, 2), (6, '😀', 1, 2), (7, '👍', 1, 2), (8, null, 1, 2)`,
    ])
    await connect(bench, foreign.sent)
    const tables = await bench.trpc.schema.tables.query({ baseId: bench.baseId })
    tableId = tables.find((table) => table.tableName === 'person')?.id ?? ''
    path = `/api/v2/tables/${tableId}/records`
  })
  afterAll(async () => {
    await bench.stop()
    await foreign.stop()
  })

  const ids = async (where: string) => {
    const { body } = await bench.rest.get(`${path}?where=${encodeURIComponent(where)}&sort=id`)
    return body.list.map((row: { id: number }) => row.id)
  }

  test('are told apart by equality, in filters as in formulas', async () => {
    await bench.trpc.schema.createField.mutate({
      tableId,
      field: { type: 'Formula', title: 'Same', options: { formula: '{name} = "muller"' } } as never,
    })
    expect(await ids('(name,eq,muller)')).toEqual([2])
    expect(await ids('(name,neq,muller)')).toEqual([1, 3, 4])
    expect(await ids('(name,in,muller,Müller)')).toEqual([1, 2])
    expect(await ids('(name,anyof,MULLER)')).toEqual([3])
    expect(await ids('(Same,checked)')).toEqual([2])
  })

  test('and spaces, digits and emoji are told apart, and spaces from nothing', async () => {
    const tables = await bench.trpc.schema.tables.query({ baseId: bench.baseId })
    const codeId = tables.find((table) => table.tableName === 'code')?.id ?? ''
    const found = async (where: string) => {
      const query = `where=${encodeURIComponent(where)}&sort=id&fields=id`
      const { body } = await bench.rest.get(`/api/v2/tables/${codeId}/records?${query}`)
      return body.list.map((row: { id: number }) => row.id)
    }
    expect(await found('(code,blank)')).toEqual([1, 8])
    expect(await found('(code,notblank)')).toEqual([2, 3, 4, 5, 6, 7])
    expect(await found('(code,eq,12)')).toEqual([3])
    expect(await found('(code,neq,12)')).toEqual([1, 2, 4, 5, 6, 7, 8])
    expect(await found('(code,in,12,😀)')).toEqual([3, 6])
    expect(await found('(code,anyof,12)')).toEqual([3])
    expect(await found('(size,eq,2.5)')).toEqual([2])
    const code = (await bench.trpc.schema.table.query({ tableId: codeId })).fields
    const fieldId = code.find(({ title }) => title === 'code')?.id ?? ''
    const { groups } = await bench.trpc.records.groups.query({
      request: {
        selection: { tableId: codeId },
        groups: [{ fieldId, direction: 'asc' }],
        summaries: [],
        limit: 20,
        offset: 0,
      },
    })
    expect(groups.map(({ count }) => count).toSorted()).toEqual([1, 1, 1, 1, 1, 1, 2])
  })

  test('and decimals are the same in lists of linked values as in formulas', async () => {
    const tables = await bench.trpc.schema.tables.query({ baseId: bench.baseId })
    const codeId = tables.find((table) => table.tableName === 'code')?.id ?? ''
    const [own, codes] = await Promise.all(
      [tableId, codeId].map((id) => bench.trpc.schema.table.query({ tableId: id })),
    )
    const relationFieldId = own?.fields.find(({ options }) => options.relatedTableId === codeId)?.id
    const add = (title: string, type: 'Lookup' | 'Formula', options: object) =>
      bench.trpc.schema.createField.mutate({ tableId, field: { type, title, options } as never })
    for (const [title, target] of [
      ['Codes', 'code'],
      ['Sizes', 'size'],
    ]) {
      const targetFieldId = codes?.fields.find((field) => field.title === target)?.id
      await add(title ?? '', 'Lookup', { relationFieldId, targetFieldId })
    }
    await add('Sorted', 'Formula', { formula: 'ARRAYJOIN(ARRAYSORT({Sizes}), ";") & "|" & {Codes}' })
    const { body } = await bench.rest.get(`${path}?sort=id&limit=2`)
    expect(body.list.map((row: { Sorted: string }) => row.Sorted)).toEqual([
      '2.5;7;100| , 12, 12 ',
      '1;1;1;20|１２, 😀, 👍',
    ])
  })

  test('of any case are found by `like`, accents told apart', async () => {
    expect(await ids('(name,like,MULL)')).toEqual([2, 3, 4])
    expect(await ids('(name,like,MÜLL)')).toEqual([1])
  })

  test('are told apart in groups, and in the names of linked records', async () => {
    const { fields } = await bench.trpc.schema.table.query({ tableId })
    const link = fields.find((field) => field.type === 'LinkToAnotherRecord')
    const groups = await bench.rest.get(
      `/api/v1/db/data/noco/${bench.baseId}/${tableId}/groupby?column_name=name`,
    )
    expect(groups.body.list.map((group: { name: string }) => group.name).toSorted()).toEqual(
      ['MULLER', 'Muller', 'Müller', 'muller'].toSorted(),
    )
    expect(await ids(`(${link?.title},eq,muller)`)).toEqual([3])
    expect(await ids(`(${link?.title},eq,Müller)`)).toEqual([2])
  })
})
