import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  addRecords,
  createField,
  createLink,
  createTable,
  fieldOf,
  freshTitle,
  openWorkshop,
  valuesOf,
  type Workshop,
} from './support.ts'

let shop: Workshop
beforeAll(async () => {
  shop = await openWorkshop('sqlite')
})
afterAll(() => shop.app.stop())

/** Stands for a process that is killed after the base's file is committed: the metadata is never written. */
async function cutOff(call: () => Promise<unknown>): Promise<void> {
  const { meta } = shop.app.kernel
  const { atomically } = meta
  meta.atomically = () => Promise.reject(new Error('cut off'))
  try {
    await expect(call()).rejects.toThrow()
  } finally {
    meta.atomically = atomically
  }
}

const read = (tableId: string) => shop.api.schema.table.query({ tableId })

describe('a stop between the file of a base and the metadata', () => {
  test('leaves the title of a table that was not made free', async () => {
    const title = freshTitle()
    await cutOff(() => createTable(shop, undefined, title))
    expect(
      (await shop.api.schema.tables.query({ baseId: shop.baseId })).map((table) => table.title),
    ).not.toContain(title)
    const schema = await createTable(shop, undefined, title)
    await addRecords(shop, schema, [{ Title: 'works' }])
    expect(await valuesOf(shop, fieldOf(schema, 'Title'))).toEqual(['works'])
  })

  test('leaves a table usable whose field was not made, and its title free', async () => {
    const schema = await createTable(shop)
    const { id: tableId } = schema.table
    await cutOff(() =>
      shop.api.schema.createField.mutate({ tableId, field: { type: 'Number', title: 'N', unique: true } }),
    )
    expect((await read(tableId)).fields).toHaveLength(7)
    await addRecords(shop, schema, [{ Title: 'a' }, { Title: 'b' }])
    await shop.api.schema.createField.mutate({ tableId, field: { type: 'Number', title: 'N' } })
    await addRecords(shop, await read(tableId), [{ N: 1 }, { N: 1 }])
    expect(await valuesOf(shop, fieldOf(await read(tableId), 'N'))).toEqual([null, null, 1, 1])
  })

  test('leaves every value of a field whose type was not changed', async () => {
    const schema = await createTable(shop)
    const field = fieldOf(schema, 'Title')
    await addRecords(shop, schema, [{ Title: '1' }, { Title: 'two' }])
    const patch = { type: 'Number' as const }
    await cutOff(() => shop.api.schema.updateField.mutate({ fieldId: field.id, patch }))
    expect(await valuesOf(shop, field)).toEqual(['1', 'two'])
    await addRecords(shop, schema, [{ Title: 'three' }])
    await shop.api.schema.updateField.mutate({ fieldId: field.id, patch })
    expect(await valuesOf(shop, field)).toEqual([1, null, null])
  })

  test('lets a rename of an option be done again, or be taken back', async () => {
    const choices = [
      { id: 'sa', title: 'a' },
      { id: 'sb', title: 'b' },
    ]
    const schema = await createTable(shop, [{ type: 'SingleSelect', title: 'S', options: { choices } }])
    const field = fieldOf(schema, 'S')
    await addRecords(shop, schema, [{ S: 'a' }, { S: 'b' }])
    const patch = { options: { choices: [{ id: 'sa', title: 'x' }, choices[1]!] } }
    await cutOff(() => shop.api.schema.updateField.mutate({ fieldId: field.id, patch }))
    await shop.api.records.undo.mutate({ baseId: shop.baseId })
    expect(await valuesOf(shop, field)).toEqual(['a', 'b'])
    await cutOff(() => shop.api.schema.updateField.mutate({ fieldId: field.id, patch }))
    await shop.api.schema.updateField.mutate({ fieldId: field.id, patch })
    expect(await valuesOf(shop, field)).toEqual(['x', 'b'])
  })

  test.each(['hm', 'mm'] as const)('leaves nothing of a link (%s) that was not made', async (kind) => {
    const [from, to] = [await createTable(shop), await createTable(shop)]
    const tables = () => shop.api.schema.tables.query({ baseId: shop.baseId, includeJunctions: true })
    const before = await tables()
    const link = () => createLink(shop, from.table.id, to.table.id, { kind, title: 'Link' })
    await cutOff(link)
    for (const { table, fields } of [from, to]) expect((await read(table.id)).fields).toEqual(fields)
    expect(await tables()).toEqual(before)
    const field = await link()
    await addRecords(shop, to, [{ Title: 'linked' }])
    await addRecords(shop, await read(from.table.id), [{ Title: 'a', Link: '[1]' }])
    expect(await valuesOf(shop, field)).toEqual(['[1,[[1,"linked"]]]'])
    // Deleted half, it is still whole.
    await cutOff(() => shop.api.schema.deleteField.mutate({ fieldId: field.id }))
    expect(await valuesOf(shop, field)).toEqual(['[1,[[1,"linked"]]]'])
    await shop.api.records.undo.mutate({ baseId: shop.baseId })
    expect(await valuesOf(shop, field)).toEqual(['[1,[[1,"linked"]]]'])
  })

  test('leaves the values of a field that did not become a link', async () => {
    const [from, to] = [await createTable(shop), await createTable(shop)]
    await addRecords(shop, to, [{ Title: 'named' }])
    const field = await createField(shop, from.table.id, { type: 'SingleLineText', title: 'Text' })
    await addRecords(shop, await read(from.table.id), [{ Text: 'named' }])
    const options = { kind: 'mm', relatedTableId: to.table.id }
    const patch = { type: 'Links' as const, options }
    await cutOff(() => shop.api.schema.updateField.mutate({ fieldId: field.id, patch }))
    expect(await valuesOf(shop, field)).toEqual(['named'])
    await shop.api.records.undo.mutate({ baseId: shop.baseId })
    const link = await shop.api.schema.updateField.mutate({ fieldId: field.id, patch })
    expect(await valuesOf(shop, link)).toEqual(['[1,[[1,"named"]]]'])
  })

  test('leaves log lines that undo passes over', async () => {
    const { table } = await createTable(shop)
    await cutOff(() =>
      shop.api.schema.createField.mutate({ tableId: table.id, field: { type: 'Number', title: 'N' } }),
    )
    await cutOff(() => shop.api.views.create.mutate({ tableId: table.id, title: 'V', kind: 'grid' }))
    await cutOff(() => shop.api.schema.updateTable.mutate({ tableId: table.id, title: freshTitle() }))
    // Two attempts at the field, one at the view, one at the title.
    for (let step = 0; step < 4; step++) await shop.api.records.undo.mutate({ baseId: shop.baseId })
    expect((await read(table.id)).table.title).toBe(table.title)
  })
})
