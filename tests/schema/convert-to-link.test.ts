import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readLinks } from '../../src/core/fields/list-value.ts'
import { createMember } from '../support/factories.ts'
import {
  addRecords,
  createField,
  createLink,
  createTable,
  databases,
  fieldOf,
  openWorkshop,
  readTable,
  refusalOf,
  setValue,
  valuesOf,
  type Workshop,
} from './support.ts'

describe.each([...databases])('a field that becomes a link, metadata in %s', (database) => {
  let shop: Workshop
  beforeAll(async () => {
    shop = await openWorkshop(database)
  })
  afterAll(() => shop.app.stop())

  /** Books with the names of their authors as text. */
  async function world() {
    const authors = await createTable(shop)
    await addRecords(shop, authors, [
      { Title: 'Ann' },
      { Title: 'Bob' },
      { Title: 'Ann' },
      { Title: 'Eve, jr.' },
    ])
    const books = await createTable(shop, [
      { type: 'SingleLineText', title: 'Name' },
      { type: 'SingleLineText', title: 'By' },
    ])
    const texts = ['Ann', 'Bob', null, 'Nobody', 'Ann, Bob', 'Eve, jr.', ' Bob ', 'Bob, Nobody']
    const ids = await addRecords(
      shop,
      books,
      texts.map((By, index) => ({ Name: `Book ${index}`, By })),
    )
    const relatedTableId = authors.table.id
    return { authors, books, by: fieldOf(books, 'By'), ids, texts, relatedTableId }
  }
  type World = Awaited<ReturnType<typeof world>>
  const become = ({ by, relatedTableId }: World, kind: 'bt' | 'mm' | 'hm') => {
    const patch = { type: 'Links' as const, options: { kind, relatedTableId } }
    return shop.api.schema.updateField.mutate({ fieldId: by.id, patch })
  }
  const titlesOf = async ({ by }: World) =>
    (await valuesOf(shop, by)).map((value) => readLinks(value).records.map(({ title }) => title))
  const undo = () => shop.api.records.undo.mutate({ baseId: shop.baseId })
  const redo = () => shop.api.records.redo.mutate({ baseId: shop.baseId })

  test.each([
    ['bt' as const, [['Ann'], ['Bob'], [], [], [], ['Eve, jr.'], ['Bob'], []], 3],
    ['mm' as const, [['Ann'], ['Bob'], [], [], ['Ann', 'Bob'], ['Eve, jr.'], ['Bob'], ['Bob']], 2],
  ])('%s: links the records that its values name, by undo gets them back', async (kind, links, lost) => {
    const made = await world()
    const { by, books, authors, texts, relatedTableId } = made
    const preview = await shop.api.schema.previewType.query({
      fieldId: by.id,
      type: 'Links',
      options: { kind, relatedTableId },
    })
    expect([preview.total, preview.converted, preview.lost]).toEqual([7, 7 - lost, lost])
    expect(preview.samples[0]).toMatchObject({ from: 'Nobody', to: null })
    const field = await become(made, kind)
    expect(field).toMatchObject({
      id: by.id,
      title: 'By',
      columnName: '',
      type: kind === 'bt' ? 'LinkToAnotherRecord' : 'Links',
    })
    expect(await titlesOf(made)).toEqual(links)
    const reverse = (await readTable(shop, authors.table.id)).fields.at(-1)!
    expect((await valuesOf(shop, reverse)).map((value) => readLinks(value).count)).toEqual(
      kind === 'bt' ? [1, 2, 0, 1] : [2, 4, 0, 1],
    )
    const before = (await readTable(shop, books.table.id)).fields
    await undo()
    expect(await valuesOf(shop, by)).toEqual(texts)
    expect((await readTable(shop, authors.table.id)).fields).toHaveLength(7)
    expect((await readTable(shop, books.table.id)).fields).toEqual(books.fields)
    await redo()
    expect(await titlesOf(made)).toEqual(links)
    expect((await readTable(shop, books.table.id)).fields).toEqual(before)
  })

  test('finds records by days and times in the zone of whoever converts it, and so does its undo', async () => {
    const meetings = await createTable(shop, [{ type: 'DateTime', title: 'At' }])
    await addRecords(shop, meetings, [{ At: '2024-03-05 23:30:00+00:00' }])
    const notes = await createTable(shop, [
      { type: 'SingleLineText', title: 'Name' },
      { type: 'SingleLineText', title: 'Text' },
      { type: 'DateTime', title: 'Moment' },
    ])
    await addRecords(shop, notes, [
      { Name: 'a', Text: '2024-03-05 18:30', Moment: '2024-03-05 23:30:00+00:00' },
    ])
    const asked = {
      type: 'Links' as const,
      options: { kind: 'bt' as const, relatedTableId: meetings.table.id },
    }
    const timeZone = 'America/New_York'
    for (const title of ['Text', 'Moment']) {
      const field = fieldOf(notes, title)
      const linked = async () =>
        readLinks((await valuesOf(shop, field))[0] ?? null).records.map(({ id }) => id)
      const preview = await shop.api.schema.previewType.query({ fieldId: field.id, ...asked, timeZone })
      expect([preview.converted, preview.lost]).toEqual([1, 0])
      await shop.api.schema.updateField.mutate({ fieldId: field.id, patch: asked, timeZone })
      expect(await linked()).toEqual([1])
      await undo()
      await redo()
      expect(await linked()).toEqual([1])
    }
  })

  test('its undo is refused once somebody else has linked something', async () => {
    const made = await world()
    const link = await become(made, 'mm')
    const member = await createMember(shop.app, shop.baseId, 'editor')
    const theirs = { ...shop, api: shop.app.trpc(member.token) }
    await setValue(theirs, link, made.ids[2]!, '[2]')
    expect(await refusalOf(undo())).toMatchObject({
      status: 409,
      message: expect.stringContaining('was edited after it became a link'),
    })
    expect((await titlesOf(made))[2]).toEqual(['Bob'])
    await theirs.api.records.undo.mutate({ baseId: shop.baseId })
    await undo()
    expect(await valuesOf(shop, made.by)).toEqual(made.texts)
  })

  test('after its undo the other end does not come back alone', async () => {
    const made = await world()
    await become(made, 'bt')
    const reverse = (await readTable(shop, made.relatedTableId)).fields.at(-1)!
    await undo()
    expect((await refusalOf(shop.api.schema.restoreField.mutate({ fieldId: reverse.id }))).status).toBe(409)
  })

  test('what is computed from it says so when it no longer suits', async () => {
    const made = await world()
    const { by, authors } = made
    const link = await createLink(shop, authors.table.id, by.tableId, { kind: 'mm', title: 'Related' })
    const options = { relationFieldId: link.id, targetFieldId: by.id }
    const lookup = await createField(shop, authors.table.id, { type: 'Lookup', options })
    expect(lookup.result).toMatchObject({ type: 'SingleLineText' })
    await become(made, 'mm')
    const now = (await readTable(shop, authors.table.id)).fields.find(({ id }) => id === lookup.id)
    expect(now).toMatchObject({ error: null, result: { isList: true } })
  })

  test('refuses other relations, the display field and tables without stored names', async () => {
    const made = await world()
    expect((await refusalOf(become(made, 'hm'))).status).toBe(400)
    const name = { ...made, by: fieldOf(made.books, 'Name') }
    expect((await refusalOf(become(name, 'mm'))).message).toContain('is the display field')
    expect((await refusalOf(become({ ...made, relatedTableId: 'mnope0000000000' }, 'bt'))).status).toBe(404)
    const patch = { type: 'Links' as const }
    expect(await refusalOf(shop.api.schema.updateField.mutate({ fieldId: made.by.id, patch }))).toMatchObject(
      { status: 501, message: 'Updating SingleLineText => Links is not implemented' },
    )
    expect((await readTable(shop, made.books.table.id)).fields).toEqual(made.books.fields)
  })
})
