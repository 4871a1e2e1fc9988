import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createMember } from '../support/factories.ts'
import { addRecords, createTable, fieldOf, openWorkshop, valuesOf, type Workshop } from './support.ts'

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
    type: 'SingleLineText' | 'Number' | 'Decimal' | 'SingleSelect' | 'MultiSelect' | 'Checkbox'
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

describe('schema.updateField with other options', () => {
  const choices = [
    { id: 'sone', title: 'one', color: '#eeeeee' },
    { id: 'stwo', title: 'two', color: '#eeeeee' },
    { id: 'sthree', title: 'three', color: '#eeeeee' },
  ]

  test('renames values with their option, swaps included; undo brings both back', async () => {
    const { field } = await tableOf({ type: 'SingleSelect', options: { choices } }, [
      'one',
      'two',
      'three',
      'one',
    ])
    const swapped = [{ ...choices[0]!, title: 'two' }, { ...choices[1]!, title: 'one' }, choices[2]!]
    await update(field.id, { options: { choices: swapped } })
    expect(await valuesOf(shop, field)).toEqual(['two', 'one', 'three', 'two'])
    await undo()
    expect(await valuesOf(shop, field)).toEqual(['one', 'two', 'three', 'one'])
    await redo()
    expect(await valuesOf(shop, field)).toEqual(['two', 'one', 'three', 'two'])
  })

  test('empties the cells of a removed option; undo brings option and cells back', async () => {
    const { field, schema } = await tableOf({ type: 'MultiSelect', options: { choices } }, [
      'one,two',
      'two',
      'three',
    ])
    await update(field.id, { options: { choices: [choices[0]!, choices[2]!] } })
    expect(await valuesOf(shop, field)).toEqual(['one', null, 'three'])
    await undo()
    expect(await valuesOf(shop, field)).toEqual(['one,two', 'two', 'three'])
    const { fields } = await shop.api.schema.table.query({ tableId: schema.table.id })
    expect(fieldOf({ fields }, 'V').options.choices).toEqual(choices)
  })

  test('undo keeps a value that someone has changed since', async () => {
    const { field, ids } = await tableOf({ type: 'SingleSelect', options: { choices } }, ['one', 'one'])
    await update(field.id, {
      options: { choices: [{ ...choices[0]!, title: 'uno' }, choices[1]!, choices[2]!] },
    })
    const creator = await createMember(shop.app, shop.baseId, 'creator')
    const change = {
      baseId: shop.baseId,
      operations: [
        {
          kind: 'update' as const,
          tableId: field.tableId,
          rows: [{ id: ids[0]!, values: { [field.id]: 'two' } }],
        },
      ],
    }
    await shop.app.trpc(creator.token).records.write.mutate({ change })
    await undo()
    expect(await valuesOf(shop, field)).toEqual(['two', 'one'])
  })

  test('undo of a new option keeps it while a record uses it', async () => {
    const { field, ids, schema } = await tableOf({ type: 'SingleSelect', options: { choices } }, [
      'one',
      'two',
    ])
    await update(field.id, { options: { choices: [...choices, { title: 'four' }, { title: 'five' }] } })
    const creator = await createMember(shop.app, shop.baseId, 'creator')
    const change = {
      baseId: shop.baseId,
      operations: [
        {
          kind: 'update' as const,
          tableId: field.tableId,
          rows: [{ id: ids[0]!, values: { [field.id]: 'four' } }],
        },
      ],
    }
    await shop.app.trpc(creator.token).records.write.mutate({ change })
    await undo()
    const { fields } = await shop.api.schema.table.query({ tableId: schema.table.id })
    const titles = (fieldOf({ fields }, 'V').options.choices as { title: string }[]).map(({ title }) => title)
    expect(titles).toEqual(['one', 'two', 'three', 'four'])
    expect(await valuesOf(shop, field)).toEqual(['four', 'two'])
  })

  test('undo of one option keeps another that was changed since', async () => {
    const { field, schema } = await tableOf({ type: 'Decimal', options: { precision: 2 } }, [])
    await update(field.id, { options: { precision: 2, thousands: true } })
    const creator = shop.app.trpc((await createMember(shop.app, shop.baseId, 'creator')).token)
    const patch = { options: { precision: 3, thousands: true } }
    await creator.schema.updateField.mutate({ fieldId: field.id, patch })
    await undo()
    const { fields } = await shop.api.schema.table.query({ tableId: schema.table.id })
    expect(fieldOf({ fields }, 'V').options).toEqual({ precision: 3, thousands: false })
  })

  test('shows the rename in the history of the record', async () => {
    const { field, ids } = await tableOf({ type: 'SingleSelect', options: { choices } }, ['one'])
    await update(field.id, {
      options: { choices: [{ ...choices[0]!, title: 'uno' }, choices[1]!, choices[2]!] },
    })
    const history = await shop.api.records.history.query({ tableId: field.tableId, recordId: ids[0]! })
    expect(history.entries[0]).toMatchObject({
      kind: 'field.update',
      changes: [{ fieldId: field.id, before: 'one', after: 'uno' }],
    })
  })

  test('an option that comes without its id is the one of its title', async () => {
    const { field } = await tableOf({ type: 'SingleSelect', options: { choices } }, ['one', 'two'])
    const { options } = await update(field.id, { options: { choices: [{ title: 'two' }, { title: 'one' }] } })
    expect((options.choices as { id: string }[]).map(({ id }) => id)).toEqual(['stwo', 'sone'])
    expect(await valuesOf(shop, field)).toEqual(['one', 'two'])
  })

  test('renames the options of the default as well', async () => {
    const { field } = await tableOf({ type: 'MultiSelect', options: { choices } }, [])
    await update(field.id, { defaultValue: 'one,two' })
    const renamed = [{ ...choices[0]!, title: 'uno' }, choices[1]!, choices[2]!]
    expect((await update(field.id, { options: { choices: renamed } })).defaultValue).toBe('uno,two')
  })

  test('takes a default with the option that it named', async () => {
    const { field } = await tableOf({ type: 'SingleSelect', options: { choices } }, [])
    await update(field.id, { defaultValue: 'one' })
    expect((await update(field.id, { options: { choices: choices.slice(1) } })).defaultValue).toBeNull()
  })
})
