import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createMember } from '../support/factories.ts'
import {
  addRecords,
  createTable,
  databases,
  fieldOf,
  freshTitle,
  openWorkshop,
  refusalOf,
  setValue,
  valuesOf,
  type Workshop,
} from './support.ts'

describe.each([...databases])('fields, metadata in %s', (database) => {
  let shop: Workshop
  beforeAll(async () => {
    shop = await openWorkshop(database)
  })
  afterAll(() => shop.app.stop())

  const read = (tableId: string) => shop.api.schema.table.query({ tableId })

  describe('schema.updateField', () => {
    test('refuses an editor, an unknown field and system fields', async () => {
      const schema = await createTable(shop)
      const editor = await createMember(shop.app, shop.baseId, 'editor')
      const title = fieldOf(schema, 'Title')
      const asEditor = shop.app
        .trpc(editor.token)
        .schema.updateField.mutate({ fieldId: title.id, patch: { title: 'X' } })
      expect(await refusalOf(asEditor)).toMatchObject({ status: 403, code: 'PERMISSION_DENIED' })
      const unknown = shop.api.schema.updateField.mutate({
        fieldId: 'cxxxxxxxxxxxxxx',
        patch: { title: 'X' },
      })
      expect(await refusalOf(unknown)).toMatchObject({ status: 404, code: 'FIELD_NOT_FOUND' })
      for (const name of ['CreatedAt', 'nc_order']) {
        const call = shop.api.schema.updateField.mutate({
          fieldId: fieldOf(schema, name).id,
          patch: { title: 'X' },
        })
        expect((await refusalOf(call)).message).toBe(
          `The column '${name}' is a system column and cannot be updated.`,
        )
      }
      const id = fieldOf(schema, 'Id').id
      const retyped = shop.api.schema.updateField.mutate({ fieldId: id, patch: { type: 'Number' } })
      expect((await refusalOf(retyped)).status).toBe(400)
      expect((await shop.api.schema.updateField.mutate({ fieldId: id, patch: { title: 'Nr' } })).title).toBe(
        'Nr',
      )
    })

    test('renames and describes; undo and redo go back and forth', async () => {
      const schema = await createTable(shop)
      const { id: fieldId } = fieldOf(schema, 'Title')
      const { api, baseId } = shop
      const patch = { title: 'Name', description: 'What it is called' }
      expect(await api.schema.updateField.mutate({ fieldId, patch })).toMatchObject(patch)
      await api.records.undo.mutate({ baseId })
      expect((await read(schema.table.id)).fields.find(({ id }) => id === fieldId)).toMatchObject({
        title: 'Title',
        description: null,
      })
      await api.records.redo.mutate({ baseId })
      expect((await read(schema.table.id)).fields.find(({ id }) => id === fieldId)).toMatchObject(patch)
    })

    test('an undo leaves alone what others have changed of the field since', async () => {
      const schema = await createTable(shop)
      const { id: fieldId } = fieldOf(schema, 'Title')
      const creator = await createMember(shop.app, shop.baseId, 'creator')
      await shop.app.trpc(creator.token).schema.updateField.mutate({ fieldId, patch: { title: 'Mine' } })
      await shop.api.schema.updateField.mutate({ fieldId, patch: { description: 'Theirs' } })
      await shop.app.trpc(creator.token).records.undo.mutate({ baseId: shop.baseId })
      expect(fieldOf(await read(schema.table.id), 'Title').description).toBe('Theirs')
    })

    test('required holds for what is written from then on, whatever is empty already', async () => {
      const schema = await createTable(shop, [
        { type: 'SingleLineText', title: 'Title' },
        { type: 'Number', title: 'N' },
      ])
      await addRecords(shop, schema, [{ Title: 'empty' }])
      const field = fieldOf(schema, 'N')
      await shop.api.schema.updateField.mutate({ fieldId: field.id, patch: { required: true } })
      const refusal = await refusalOf(addRecords(shop, schema, [{ Title: 'no number' }]))
      expect(refusal.code).toBe('REQUIRED_FIELD_MISSING')
      await addRecords(shop, schema, [{ Title: 'fine', N: 1 }])
      expect(await valuesOf(shop, field)).toEqual([null, 1])
    })

    test('unique is refused with the values that stand twice, and then held', async () => {
      const schema = await createTable(shop, [{ type: 'Email', title: 'Mail' }])
      const [first] = await addRecords(shop, schema, [
        { Mail: 'a@b.de' },
        { Mail: 'a@b.de' },
        { Mail: 'c@d.de' },
        {},
        {},
      ])
      const field = fieldOf(schema, 'Mail')
      const refusal = await refusalOf(
        shop.api.schema.updateField.mutate({ fieldId: field.id, patch: { unique: true } }),
      )
      expect(refusal).toMatchObject({ status: 409, code: 'CONFLICT' })
      expect(refusal.message).toContain('"a@b.de" (2 times)')
      await setValue(shop, field, first!, 'x@y.de')
      expect(
        (await shop.api.schema.updateField.mutate({ fieldId: field.id, patch: { unique: true } })).unique,
      ).toBe(true)
      await expect(addRecords(shop, schema, [{ Mail: 'c@d.de' }])).rejects.toThrow()
      await addRecords(shop, schema, [{}])
      await shop.api.schema.updateField.mutate({ fieldId: field.id, patch: { unique: false } })
      await addRecords(shop, schema, [{ Mail: 'c@d.de' }])
      expect((await valuesOf(shop, field)).filter((value) => value === 'c@d.de')).toHaveLength(2)
    })
  })

  describe('schema.deleteField and schema.restoreField', () => {
    test('refuses the display field, the record id and system fields', async () => {
      const schema = await createTable(shop)
      for (const name of ['Title', 'Id', 'UpdatedAt']) {
        const call = shop.api.schema.deleteField.mutate({ fieldId: fieldOf(schema, name).id })
        expect((await refusalOf(call)).status).toBe(400)
      }
      expect((await read(schema.table.id)).fields).toHaveLength(7)
    })

    test('takes a field with its values out of sight and brings both back', async () => {
      const schema = await createTable(shop, [
        { type: 'SingleLineText', title: 'Title' },
        { type: 'Number', title: 'N' },
      ])
      await addRecords(shop, schema, [{ Title: 'a', N: 5 }])
      const field = fieldOf(schema, 'N')
      const { api } = shop
      await api.schema.deleteField.mutate({ fieldId: field.id })
      expect((await read(schema.table.id)).fields.map(({ title }) => title)).not.toContain('N')
      const query = { tableId: schema.table.id, fieldIds: [field.id], limit: 10, offset: 0 }
      expect(await api.records.list.query({ query })).toMatchObject({ fieldIds: [], rows: [[]] })
      expect(
        (await api.schema.trashedFields.query({ tableId: schema.table.id })).map(({ id }) => id),
      ).toEqual([field.id])
      await addRecords(shop, schema, [{ Title: 'b' }])
      await api.schema.createField.mutate({ tableId: schema.table.id, field: { type: 'URL', title: 'N' } })
      expect((await api.schema.restoreField.mutate({ fieldId: field.id })).title).toBe('N_1')
      expect(await valuesOf(shop, field)).toEqual([5, null])
      expect(await refusalOf(api.schema.restoreField.mutate({ fieldId: field.id }))).toMatchObject({
        status: 404,
      })
    })

    test('undo of a creation is the trash, and of a delete the way back', async () => {
      const { table } = await createTable(shop)
      const { api, baseId } = shop
      const field = await api.schema.createField.mutate({
        tableId: table.id,
        field: { type: 'Number', title: 'N' },
      })
      const has = async () => (await read(table.id)).fields.some(({ id }) => id === field.id)
      await api.records.undo.mutate({ baseId })
      expect(await has()).toBe(false)
      await api.records.redo.mutate({ baseId })
      expect(await has()).toBe(true)
      await api.schema.deleteField.mutate({ fieldId: field.id })
      await api.records.undo.mutate({ baseId })
      expect(await has()).toBe(true)
    })
  })

  test('schema.setDisplayField moves the mark, and the old one may then be deleted', async () => {
    const schema = await createTable(shop, [
      { type: 'SingleLineText', title: 'A' },
      { type: 'Number', title: 'B' },
    ])
    const { api, baseId } = shop
    await api.schema.setDisplayField.mutate({ fieldId: fieldOf(schema, 'B').id })
    const display = async () =>
      (await read(schema.table.id)).fields.filter((field) => field.isDisplay).map(({ title }) => title)
    expect(await display()).toEqual(['B'])
    await api.records.undo.mutate({ baseId })
    expect(await display()).toEqual(['A'])
    await api.records.redo.mutate({ baseId })
    await api.schema.deleteField.mutate({ fieldId: fieldOf(schema, 'A').id })
    await api.schema.restoreField.mutate({ fieldId: fieldOf(schema, 'A').id })
    expect(await display()).toEqual(['B'])
    const system = api.schema.setDisplayField.mutate({ fieldId: fieldOf(schema, 'nc_order').id })
    expect((await refusalOf(system)).status).toBe(400)
  })

  test('every change of a field gives the table a new version', async () => {
    const schema = await createTable(shop)
    let last = schema.table.version
    const grows = async () => {
      const { version } = (await read(schema.table.id)).table
      expect(version).toBeGreaterThan(last)
      last = version
    }
    const field = await shop.api.schema.createField.mutate({
      tableId: schema.table.id,
      field: { type: 'Number', title: freshTitle() },
    })
    await grows()
    await shop.api.schema.updateField.mutate({ fieldId: field.id, patch: { title: freshTitle() } })
    await grows()
    await shop.api.schema.deleteField.mutate({ fieldId: field.id })
    await grows()
    await shop.api.schema.restoreField.mutate({ fieldId: field.id })
    await grows()
  })
})
