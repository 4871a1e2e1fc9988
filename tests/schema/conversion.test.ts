import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createMember } from '../support/factories.ts'
import {
  addRecords,
  createTable,
  fieldOf,
  openWorkshop,
  refusalOf,
  valuesOf,
  type Workshop,
} from './support.ts'

let shop: Workshop
beforeAll(async () => {
  shop = await openWorkshop('sqlite')
})
afterAll(() => shop.app.stop())

const update = (
  fieldId: string,
  patch: Parameters<Workshop['api']['schema']['updateField']['mutate']>[0]['patch'],
) => shop.api.schema.updateField.mutate({ fieldId, patch })
const undo = () => shop.api.records.undo.mutate({ baseId: shop.baseId })
const redo = () => shop.api.records.redo.mutate({ baseId: shop.baseId })

async function tableOf(
  field: {
    type: 'SingleLineText' | 'Number' | 'SingleSelect' | 'MultiSelect' | 'Checkbox'
    options?: Record<string, unknown>
    unique?: boolean
  },
  values: (string | number | boolean)[],
) {
  const schema = await createTable(shop, [
    { type: 'SingleLineText', title: 'Title' },
    { title: 'V', ...field },
  ])
  const ids = await addRecords(
    shop,
    schema,
    values.map((V, index) => ({ Title: `r${index}`, V })),
  )
  return { schema, ids, field: fieldOf(schema, 'V') }
}

describe('texts with a percent sign', () => {
  test('become a share of one, as when they are typed or imported, and the percentage in a field of percents', async () => {
    const { field } = await tableOf({ type: 'SingleLineText' }, ['50%', '12.5 %', '3'])
    await update(field.id, { type: 'Decimal' })
    expect(await valuesOf(shop, field)).toEqual([0.5, 0.125, 3])
    await undo()
    expect(await valuesOf(shop, field)).toEqual(['50%', '12.5 %', '3'])
    await update(field.id, { type: 'Percent' })
    expect(await valuesOf(shop, field)).toEqual([50, 12.5, 3])
    // A number keeps its digits: only texts name their unit.
    await update(field.id, { type: 'Decimal' })
    expect(await valuesOf(shop, field)).toEqual([50, 12.5, 3])
  })

  test('are refused for numbers in a request, whatever the type', async () => {
    const { schema } = await tableOf({ type: 'Number' }, [1])
    await expect(addRecords(shop, schema, [{ V: '50%' }])).rejects.toThrow('50%')
  })
})

describe('schema.previewType', () => {
  test('counts what would be lost and writes nothing', async () => {
    const { field } = await tableOf({ type: 'SingleLineText' }, ['1', '2.5', 'three', '', '4'])
    const preview = await shop.api.schema.previewType.query({ fieldId: field.id, type: 'Number' })
    expect(preview).toMatchObject({ total: 5, converted: 3, lost: 2 })
    expect(preview.samples.slice(0, 2).map(({ from, to }) => [from, to])).toEqual([
      ['2.5', null],
      ['three', null],
    ])
    expect(await valuesOf(shop, field)).toEqual(['1', '2.5', 'three', '', '4'])
  })

  test('counts the cells that lose an option', async () => {
    const choices = [
      { id: 'sa', title: 'a' },
      { id: 'sb', title: 'b' },
    ]
    const { field } = await tableOf({ type: 'MultiSelect', options: { choices } }, ['a', 'a,b', 'b'])
    const options = { choices: [choices[1]!] }
    const preview = await shop.api.schema.previewType.query({
      fieldId: field.id,
      type: 'MultiSelect',
      options,
    })
    expect(preview).toMatchObject({ total: 3, converted: 1, lost: 2 })
  })

  test('shows at most 20 samples of a long column', async () => {
    const { field } = await tableOf(
      { type: 'SingleLineText' },
      Array.from({ length: 5000 }, (_, index) => `x${index}`),
    )
    const preview = await shop.api.schema.previewType.query({ fieldId: field.id, type: 'Number' })
    expect(preview).toMatchObject({ total: 5000, converted: 0, lost: 5000 })
    expect(preview.samples).toHaveLength(20)
  })

  test('refuses an editor and types without values of their own', async () => {
    const { field } = await tableOf({ type: 'SingleLineText' }, ['1'])
    const editor = await createMember(shop.app, shop.baseId, 'editor')
    const call = shop.app.trpc(editor.token).schema.previewType.query({ fieldId: field.id, type: 'Number' })
    expect((await refusalOf(call)).status).toBe(403)
    const virtual = shop.api.schema.previewType.query({ fieldId: field.id, type: 'CreatedTime' })
    expect(await refusalOf(virtual)).toMatchObject({ status: 501, code: 'NOT_IMPLEMENTED' })
  })
})

describe('schema.updateField with another type', () => {
  test('converts every value, and undo brings all of them back', async () => {
    const { field } = await tableOf({ type: 'SingleLineText' }, ['1', 'two', '3'])
    const converted = await update(field.id, { type: 'Number' })
    expect(converted).toMatchObject({
      id: field.id,
      title: 'V',
      type: 'Number',
      options: { thousands: false },
    })
    expect(await valuesOf(shop, field)).toEqual([1, null, 3])
    await undo()
    expect(await valuesOf(shop, field)).toEqual(['1', 'two', '3'])
    await redo()
    expect(await valuesOf(shop, field)).toEqual([1, null, 3])
  })

  test('tells the browsers to read the records again', async () => {
    const { field, schema } = await tableOf({ type: 'SingleLineText' }, ['1'])
    const seen: { truncated: boolean; tableIds: string[] }[] = []
    const stop = shop.app.kernel.events.on('records.changed', (change) => seen.push(change))
    await update(field.id, { type: 'Number' })
    await undo()
    stop()
    const again = { truncated: true, tableIds: [schema.table.id] }
    expect(seen).toMatchObject([again, again])
  })

  test('refuses its undo once a value was written in the new type', async () => {
    const { field, ids } = await tableOf({ type: 'SingleLineText' }, ['1', '2'])
    await update(field.id, { type: 'Number' })
    const creator = await createMember(shop.app, shop.baseId, 'creator')
    const change = {
      baseId: shop.baseId,
      operations: [
        {
          kind: 'update' as const,
          tableId: field.tableId,
          rows: [{ id: ids[0]!, values: { [field.id]: 9 } }],
        },
      ],
    }
    await shop.app.trpc(creator.token).records.write.mutate({ change })
    expect(await refusalOf(undo())).toMatchObject({ status: 409, code: 'CONFLICT' })
    expect(await valuesOf(shop, field)).toEqual([9, 2])
    // Once that is taken back, nothing stands in the way.
    await shop.app.trpc(creator.token).records.undo.mutate({ baseId: shop.baseId })
    await undo()
    expect(await valuesOf(shop, field)).toEqual(['1', '2'])
  })

  test('is left as it is by a second undo after the refusal, which takes back what came before', async () => {
    const { field, ids } = await tableOf({ type: 'SingleLineText' }, ['1', '2'])
    await update(field.id, { title: 'Renamed' })
    await update(field.id, { type: 'Number' })
    const creator = await createMember(shop.app, shop.baseId, 'creator')
    const rows = [{ id: ids[0]!, values: { [field.id]: 9 } }]
    const change = {
      baseId: shop.baseId,
      operations: [{ kind: 'update' as const, tableId: field.tableId, rows }],
    }
    await shop.app.trpc(creator.token).records.write.mutate({ change })
    expect(await refusalOf(undo())).toMatchObject({
      status: 409,
      message: expect.stringContaining('once more'),
    })
    expect(await undo()).toMatchObject({ kind: 'field.update' })
    const { fields } = await shop.app.trpc(shop.owner.token).schema.table.query({ tableId: field.tableId })
    expect(fields.find(({ id }) => id === field.id)).toMatchObject({ title: field.title, type: 'Number' })
    expect(await valuesOf(shop, field)).toEqual([9, 2])
  })

  test('is left alone by the undo of older options', async () => {
    const { field, schema } = await tableOf({ type: 'Number' }, [])
    await update(field.id, { title: 'W', options: { thousands: true } })
    const creator = await createMember(shop.app, shop.baseId, 'creator')
    const dated = await shop.app
      .trpc(creator.token)
      .schema.updateField.mutate({ fieldId: field.id, patch: { type: 'Date' } })
    await undo()
    const { fields } = await shop.api.schema.table.query({ tableId: schema.table.id })
    // The title comes back, the options of the date stay.
    expect(fieldOf({ fields }, 'V')).toMatchObject({ type: 'Date', options: dated.options })
  })

  test('may be undone while other fields are written', async () => {
    const { field, ids, schema } = await tableOf({ type: 'SingleLineText' }, ['1'])
    await update(field.id, { type: 'Number' })
    const creator = await createMember(shop.app, shop.baseId, 'creator')
    const title = fieldOf(schema, 'Title')
    const change = {
      baseId: shop.baseId,
      operations: [
        {
          kind: 'update' as const,
          tableId: field.tableId,
          rows: [{ id: ids[0]!, values: { [title.id]: 'x' } }],
        },
      ],
    }
    await shop.app.trpc(creator.token).records.write.mutate({ change })
    await undo()
    expect(await valuesOf(shop, field)).toEqual(['1'])
  })

  test('may be undone after records were added that are empty in it, not after others', async () => {
    const { field, schema } = await tableOf({ type: 'SingleLineText' }, ['1', 'x'])
    await update(field.id, { type: 'Number' })
    const creator = await createMember(shop.app, shop.baseId, 'creator')
    const others = { ...shop, api: shop.app.trpc(creator.token) }
    const now = await shop.api.schema.table.query({ tableId: schema.table.id })
    await addRecords(others, now, [{ Title: 'empty' }, {}])
    await undo()
    expect(await valuesOf(shop, field)).toEqual(['1', 'x', null, null])
    await redo()
    await addRecords(others, now, [{ V: 3 }])
    expect(await refusalOf(undo())).toMatchObject({ status: 409 })
    expect(await valuesOf(shop, field)).toEqual([1, null, null, null, 3])
  })

  test('makes the options of a select from the values', async () => {
    const { field } = await tableOf({ type: 'SingleLineText' }, ['red', 'blue', 'red'])
    const { options } = await update(field.id, { type: 'SingleSelect' })
    expect((options.choices as { title: string }[]).map(({ title }) => title)).toEqual(['red', 'blue'])
    const multi = await update(field.id, { type: 'MultiSelect' })
    expect((multi.options.choices as { title: string }[]).map(({ title }) => title)).toEqual(['red', 'blue'])
    expect(await valuesOf(shop, field)).toEqual(['red', 'blue', 'red'])
  })

  test('makes people options by their e-mail addresses', async () => {
    const schema = await createTable(shop, [
      { type: 'SingleLineText', title: 'Title' },
      { type: 'User', title: 'V' },
    ])
    const field = fieldOf(schema, 'V')
    await addRecords(shop, schema, [{ Title: 'r', V: shop.owner.id }])
    const preview = await shop.api.schema.previewType.query({ fieldId: field.id, type: 'SingleSelect' })
    expect(preview).toMatchObject({ total: 1, converted: 1, lost: 0 })
    const { options } = await update(field.id, { type: 'SingleSelect' })
    expect((options.choices as { title: string }[]).map(({ title }) => title)).toEqual([shop.owner.email])
    expect(await valuesOf(shop, field)).toEqual([shop.owner.email])
  })

  test('keeps a unique field unique, or names what would stand twice', async () => {
    const { field, schema } = await tableOf({ type: 'SingleLineText', unique: true }, ['1', '01', '2'])
    const refusal = await refusalOf(update(field.id, { type: 'Number' }))
    expect(refusal).toMatchObject({ status: 409 })
    expect(refusal.message).toContain('"1" (2 times)')
    expect(await valuesOf(shop, field)).toEqual(['1', '01', '2'])
    await update(field.id, { type: 'Number', unique: false })
    expect(await valuesOf(shop, field)).toEqual([1, 1, 2])
    await addRecords(shop, await shop.api.schema.table.query({ tableId: schema.table.id }), [{ V: 2 }])
  })

  test('converts a checkbox to a number and back', async () => {
    const { field } = await tableOf({ type: 'Checkbox' }, [true, false])
    await update(field.id, { type: 'Number' })
    expect(await valuesOf(shop, field)).toEqual([1, 0])
    await update(field.id, { type: 'Checkbox' })
    expect(await valuesOf(shop, field)).toEqual([true, false])
  })

  test('reads and writes days and times in the time zone of whoever converts them', async () => {
    const schema = await createTable(shop, [
      { type: 'SingleLineText', title: 'Title' },
      { type: 'Date', title: 'Day' },
      { type: 'SingleLineText', title: 'Text' },
      { type: 'DateTime', title: 'Midnight' },
      { type: 'DateTime', title: 'At' },
      { type: 'DateTime', title: 'Late' },
      { type: 'DateTime', title: 'In Tokyo', options: { timeZone: 'Asia/Tokyo' } },
    ])
    await addRecords(shop, schema, [
      {
        Title: 'x',
        Day: '2024-03-05',
        Text: '2024-03-05 08:00',
        Midnight: '2024-03-05 05:00:00+00:00',
        At: '2024-03-05 23:30:00+00:00',
        Late: '2024-03-06 03:15:00+00:00',
        'In Tokyo': '2024-03-05 23:30:00+00:00',
      },
    ])
    const turn = async (
      title: string,
      type: 'Date' | 'DateTime' | 'SingleLineText' | 'SingleSelect' | 'Time',
      timeZone: string | undefined = 'America/New_York',
    ) => {
      const { id: fieldId } = fieldOf(schema, title)
      const { samples, lost } = await shop.api.schema.previewType.query({ fieldId, type, timeZone })
      await shop.api.schema.updateField.mutate({ fieldId, patch: { type }, timeZone })
      const values = await valuesOf(shop, fieldOf(schema, title))
      expect(samples.map(({ to }) => to)).toEqual(values)
      return [values[0], lost]
    }
    expect(await turn('Day', 'DateTime')).toEqual(['2024-03-05 05:00:00+00:00', 0])
    expect(await turn('Text', 'DateTime')).toEqual(['2024-03-05 13:00:00+00:00', 0])
    expect(await turn('Midnight', 'Date')).toEqual(['2024-03-05', 0])
    expect(await turn('Late', 'Time')).toEqual(['22:15:00', 1])
    expect(await turn('In Tokyo', 'SingleSelect')).toEqual(['2024-03-06 08:30', 0])
    expect(await turn('At', 'SingleLineText')).toEqual(['2024-03-05 18:30', 0])
    // Undo compares in that zone, whoever it is that undoes.
    await undo()
    expect(await valuesOf(shop, fieldOf(schema, 'At'))).toEqual(['2024-03-05 23:30:00+00:00'])
    await redo()
    expect(await valuesOf(shop, fieldOf(schema, 'At'))).toEqual(['2024-03-05 18:30'])
    await undo()
    // API clients have no zone.
    const column = `/api/v2/meta/columns/${fieldOf(schema, 'At').id}`
    expect((await shop.rest.patch(column, { title: 'At', uidt: 'SingleLineText' })).status).toBe(200)
    expect(await valuesOf(shop, fieldOf(schema, 'At'))).toEqual(['2024-03-05 23:30'])
    await undo()
    expect(await valuesOf(shop, fieldOf(schema, 'At'))).toEqual(['2024-03-05 23:30:00+00:00'])
  })

  test('leaves records writable: the old column never stands in the way', async () => {
    const { field, schema } = await tableOf({ type: 'SingleLineText', unique: true }, ['1'])
    await update(field.id, { type: 'Number' })
    const now = await shop.api.schema.table.query({ tableId: schema.table.id })
    await addRecords(shop, now, [{ V: 5 }, { V: 6 }, {}, {}])
    expect(await valuesOf(shop, field)).toEqual([1, 5, 6, null, null])
  })
})
