import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createMember } from '../support/factories.ts'
import { createTable, databases, freshTitle, openWorkshop, type Workshop } from './support.ts'

const M = '/api/v1/db/meta'

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects of an answer
type Column = Record<string, any>

describe.each([...databases])('PATCH of a column of texts to a link, metadata in %s', (database) => {
  let shop: Workshop
  beforeAll(async () => {
    shop = await openWorkshop(database)
  })
  afterAll(() => shop.app.stop())

  const newTable = async (word: string) => (await createTable(shop, undefined, `${freshTitle(word)}k`)).table
  const world = async () => ({ author: await newTable('Author'), book: await newTable('Book') })
  const columnsOf = async (tableId: string): Promise<Column[]> =>
    (await shop.rest.get(`${M}/tables/${tableId}`)).body.columns
  const post = (tableId: string, column: Column) => shop.rest.post(`${M}/tables/${tableId}/columns`, column)
  const link = (type: string, parentId: string, childId: string): Column => ({
    uidt: 'Links',
    parentId,
    childId,
    type,
    virtual: false,
  })
  const titled = (columns: Column[], title: string): Column => {
    const found = columns.find((column) => column.title === title)
    if (!found) throw new Error(`There is no column "${title}"`)
    return found
  }

  /** Books that name their authors, and a key that is no text. */
  async function named() {
    const { author, book } = await world()
    const by = titled((await post(book.id, { title: 'By', uidt: 'SingleLineText' })).body.columns, 'By')
    const add = (tableId: string, rows: Column[]) => shop.rest.post(`/api/v2/tables/${tableId}/records`, rows)
    await add(author.id, [{ Title: 'Ann' }, { Title: 'Bob' }])
    const texts = ['Bob', 'Ann, Bob', 'Nobody', null]
    await add(
      book.id,
      texts.map((By, index) => ({ Title: `${index}`, By })),
    )
    const valuesIn = async () =>
      (await shop.rest.get(`/api/v2/tables/${book.id}/records`)).body.list.map((row: Column) => row.By)
    const patch = (change: Column, id = by.id) => shop.rest.patch(`${M}/columns/${id}`, change)
    return { author, book, by, texts, patch, valuesIn }
  }

  test('refuses what it cannot become, and changes nothing', async () => {
    const { author, book, by, texts, patch, valuesIn } = await named()
    const mm = link('mm', book.id, author.id)
    const elsewhere = link('mm', book.id, 'mnope0000000000')
    for (const [change, status, said] of [
      [{ uidt: 'Links', parentId: book.id }, 400, "Missing 'childId' property in request body"],
      [{ uidt: 'Links', type: 'mm' }, 400, "Missing 'parentId' property in request body"],
      [link('hm', book.id, author.id), 400, 'a belongs-to (bt) or many-to-many (mm) link'],
      [link('oo', book.id, author.id), 400, 'a belongs-to (bt) or many-to-many (mm) link'],
      [link('xx', book.id, author.id), 400, 'must be hm, bt, mm or oo'],
      [link('bt', book.id, author.id), 400, "the 'childId' of a bt"],
      [link('mm', author.id, author.id), 400, 'must be the table itself'],
      [elsewhere, 404, "Table 'mnope0000000000' not found"],
      [{ uidt: 'Links' }, 501, 'Updating SingleLineText => Links is not implemented'],
    ] as const) {
      const { status: got, body } = await patch(change)
      expect([change, got, body.msg ?? body.message]).toEqual([change, status, expect.stringContaining(said)])
    }
    const display = titled(await columnsOf(book.id), 'Title')
    const { status, body } = await patch(mm, display.id)
    expect([status, body.msg]).toEqual([400, expect.stringContaining('is the display field')])
    const editor = shop.app.rest((await createMember(shop.app, shop.baseId, 'editor')).token)
    expect((await editor.patch(`${M}/columns/${by.id}`, mm)).status).toBe(403)
    expect(await valuesIn()).toEqual(texts)
    expect(await columnsOf(book.id)).toHaveLength(8)
    expect(await columnsOf(author.id)).toHaveLength(7)
  })

  test('refuses records that are named by what is worked out', async () => {
    const { author, book, patch } = await named()
    const formula = { title: 'Name', uidt: 'Formula', formula_raw: '{Title}' }
    const name = titled((await post(author.id, formula)).body.columns, 'Name')
    expect((await shop.rest.post(`${M}/columns/${name.id}/primary`)).status).toBe(200)
    const { status, body } = await patch(link('mm', book.id, author.id))
    expect([status, body.msg]).toEqual([400, expect.stringContaining('Name')])
  })

  test('makes it a link to the records that are named, with one undo', async () => {
    const { author, book, by, texts, patch, valuesIn } = await named()
    const meta = { singular: 'Writer', plural: 'Writers', mine: 1 }
    const answer = await patch({ ...link('mm', book.id, author.id), title: 'By', meta })
    expect([answer.status, answer.body.id]).toEqual([200, book.id])
    expect(titled(answer.body.columns, 'By')).toMatchObject({
      id: by.id,
      uidt: 'Links',
      dt: null,
      meta,
      colOptions: { type: 'mm', fk_related_model_id: author.id },
    })
    expect(await valuesIn()).toEqual([1, 2, 0, 0])
    expect((await columnsOf(author.id)).at(-1)).toMatchObject({ uidt: 'Links' })
    await shop.api.records.undo.mutate({ baseId: shop.baseId })
    expect(await valuesIn()).toEqual(texts)
  })

  test('makes it a link to one record, in a list of operations too', async () => {
    const { author, book, by, valuesIn } = await named()
    const column = { ...link('bt', author.id, book.id), uidt: 'LinkToAnotherRecord', id: by.id }
    const { hash } = (await shop.rest.get(`${M}/tables/${book.id}/columns/hash`)).body
    const ops = [{ op: 'update', column }]
    const { body } = await shop.rest.post(`${M}/tables/${book.id}/columns/bulk`, { hash, ops })
    expect(body.failedOps).toEqual([])
    expect(titled(await columnsOf(book.id), 'By')).toMatchObject({ colOptions: { type: 'bt' } })
    expect((await valuesIn()).map((row: Column | null) => row?.Title ?? null)).toEqual([
      'Bob',
      null,
      null,
      null,
    ])
  })
})
