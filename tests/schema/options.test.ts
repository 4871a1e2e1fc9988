import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Field } from '../../src/core/model.ts'
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
  return { ids, field: fieldOf(schema, 'V') }
}

async function fieldNow({ tableId, title }: Field): Promise<Field> {
  return fieldOf(await shop.api.schema.table.query({ tableId }), title)
}

const titlesOf = async (field: Field): Promise<string[]> =>
  ((await fieldNow(field)).options.choices as { title: string }[]).map(({ title }) => title)

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
    const { field } = await tableOf({ type: 'MultiSelect', options: { choices } }, [
      'one,two',
      'two',
      'three',
    ])
    await update(field.id, { options: { choices: [choices[0]!, choices[2]!] } })
    expect(await valuesOf(shop, field)).toEqual(['one', null, 'three'])
    await undo()
    expect(await valuesOf(shop, field)).toEqual(['one,two', 'two', 'three'])
    expect((await fieldNow(field)).options.choices).toEqual(choices)
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
    const { field, ids } = await tableOf({ type: 'SingleSelect', options: { choices } }, ['one', 'two'])
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
    expect(await titlesOf(field)).toEqual(['one', 'two', 'three', 'four'])
    expect(await valuesOf(shop, field)).toEqual(['four', 'two'])
  })

  test('undo keeps a rename by someone else, and takes all cells along with its own', async () => {
    const { field } = await tableOf({ type: 'SingleSelect', options: { choices } }, ['one', 'two'])
    const four = { id: 'sfour', title: 'four', color: '#eeeeee' }
    const creator = shop.app.trpc((await createMember(shop.app, shop.baseId, 'creator')).token)

    await update(field.id, { options: { choices: [...choices, four] } })
    const dos = [choices[0]!, { ...choices[1]!, title: 'dos' }, choices[2]!, four]
    await creator.schema.updateField.mutate({ fieldId: field.id, patch: { options: { choices: dos } } })
    await undo()
    expect(await titlesOf(field)).toEqual(['one', 'dos', 'three'])
    expect(await valuesOf(shop, field)).toEqual(['one', 'dos'])

    await update(field.id, { options: { choices: [{ ...choices[0]!, title: 'uno' }, dos[1]!, dos[2]!] } })
    const rows = [{ values: { [field.id]: 'uno' } }]
    const operations = [{ kind: 'insert' as const, tableId: field.tableId, rows }]
    await creator.records.write.mutate({ change: { baseId: shop.baseId, operations } })
    await undo()
    expect(await titlesOf(field)).toEqual(['one', 'dos', 'three'])
    expect(await valuesOf(shop, field)).toEqual(['one', 'dos', 'one'])
  })

  test('undo of a removal restores cells whose other options were renamed since', async () => {
    const { field } = await tableOf({ type: 'MultiSelect', options: { choices } }, ['one,two', 'three'])
    await update(field.id, { defaultValue: 'one' })
    await update(field.id, { options: { choices: choices.slice(1) } })
    const creator = shop.app.trpc((await createMember(shop.app, shop.baseId, 'creator')).token)
    // Their order changes as well.
    const patch = { options: { choices: [choices[2]!, { ...choices[1]!, title: 'dos' }] } }
    await creator.schema.updateField.mutate({ fieldId: field.id, patch })
    await undo()
    expect(await titlesOf(field)).toEqual(['one', 'three', 'dos'])
    expect(await valuesOf(shop, field)).toEqual(['one,dos', 'three'])
    expect((await fieldNow(field)).defaultValue).toBe('one')
  })

  test('redo of a removal removes the option again', async () => {
    const { field } = await tableOf({ type: 'SingleSelect', options: { choices } }, ['one'])
    await update(field.id, { options: { choices: choices.slice(1) } })
    await undo()
    await redo()
    expect((await fieldNow(field)).options.choices).toEqual(choices.slice(1))
    expect(await valuesOf(shop, field)).toEqual([null])
  })

  test('undo of a rename takes the values of a new option with the old title', async () => {
    const { field } = await tableOf({ type: 'SingleSelect', options: { choices } }, ['one', 'two'])
    const uno = { ...choices[0]!, title: 'uno' }
    await update(field.id, { options: { choices: [uno, ...choices.slice(1), { title: 'one' }] } })
    const creator = shop.app.trpc((await createMember(shop.app, shop.baseId, 'creator')).token)
    const rows = [{ values: { [field.id]: 'one' } }]
    const operations = [{ kind: 'insert' as const, tableId: field.tableId, rows }]
    await creator.records.write.mutate({ change: { baseId: shop.baseId, operations } })
    await undo()
    expect((await fieldNow(field)).options.choices).toEqual(choices)
    expect(await valuesOf(shop, field)).toEqual(['one', 'two', 'one'])
  })

  test('refuses to undo a rename if someone has given the old title to another option', async () => {
    const { field } = await tableOf({ type: 'SingleSelect', options: { choices } }, ['one', 'two'])
    const uno = { ...choices[0]!, title: 'uno' }
    await update(field.id, { options: { choices: [uno, ...choices.slice(1)] } })
    const creator = shop.app.trpc((await createMember(shop.app, shop.baseId, 'creator')).token)
    const patch = { options: { choices: [uno, { ...choices[1]!, title: 'one' }, choices[2]!] } }
    await creator.schema.updateField.mutate({ fieldId: field.id, patch })
    expect(await refusalOf(undo())).toMatchObject({ status: 409, message: expect.stringContaining('“one”') })
    expect(await titlesOf(field)).toEqual(['uno', 'one', 'three'])
    expect(await valuesOf(shop, field)).toEqual(['uno', 'one'])
  })

  test('undo of one option keeps another that was changed since', async () => {
    const { field } = await tableOf({ type: 'Decimal', options: { precision: 2 } }, [])
    await update(field.id, { options: { precision: 2, thousands: true } })
    const creator = shop.app.trpc((await createMember(shop.app, shop.baseId, 'creator')).token)
    const patch = { options: { precision: 3, thousands: true } }
    await creator.schema.updateField.mutate({ fieldId: field.id, patch })
    await undo()
    expect((await fieldNow(field)).options).toEqual({ precision: 3, thousands: false })
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

describe('schema.updateField with the options that the sender had seen', () => {
  const choice = (id: string, title: string) => ({ id, title, color: '#eeeeee' })
  const [one, two, three] = [choice('sone', 'one'), choice('stwo', 'two'), choice('sthree', 'three')]

  test('keeps what others have added and renamed since, and empties only the cells of its own removal', async () => {
    const { field, ids } = await tableOf({ type: 'SingleSelect', options: { choices: [one, two, three] } }, [
      'one',
      'two',
      'three',
      'one',
    ])
    const creator = shop.app.trpc((await createMember(shop.app, shop.baseId, 'creator')).token)
    const theirs = [choice('sone', 'uno'), two, three, choice('sfour', 'four')]
    await creator.schema.updateField.mutate({ fieldId: field.id, patch: { options: { choices: theirs } } })
    const rows = [{ id: ids[3]!, values: { [field.id]: 'four' } }]
    const operations = [{ kind: 'update' as const, tableId: field.tableId, rows }]
    await creator.records.write.mutate({ change: { baseId: shop.baseId, operations } })
    await shop.api.schema.updateField.mutate({
      fieldId: field.id,
      patch: { options: { choices: [one, choice('stwo', 'dos'), { title: 'five' }] } },
      seenChoices: [one, two, three],
    })
    expect(await titlesOf(field)).toEqual(['uno', 'dos', 'five', 'four'])
    expect(await valuesOf(shop, field)).toEqual(['uno', 'dos', null, 'four'])
  })

  test('keeps the id of an option that others have added under the same title', async () => {
    const { field } = await tableOf({ type: 'SingleSelect', options: { choices: [one] } }, [])
    await update(field.id, { options: { choices: [one, two] } })
    await shop.api.schema.updateField.mutate({
      fieldId: field.id,
      patch: { options: { choices: [one, { title: 'two' }] } },
      seenChoices: [one],
    })
    const { choices } = (await fieldNow(field)).options
    expect((choices as { id: string }[]).map(({ id }) => id)).toEqual(['sone', 'stwo'])
  })

  test('refuses two options of one title', async () => {
    const { field } = await tableOf({ type: 'SingleSelect', options: { choices: [one, two] } }, ['two'])
    await update(field.id, { options: { choices: [choice('sone', 'uno'), two] } })
    const changed = shop.api.schema.updateField.mutate({
      fieldId: field.id,
      patch: { options: { choices: [one, choice('stwo', 'uno')] } },
      seenChoices: [one, two],
    })
    expect(await refusalOf(changed)).toMatchObject({ status: 400 })
    expect(await valuesOf(shop, field)).toEqual(['two'])
  })

  test('refuses a title that somebody else has just added, and keeps the cells with it', async () => {
    const { field } = await tableOf({ type: 'SingleSelect', options: { choices: [one, two] } }, ['two'])
    const changed = shop.api.schema.updateField.mutate({
      fieldId: field.id,
      patch: { options: { choices: [choice('sone', 'two')] } },
      seenChoices: [one],
    })
    expect(await refusalOf(changed)).toMatchObject({ status: 400 })
    expect(await valuesOf(shop, field)).toEqual(['two'])
  })
})

describe('schema.addChoices', () => {
  const choices = [{ id: 'sone', title: 'one', color: '#eeeeee' }]
  const add = (fieldId: string, ...titles: string[]) => shop.api.schema.addChoices.mutate({ fieldId, titles })

  test('refuses a field without options, and titles that the type does not allow', async () => {
    const { field: text } = await tableOf({ type: 'SingleLineText' }, [])
    expect(await refusalOf(add(text.id, 'two'))).toMatchObject({
      status: 400,
      message: 'A “Single line text” field has no options',
    })
    const { field } = await tableOf({ type: 'MultiSelect', options: { choices } }, [])
    expect(await refusalOf(add(field.id, 'two,three'))).toMatchObject({ status: 400 })
    expect(await titlesOf(field)).toEqual(['one'])
  })

  test('adds what is missing to the options that there are by then', async () => {
    const { field } = await tableOf({ type: 'SingleSelect', options: { choices } }, ['one'])
    await Promise.all([add(field.id, 'two', 'one'), add(field.id, ' three '), add(field.id, 'two')])
    expect((await titlesOf(field)).toSorted()).toEqual(['one', 'three', 'two'])
    expect(await valuesOf(shop, field)).toEqual(['one'])
  })

  test('is undone as one action', async () => {
    const { field } = await tableOf({ type: 'SingleSelect', options: { choices } }, [])
    await add(field.id, 'two', 'three')
    await undo()
    expect((await fieldNow(field)).options.choices).toEqual(choices)
  })
})
