import { expect, test } from 'bun:test'
import { createBench } from '../records/support.ts'
import { connect, createForeign } from './support.ts'

test('a change that a browser sends twice is written once, also to a table that cannot roll back', async () => {
  const bench = await createBench()
  const foreign = await createForeign('mariadb', [
    'create table note (id int primary key auto_increment, text varchar(20)) engine = MyISAM',
  ])
  await connect(bench, foreign.sent)
  const { trpc, baseId } = bench
  const tables = await trpc.schema.tables.query({ baseId })
  const tableId = tables.find(({ tableName }) => tableName === 'note')?.id ?? ''
  const { fields } = await trpc.schema.table.query({ tableId })
  const textId = fields.find(({ columnName }) => columnName === 'text')?.id ?? ''
  const change = {
    baseId,
    clientId: crypto.randomUUID(),
    operations: [{ kind: 'insert' as const, tableId, rows: [{ values: { [textId]: 'one' } }] }],
  }
  const first = await trpc.records.write.mutate({ change })
  const second = await trpc.records.write.mutate({ change })
  expect(second.inserted).toEqual(first.inserted)
  expect((await foreign.ask('select text from note')).map((row) => ({ ...row }))).toEqual([{ text: 'one' }])
  await bench.stop()
  await foreign.stop()
})

test.each([
  ['varchar(10)', ['c', 'a', 'b']],
  ['int', [30, 10, 20]],
])(
  'a change that a browser sends twice gives its new records in the order of their rows: keys of %s',
  async (type, keys) => {
    const bench = await createBench()
    const foreign = await createForeign('postgres', [
      `create table thing (code ${type} primary key, name text)`,
    ])
    await connect(bench, foreign.sent)
    const { trpc, baseId } = bench
    const tables = await trpc.schema.tables.query({ baseId })
    const tableId = tables.find(({ tableName }) => tableName === 'thing')?.id ?? ''
    const { fields } = await trpc.schema.table.query({ tableId })
    const codeId = fields.find(({ columnName }) => columnName === 'code')?.id ?? ''
    const rows = keys.map((key) => ({ values: { [codeId]: key } }))
    const change = {
      baseId,
      clientId: crypto.randomUUID(),
      operations: [{ kind: 'insert' as const, tableId, rows }],
    }
    const first = await trpc.records.write.mutate({ change })
    const second = await trpc.records.write.mutate({ change })
    expect(first.inserted).toEqual(keys)
    expect(second.inserted).toEqual(keys)
    await bench.stop()
    await foreign.stop()
  },
)
