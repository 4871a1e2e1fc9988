import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Field } from '../../src/core/model.ts'
import { type Bench, createBench, refusalOf } from '../records/support.ts'
import { connect, createForeign, type ForeignDatabase } from './support.ts'

let bench: Bench
let foreign: ForeignDatabase
let sourceId: string
let tableId: string
beforeAll(async () => {
  bench = await createBench()
  foreign = await createForeign('postgres', [
    `create type state as enum ('open', 'done');
     create table task (id serial primary key, title varchar(40) not null default 'new', state state, points integer);
     insert into task (title, state) values ('One', 'open')`,
  ])
  sourceId = await connect(bench, foreign.sent)
  tableId = (await bench.trpc.schema.tables.query({ baseId: bench.baseId }))[0]?.id ?? ''
})
afterAll(async () => {
  await bench.stop()
  await foreign.stop()
})

const field = async (title: string): Promise<Field> => {
  const { fields } = await bench.trpc.schema.table.query({ tableId })
  return fields.find((one) => one.title === title)!
}
const update = async (title: string, patch: object) =>
  bench.trpc.schema.updateField.mutate({ fieldId: (await field(title)).id, patch })
const columns = () =>
  foreign.ask(`select column_name, data_type from information_schema.columns
  where table_name = 'task' order by ordinal_position`)

describe('a field of a connected database', () => {
  test('takes no rule, option or type that its column does not have, nor does a preview', async () => {
    const before = await columns()
    expect((await refusalOf(update('points', { required: true }))).message).toContain('set in its database')
    expect((await refusalOf(update('title', { defaultValue: 'x' }))).message).toContain('set in its database')
    expect((await refusalOf(update('state', { options: { choices: [{ title: 'x' }] } }))).message).toContain(
      'options of “state” are set in its database',
    )
    expect((await refusalOf(update('points', { type: 'SingleLineText' }))).message).toContain(
      'can’t be shown',
    )
    const { id: fieldId } = await field('points')
    const preview = bench.trpc.schema.previewType.query({ fieldId, type: 'Date' })
    expect((await refusalOf(preview)).status).toBe(400)
    const related = { relatedTableId: tableId, kind: 'mm' }
    const link = { title: 'L', type: 'Links' as const, options: related }
    const refused = await refusalOf(bench.trpc.schema.createField.mutate({ tableId, field: link }))
    expect([refused.status >= 400, refused.status < 500]).toEqual([true, true])
    expect(await columns()).toEqual(before)
  })

  test('keeps a formula as a formula, since its values would need a column of the database', async () => {
    const before = await columns()
    const { id: fieldId } = await bench.trpc.schema.createField.mutate({
      tableId,
      field: { title: 'Twice', type: 'Formula', options: { formula: '{points} * 2' } },
    })
    for (const call of [
      () => bench.trpc.schema.previewType.query({ fieldId, type: 'Number' }),
      () => update('Twice', { type: 'Number' }),
    ]) {
      const refused = await refusalOf(call())
      expect([refused.status, refused.message]).toEqual([
        400,
        expect.stringContaining('“Twice” can’t be converted to values'),
      ])
    }
    const path = `/api/v2/meta/columns/${fieldId}`
    const rest = await bench.rest.patch(path, { title: 'Twice', uidt: 'Number' })
    expect([rest.status, rest.body.msg]).toEqual([400, expect.stringContaining('connected database')])
    expect((await field('Twice')).type).toBe('Formula')
    expect(await columns()).toEqual(before)
    await bench.trpc.schema.deleteField.mutate({ fieldId })
  })

  test("is not duplicated: its column is the other database's to make", async () => {
    const before = await columns()
    const { id: fieldId } = await field('points')
    const refused = await refusalOf(bench.trpc.copies.field.mutate({ fieldId }))
    expect([refused.status, refused.message]).toEqual([
      400,
      expect.stringContaining('is in a connected database'),
    ])
    expect(await columns()).toEqual(before)
  })

  test('is shown in another way, with other colours, and so again by undo; its column stays', async () => {
    const before = await columns()
    const { options } = await field('state')
    const choices = (options.choices as { title: string }[]).map((choice) => ({
      ...choice,
      color: '#ff0000',
    }))
    await update('state', { options: { choices } })
    await update('points', { type: 'Rating', options: { max: 10 } })
    expect(await field('points')).toMatchObject({ type: 'Rating', columnName: 'points' })
    await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
    expect(await field('points')).toMatchObject({ type: 'Number' })
    await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
    expect((await field('state')).options).toEqual(options)
    expect(await columns()).toEqual(before)
    expect(await bench.trpc.schema.differences.query({ baseId: bench.baseId, sourceId })).toEqual([])
  })

  test('is presented with the type that it has there', async () => {
    const { body } = await bench.rest.get(`/api/v1/db/meta/tables/${tableId}`)
    const shown = body.columns.map((one: Record<string, unknown>) => [
      one.title,
      one.dt,
      one.pk,
      one.ai,
      one.cdf,
    ])
    expect(shown).toEqual([
      ['id', 'integer', true, true, null],
      ['title', 'character varying', false, false, 'new'],
      ['state', 'public.state', false, false, null],
      ['points', 'integer', false, false, null],
    ])
  })

  test('is not made for a table of its own: those are made there', async () => {
    const { status, body } = await bench.rest.post(
      `/api/v1/db/meta/projects/${bench.baseId}/${sourceId}/tables`,
      { title: 'New', columns: [] },
    )
    expect([status, body.msg]).toEqual([
      400,
      expect.stringContaining('Create the table in the connected database'),
    ])
  })

  test('may be a formula over the columns there', async () => {
    const formula = { formula: 'CONCAT({title}, "!")' }
    await bench.trpc.schema.createField.mutate({
      tableId,
      field: { title: 'Loud', type: 'Formula', options: formula },
    })
    const { body } = await bench.rest.get(`/api/v2/tables/${tableId}/records`)
    expect(body.list).toMatchObject([{ title: 'One', Loud: 'One!' }])
  })
})
