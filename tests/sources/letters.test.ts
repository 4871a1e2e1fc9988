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
