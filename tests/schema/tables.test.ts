import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createMember, createMemberOfEachRole } from '../support/factories.ts'
import {
  addRecords,
  createTable,
  databases,
  fieldOf,
  freshTitle,
  openWorkshop,
  refusalOf,
  type Workshop,
} from './support.ts'

describe.each([...databases])('tables, metadata in %s', (database) => {
  let shop: Workshop
  beforeAll(async () => {
    shop = await openWorkshop(database)
  })
  afterAll(() => shop.app.stop())

  const titles = async () =>
    (await shop.api.schema.tables.query({ baseId: shop.baseId })).map(({ title }) => title)

  describe('schema.createTable', () => {
    test.each([
      ['an empty title', '  ', 'A table needs a title'],
      ['a title over 255 characters', 'x'.repeat(256), 'A table title can have up to 255 characters'],
      ['a full stop', 'a.b', 'Following characters are not allowed "."'],
      ['a slash', 'a/b', 'Following characters are not allowed "/"'],
      ['a control character', 'a\u0007b', 'A table title can’t contain control characters'],
      ['a null character', 'a\u0000b', 'Text can’t contain null characters or incomplete characters'],
    ])('refuses %s and makes nothing', async (_, title, message) => {
      const before = await titles()
      const refusal = await refusalOf(createTable(shop, undefined, title))
      expect(refusal).toMatchObject({ status: 400, message })
      expect(await titles()).toEqual(before)
    })

    test('refuses a title in use, whatever its case', async () => {
      const { table } = await createTable(shop)
      const refusal = await refusalOf(createTable(shop, undefined, ` ${table.title.toUpperCase()} `))
      expect(refusal).toMatchObject({
        status: 422,
        code: 'DUPLICATE_ALIAS',
        message: `Duplicate table alias '${table.title.toUpperCase()}' at base '${shop.baseId}'`,
      })
    })

    test('refuses an unknown base, unknown keys and unknown types', async () => {
      const { api, baseId } = shop
      expect(
        await refusalOf(api.schema.createTable.mutate({ baseId: 'pxxxxxxxxxxxxxx', title: 'A' })),
      ).toMatchObject({
        status: 404,
        code: 'BASE_NOT_FOUND',
      })
      const strange = { baseId, title: 'A', colour: 'red' }
      expect((await refusalOf(api.schema.createTable.mutate(strange))).status).toBe(400)
      const fields = [{ type: 'Formula' as 'Number' }]
      expect((await refusalOf(api.schema.createTable.mutate({ baseId, title: 'A', fields }))).status).toBe(
        400,
      )
    })

    test('gives the record id, the display field, the system fields and a default view', async () => {
      const { table, fields, views } = await createTable(shop, undefined, freshTitle('Länder & Städte'))
      expect(table.tableName).toMatch(/^Lander_Stadte_\d+$/)
      expect(
        fields.map(({ title, type, isDisplay, isSystem }) => [title, type, isDisplay, isSystem]),
      ).toEqual([
        ['Id', 'ID', false, false],
        ['CreatedAt', 'CreatedTime', false, true],
        ['UpdatedAt', 'LastModifiedTime', false, true],
        ['nc_created_by', 'CreatedBy', false, true],
        ['nc_updated_by', 'LastModifiedBy', false, true],
        ['nc_order', 'Order', false, true],
        ['Title', 'SingleLineText', true, false],
      ])
      expect(views).toHaveLength(1)
      expect(views[0]).toMatchObject({ title: table.title, kind: 'grid', isDefault: true, tableId: table.id })
      expect(views[0]?.fields.filter(({ show }) => show).map(({ fieldId }) => fieldId)).toEqual([
        fieldOf({ fields }, 'Title').id,
      ])
    })

    test('gives fields with the same title a suffix, and names in the database of their own', async () => {
      const schema = await createTable(shop, [
        { type: 'SingleLineText', title: 'Name' },
        { type: 'Number', title: 'name' },
        { type: 'Number', title: 'Id' },
        { type: 'SingleLineText', title: '日本' },
        { type: 'SingleLineText', title: '中国' },
      ])
      const own = schema.fields.filter((field) => !field.isSystem)
      expect(own.map((field) => field.title)).toEqual(['Id_1', 'Name', 'name_1', 'Id', '日本', '中国'])
      const columns = schema.fields.map((field) => field.columnName.toLowerCase())
      expect(new Set(columns).size).toBe(columns.length)
    })

    test('cuts no character in two where a long title gets a suffix', async () => {
      const title = `${'x'.repeat(252)}😀`
      const { fields } = await shop.api.schema.createTable.mutate({
        baseId: shop.baseId,
        title: 'Long titles',
        fields: [
          { title, type: 'Number' },
          { title, type: 'Number' },
        ],
      })
      const own = fields.filter((field) => !field.isSystem && !field.isPrimaryKey)
      expect(own.map((field) => field.title)).toEqual([title, `${'x'.repeat(252)}_1`])
    })

    test('never takes a name that the engine or the product keeps for itself', async () => {
      for (const title of ['sqlite_master', 'sheaf_changes', 'sqlite_sequence']) {
        const { table } = await createTable(shop, undefined, title)
        expect(table.tableName).toBe(`t_${title}`)
      }
    })

    test('gives one winner of ten who take a title at once', async () => {
      const title = freshTitle()
      const attempts = await Promise.allSettled(
        Array.from({ length: 10 }, () => createTable(shop, undefined, title)),
      )
      expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      expect((await titles()).filter((other) => other === title)).toHaveLength(1)
    })

    test('is for creators, and tells a stranger nothing', async () => {
      const { app, baseId } = shop
      const members = await createMemberOfEachRole(app, baseId)
      for (const role of ['no-access', 'viewer', 'commenter', 'editor'] as const) {
        const call = app.trpc(members[role].token).schema.createTable.mutate({ baseId, title: freshTitle() })
        expect((await refusalOf(call)).status).toBe(role === 'no-access' ? 401 : 403)
      }
      const stranger = await app.signUp(`stranger-${database}@example.com`)
      const call = app.trpc(stranger.token).schema.createTable.mutate({ baseId, title: freshTitle() })
      expect(await refusalOf(call)).toMatchObject({ status: 403, code: 'FORBIDDEN' })
      const made = await app
        .trpc(members.creator.token)
        .schema.createTable.mutate({ baseId, title: freshTitle() })
      expect(
        (await app.trpc(members.viewer.token).schema.table.query({ tableId: made.table.id })).table.id,
      ).toBe(made.table.id)
    })
  })

  describe('schema.updateTable', () => {
    test('renames, and keeps the name in the database', async () => {
      const { table } = await createTable(shop)
      const title = freshTitle('Renamed')
      const updated = await shop.api.schema.updateTable.mutate({
        tableId: table.id,
        title,
        description: ' Why ',
      })
      expect(updated).toMatchObject({ title, description: 'Why', tableName: table.tableName })
      expect(updated.version).toBeGreaterThan(table.version)
      const read = await shop.api.schema.table.query({ tableId: table.id })
      expect(read.table).toMatchObject({ title, version: updated.version })
    })

    test('may change the case of its own title, and refuses that of another', async () => {
      const one = await createTable(shop)
      const other = await createTable(shop)
      const { api } = shop
      const upper = one.table.title.toUpperCase()
      expect((await api.schema.updateTable.mutate({ tableId: one.table.id, title: upper })).title).toBe(upper)
      const call = api.schema.updateTable.mutate({ tableId: other.table.id, title: upper })
      expect(await refusalOf(call)).toMatchObject({ code: 'DUPLICATE_ALIAS' })
    })

    test('tells everyone by an event with the new version', async () => {
      const { table } = await createTable(shop)
      const seen: unknown[] = []
      const stop = shop.app.kernel.events.on('schema.changed', (event) => seen.push(event))
      const { version } = await shop.api.schema.updateTable.mutate({ tableId: table.id, title: freshTitle() })
      stop()
      expect(seen).toEqual([{ baseId: shop.baseId, tableId: table.id, version }])
    })
  })

  test('schema.reorderTable puts a table ahead of another, or last', async () => {
    const [a, b, c] = await Promise.all([createTable(shop), createTable(shop), createTable(shop)])
    const place = async () => {
      const all = (await shop.api.schema.tables.query({ baseId: shop.baseId })).map(({ id }) => id)
      return all.filter((id) => [a, b, c].some(({ table }) => table.id === id))
    }
    const [first, second, third] = await place()
    await shop.api.schema.reorderTable.mutate({ tableId: third!, before: first! })
    expect(await place()).toEqual([third!, first!, second!])
    await shop.api.schema.reorderTable.mutate({ tableId: first!, before: null })
    expect(await place()).toEqual([third!, second!, first!])
    const call = shop.api.schema.reorderTable.mutate({ tableId: first!, before: 'mxxxxxxxxxxxxxx' })
    expect(await refusalOf(call)).toMatchObject({ status: 404, code: 'TABLE_NOT_FOUND' })
  })

  test('schema.reorderTable makes room where a REST client has left none', async () => {
    const { rest, api, baseId } = shop
    const tables = await Promise.all([createTable(shop), createTable(shop), createTable(shop)])
    for (const { table } of tables)
      await rest.post(`/api/v2/meta/tables/${table.id}/reorder`, { order: 1000 })
    const own = new Set(tables.map(({ table }) => table.id))
    const place = async () =>
      (await api.schema.tables.query({ baseId })).map(({ id }) => id).filter((id) => own.has(id))
    const [first, second, third] = await place()
    await api.schema.reorderTable.mutate({ tableId: third!, before: second! })
    expect(await place()).toEqual([first!, third!, second!])
  })

  test('what changes nothing is not logged: undo takes back the action before it', async () => {
    const { api, baseId } = shop
    const schema = await createTable(shop)
    const [tableId, title] = [schema.table.id, schema.table.title]
    await api.schema.updateTable.mutate({ tableId, description: 'first' })
    await api.schema.updateTable.mutate({ tableId, title })
    await api.schema.updateField.mutate({ fieldId: fieldOf(schema, 'Title').id, patch: { title: 'Title' } })
    const view = schema.views[0]!
    await api.views.update.mutate({ viewId: view.id, patch: { frozen: view.frozen } })
    await api.views.arrange.mutate({ viewId: view.id, fields: [{ ...view.fields[0]! }] })
    await api.records.undo.mutate({ baseId })
    expect((await api.schema.table.query({ tableId })).table.description).toBeNull()
  })

  describe('schema.deleteTable and schema.restoreTable', () => {
    test('a table in the trash is gone for everyone, and comes back with its records', async () => {
      const { api, baseId } = shop
      const schema = await createTable(shop)
      await addRecords(shop, schema, [{ Title: 'Kept' }])
      const { id: tableId, title } = schema.table
      await api.schema.deleteTable.mutate({ tableId })
      expect(await refusalOf(api.schema.table.query({ tableId }))).toMatchObject({ status: 404 })
      expect(await refusalOf(api.schema.deleteTable.mutate({ tableId }))).toMatchObject({ status: 404 })
      expect(await titles()).not.toContain(title)
      const trash = await api.schema.tables.query({ baseId, trash: true })
      expect(trash.map((table) => table.id)).toContain(tableId)
      // Its title is free meanwhile; its name in the database is not.
      const successor = await createTable(shop, undefined, title)
      expect(successor.table.tableName).not.toBe(schema.table.tableName)
      expect((await api.schema.restoreTable.mutate({ tableId })).title).toBe(`${title}_1`)
      const page = await api.records.list.query({ query: { tableId, limit: 10, offset: 0 } })
      expect(page.ids).toHaveLength(1)
      expect(await refusalOf(api.schema.restoreTable.mutate({ tableId }))).toMatchObject({ status: 404 })
    })

    test('a viewer may not delete', async () => {
      const { table } = await createTable(shop)
      const viewer = await createMember(shop.app, shop.baseId, 'viewer')
      const call = shop.app.trpc(viewer.token).schema.deleteTable.mutate({ tableId: table.id })
      expect(await refusalOf(call)).toMatchObject({ status: 403, code: 'PERMISSION_DENIED' })
      expect(await titles()).toContain(table.title)
    })
  })

  test('undo takes back a rename, a delete and a creation, in that order', async () => {
    const { api, baseId } = shop
    const { table } = await createTable(shop)
    await api.schema.updateTable.mutate({ tableId: table.id, title: freshTitle('Other') })
    await api.records.undo.mutate({ baseId })
    expect((await api.schema.table.query({ tableId: table.id })).table.title).toBe(table.title)
    await api.schema.deleteTable.mutate({ tableId: table.id })
    await api.records.undo.mutate({ baseId })
    expect(await titles()).toContain(table.title)
    await api.records.undo.mutate({ baseId })
    expect(await titles()).not.toContain(table.title)
    await api.records.redo.mutate({ baseId })
    expect(await titles()).toContain(table.title)
  })

  test('a base in the trash takes its tables with it, and brings them back', async () => {
    const { api } = shop
    const base = await api.bases.create.mutate({ title: freshTitle('Base') })
    const { table } = await api.schema.createTable.mutate({ baseId: base.id, title: 'Inside' })
    await api.bases.delete.mutate({ baseId: base.id })
    expect((await refusalOf(api.schema.table.query({ tableId: table.id }))).status).toBe(404)
    await api.bases.restore.mutate({ baseId: base.id })
    expect((await api.schema.table.query({ tableId: table.id })).table.title).toBe('Inside')
  })
})
