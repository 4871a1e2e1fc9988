import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Bench, createBench } from '../records/support.ts'
import { connect, createForeign, type ForeignDatabase, type ServerKind } from './support.ts'

/** Columns whose values are more, or other, than what is shown of them. */
const STATEMENTS: Record<ServerKind, string[]> = {
  postgres: [
    `create extension if not exists hstore`,
    `create extension if not exists ltree`,
    `create table order_lines (id int primary key, long bigint, price real, discount real not null, hour time, hour_milli time(3),
      whole_hour time(0), at timestamp, features hstore, path ltree)`,
    `insert into order_lines values
      (1, 9223372036854775807, 9.8, 0.05, '12:34:56.789012', '12:34:56.789', '12:34:56', '2024-02-29 12:34:56.789012', 'a=>1', 'a.b'),
      (2, -9007199254740993, 0.1, 0.15, '23:59:59.999999', '23:59:59.999', '23:59:59', '2024-12-31 23:59:59.999999', '', ''),
      (3, 5, 1e30, 0, '00:00:00.000001', '00:00', '00:00', '1999-01-01', null, null),
      (4, null, null, 0.3, null, null, null, null, null, null)`,
  ],
  mariadb: [
    `create table order_lines (id int auto_increment primary key, \`long\` bigint, price float, discount float not null, hour time(6),
      hour_milli time(3), whole_hour time, at datetime(6), sold tinyint(1), features set('a','b'),
      latin varchar(10) character set latin1)`,
    `set session sql_mode = 'NO_AUTO_VALUE_ON_ZERO'`,
    `insert into order_lines values
      (0, 9223372036854775807, 9.8, 0.05, '12:34:56.789012', '12:34:56.789', '12:34:56', '2024-02-29 12:34:56.789012', 2, 'a,b', 'é'),
      (2, -9007199254740993, 0.1, 0.15, '23:59:59.999999', '23:59:59.999', '838:59:59', '2024-12-31 23:59:59.999999', -1, '', 'a'),
      (3, 5, 1e30, 0, '00:00:00.000001', '00:00', '-12:30:15', '1999-01-01', 0, null, ''),
      (4, null, null, 0.3, '-12:34:56.789012', null, null, null, null, null, null)`,
  ],
}

describe.each(['postgres', 'mariadb'] as const)('a column of %s that holds more than is shown', (kind) => {
  let bench: Bench
  let foreign: ForeignDatabase
  let tableId: string

  beforeAll(async () => {
    bench = await createBench()
    foreign = await createForeign(kind, STATEMENTS[kind])
    await connect(bench, foreign.sent)
    const tables = await bench.trpc.schema.tables.query({ baseId: bench.baseId })
    tableId = tables.find((table) => table.tableName === 'order_lines')?.id ?? ''
  })
  afterAll(async () => {
    await bench.stop()
    await foreign.stop()
  })

  const fields = async () => (await bench.trpc.schema.table.query({ tableId })).fields
  const field = async (title: string) => (await fields()).find((each) => each.title === title)!
  const list = (query: object = {}) =>
    bench.trpc.records.list.query({ query: { tableId, limit: 10, offset: 0, ...query } })
  const cell = async (title: string, id: number) => {
    const { ids, fieldIds, rows } = await list()
    return rows[ids.indexOf(id)]?.[fieldIds.indexOf((await field(title)).id)]
  }
  const write = async (id: number, title: string, value: string | number | boolean | null) => {
    const values = { [(await field(title)).id]: value }
    const operations = [{ kind: 'update' as const, tableId, rows: [{ id, values }] }]
    return bench.trpc.records.write.mutate({ change: { baseId: bench.baseId, operations } })
  }
  const undo = () => bench.trpc.records.undo.mutate({ baseId: bench.baseId })
  /** Each row as the database itself writes it out. */
  async function written(): Promise<unknown> {
    if (kind === 'postgres') return foreign.ask('select l::text as row from order_lines l order by id')
    const columns = await foreign.ask<{ Field: string }>('show columns from order_lines')
    const texts = columns.map(({ Field }) => `hex(\`${Field}\`) as \`${Field}\``)
    const marks = 'sold + 0 as sold_number, features is null as no_features'
    return foreign.ask(`select ${texts.join(', ')}, ${marks} from order_lines order by id`)
  }

  test('has in each of its groups the records that are counted there', async () => {
    for (const { id, title } of await fields()) {
      const request = { groups: [{ fieldId: id, direction: 'asc' as const }], limit: 10, offset: 0 }
      const answer = await bench.trpc.records.groups.query({
        request: { selection: { tableId }, ...request },
      })
      for (const { keys, count } of answer.groups) {
        const { ids } = await list({ group: [{ fieldId: id, value: keys[0] ?? null }] })
        expect([title, keys, ids.length]).toEqual([title, keys, count])
      }
    }
  })

  test('is found by what is shown, reckoned with and summed up as it is shown', async () => {
    const discount = await field('discount')
    const filter = { kind: 'condition' as const, fieldId: discount.id, operator: 'eq', value: 0.15 }
    expect((await list({ filter })).ids).toEqual([2])
    const price = await bench.rest.get(`/api/v2/tables/${tableId}/records?where=(price,eq,9.8)`)
    expect(price.body.list).toHaveLength(1)
    const summaries = [{ fieldId: discount.id, summary: 'sum' }]
    const sums = await bench.trpc.records.summaries.query({ selection: { tableId }, summaries })
    expect(sums[discount.id]).toBe(0.5)
    const hour = await field('hour')
    const noon = { kind: 'condition' as const, fieldId: hour.id, operator: 'eq', value: '12:34:56.789012' }
    expect((await list({ filter: noon })).ids).toHaveLength(1)
    expect((await list({ filter: { ...noon, value: '12:34:56' } })).ids).toHaveLength(0)
  })

  test('comes back by undo as it was, and so does the whole record', async () => {
    const before = await written()
    const others = {
      price: 2.5,
      discount: 2.5,
      hour: '01:02:03',
      hour_milli: '01:02:03',
      whole_hour: '01:02:03',
    }
    const more =
      kind === 'mariadb' ? { sold: true, features: 'b', latin: 'ü' } : { features: 'b=>2', path: 'c' }
    const ids = (await list()).ids.map(Number)
    for (const [title, value] of Object.entries({ ...others, at: '2020-01-01 00:00:00+00:00', ...more })) {
      for (const id of ids) {
        await write(id, title, value)
        await undo()
      }
      expect([title, await written()]).toEqual([title, before])
    }
    for (const id of ids) {
      const operations = [{ kind: 'delete' as const, tableId, ids: [id] }]
      await bench.trpc.records.write.mutate({ change: { baseId: bench.baseId, operations } })
      await undo()
    }
    expect(await written()).toEqual(before)
  })

  test('takes whole numbers of eight bytes, as texts, and says which are too large', async () => {
    const before = await written()
    const long = kind === 'postgres' ? 'long' : '`long`'
    for (const text of ['9223372036854775806', '-9223372036854775808', '9007199254740993']) {
      await write(3, 'long', text)
      const [row] = await foreign.ask<{ long: string }>(
        `select cast(${long} as char(20)) as ${long} from order_lines where id = 3`,
      )
      expect([row?.long.trim(), await cell('long', 3)]).toEqual([text, text])
      await undo()
    }
    const refused = await write(3, 'long', '9223372036854775808').catch((error) => error)
    expect(JSON.stringify(refused.data)).toContain('The column allows numbers from -9223372036854775808')
    expect(await written()).toEqual(before)
  })

  test('is refused with a reason where the database cannot read or compare the text', async () => {
    const before = await written()
    if (kind === 'postgres') {
      for (const [title, text] of [
        ['features', 'a'],
        ['path', 'a b!'],
      ] as const) {
        await expect(write(1, title, text)).rejects.toMatchObject({ data: { httpStatus: 400 } })
      }
    } else {
      expect([await cell('whole_hour', 2), await cell('whole_hour', 3)]).toEqual(['838:59:59', '-12:30:15'])
      const latin = await field('latin')
      const filter = { kind: 'condition' as const, fieldId: latin.id, operator: 'eq', value: '日本' }
      await expect(list({ filter })).rejects.toMatchObject({ data: { httpStatus: 400 } })
      expect((await list({ filter: { ...filter, value: 'é' } })).ids).toEqual([0])
    }
    expect(await written()).toEqual(before)
  })
})
