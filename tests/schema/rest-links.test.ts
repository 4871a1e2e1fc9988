import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createTable, databases, freshTitle, openWorkshop, type Workshop } from './support.ts'

const M = '/api/v1/db/meta'
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+00:00$/)

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects of an answer
type Column = Record<string, any>

describe.each([...databases])('links over REST, metadata in %s', (database) => {
  let shop: Workshop
  beforeAll(async () => {
    shop = await openWorkshop(database)
  })
  afterAll(() => shop.app.stop())

  const newTable = async (word: string) => (await createTable(shop, undefined, `${freshTitle(word)}k`)).table
  const world = async () => ({ author: await newTable('Author'), book: await newTable('Book') })
  const get = async (tableId: string) => (await shop.rest.get(`${M}/tables/${tableId}`)).body
  const columnsOf = async (tableId: string): Promise<Column[]> => (await get(tableId)).columns
  const post = (tableId: string, column: Column) => shop.rest.post(`${M}/tables/${tableId}/columns`, column)
  const link = (type: string, parentId: string, childId: string, more: Column = {}) => ({
    title: 'Link',
    uidt: 'Links',
    parentId,
    childId,
    type,
    virtual: false,
    ...more,
  })
  const titled = (columns: Column[], title: string): Column => {
    const found = columns.find((column) => column.title === title)
    if (!found) throw new Error(`There is no column "${title}"`)
    return found
  }
  const keyOf = (columns: Column[]) => columns.find((column) => column.pk)!.id

  test('hm: a column with every key, the key in the child and its reverse', async () => {
    const { author, book } = await world()
    const answer = await post(author.id, link('hm', author.id, book.id, { title: 'Books' }))
    expect(answer).toMatchObject({ status: 200, body: { id: author.id } })
    const column = titled(answer.body.columns, 'Books')
    const child = await columnsOf(book.id)
    const [key, reverse] = [titled(child, `${author.tableName}_id`), titled(child, author.title)]
    expect(column).toEqual({
      id: column.id,
      source_id: author.sourceId,
      base_id: shop.baseId,
      fk_model_id: author.id,
      title: 'Books',
      column_name: null,
      uidt: 'Links',
      dt: null,
      np: null,
      ns: null,
      clen: null,
      cop: null,
      pk: null,
      pv: false,
      rqd: null,
      un: null,
      ct: null,
      ai: null,
      unique: null,
      cdf: null,
      cc: null,
      csn: null,
      dtx: null,
      dtxp: null,
      dtxs: null,
      au: null,
      validate: null,
      virtual: true,
      deleted: null,
      system: false,
      order: 8,
      created_at: TIME,
      updated_at: TIME,
      description: null,
      readonly: false,
      custom_index_name: null,
      meta: {
        singular: book.title,
        plural: `${book.title}s`,
        custom: false,
        defaultViewColOrder: expect.any(Number),
        defaultViewColVisibility: true,
      },
      colOptions: {
        virtual: true,
        id: expect.stringMatching(/^l[a-z0-9]{14}$/),
        ref_db_alias: null,
        type: 'hm',
        db_type: null,
        fk_column_id: column.id,
        fk_related_model_id: book.id,
        fk_child_column_id: key.id,
        fk_parent_column_id: keyOf(answer.body.columns),
        fk_mm_model_id: null,
        fk_mm_child_column_id: null,
        fk_mm_parent_column_id: null,
        ur: null,
        dr: null,
        fk_index_name: null,
        deleted: null,
        created_at: TIME,
        updated_at: TIME,
        fk_target_view_id: null,
        base_id: shop.baseId,
        fk_related_base_id: null,
        fk_mm_base_id: null,
        fk_related_source_id: null,
        fk_mm_source_id: null,
        rollup_function: 'count',
      },
    })
    expect(key).toMatchObject({
      uidt: 'ForeignKey',
      dt: database === 'postgres' ? 'int4' : 'integer',
      dtx: null,
      un: true,
      system: false,
      virtual: null,
      pk: false,
      column_name: key.title,
      meta: { defaultViewColVisibility: false },
    })
    expect('colOptions' in key).toBe(false)
    expect(reverse).toMatchObject({ uidt: 'LinkToAnotherRecord', virtual: true, column_name: null })
    expect(reverse.colOptions).toMatchObject({
      type: 'bt',
      fk_related_model_id: author.id,
      fk_column_id: reverse.id,
      fk_child_column_id: key.id,
      fk_parent_column_id: column.colOptions.fk_parent_column_id,
    })
    expect('rollup_function' in reverse.colOptions).toBe(false)
    expect(reverse.meta).toEqual({
      defaultViewColOrder: expect.any(Number),
      defaultViewColVisibility: true,
    })
    // Fetched by itself it says the same.
    const alone = (await shop.rest.get(`${M}/columns/${column.id}`)).body
    expect(alone.colOptions).toEqual(column.colOptions)
    expect(alone.meta).toEqual({ singular: book.title, plural: `${book.title}s`, custom: false })
  })

  test('bt: posted on the child', async () => {
    const { author, book } = await world()
    const { body } = await post(book.id, link('bt', author.id, book.id, { title: 'Writer' }))
    expect(body.id).toBe(book.id)
    expect(body.columns.slice(-2).map(({ uidt, title }: Column) => [uidt, title])).toEqual([
      ['ForeignKey', `${author.tableName}_id`],
      ['LinkToAnotherRecord', 'Writer'],
    ])
    const reverse = titled(await columnsOf(author.id), `${book.title}s`)
    expect(reverse).toMatchObject({ uidt: 'Links', colOptions: { type: 'hm', fk_related_model_id: book.id } })
  })

  test('mm: seen from both sides, its junction listed where it is asked for', async () => {
    const { author, book } = await world()
    const { body } = await post(book.id, link('mm', book.id, author.id, { title: 'Tags' }))
    const column = titled(body.columns, 'Tags')
    const other = await columnsOf(author.id)
    const reverse = titled(other, `${book.title}s`)
    const { fk_mm_model_id: junctionId } = column.colOptions
    const junction = await columnsOf(junctionId)
    const keys = junction.filter(({ uidt }) => uidt === 'ForeignKey').map(({ id }) => id)
    expect(column.colOptions).toMatchObject({
      type: 'mm',
      fk_related_model_id: author.id,
      fk_child_column_id: keyOf(body.columns),
      fk_parent_column_id: keyOf(other),
      fk_mm_child_column_id: keys[0],
      fk_mm_parent_column_id: keys[1],
    })
    expect(reverse.colOptions).toMatchObject({
      type: 'mm',
      fk_related_model_id: book.id,
      fk_mm_model_id: junctionId,
      fk_child_column_id: keyOf(other),
      fk_parent_column_id: keyOf(body.columns),
      fk_mm_child_column_id: keys[1],
      fk_mm_parent_column_id: keys[0],
    })
    const listed = async (query: string) =>
      (await shop.rest.get(`${M}/projects/${shop.baseId}/tables${query}`)).body.list.find(
        ({ id }: Column) => id === junctionId,
      )
    expect(await listed('')).toBeUndefined()
    expect(await listed('?includeM2M=false')).toBeUndefined()
    expect(await listed('?includeM2M=true')).toMatchObject({ mm: true })
  })

  test('oo, and a table with itself', async () => {
    const { author, book } = await world()
    const { body } = await post(author.id, link('oo', author.id, book.id))
    expect(titled(body.columns, 'Link')).toMatchObject({
      uidt: 'LinkToAnotherRecord',
      colOptions: { type: 'oo' },
    })
    const self = (await post(author.id, link('hm', author.id, author.id, { title: 'Pupils' }))).body
    const reverse = self.columns.find(({ system, virtual }: Column) => system && virtual)
    expect(reverse).toMatchObject({ uidt: 'LinkToAnotherRecord', colOptions: { type: 'bt' } })
  })

  test('what is missing is named, in order, and nothing is made', async () => {
    const { author, book } = await world()
    const whole: Column = link('hm', author.id, book.id)
    for (const key of ['parentId', 'childId', 'type']) {
      const answer = await post(author.id, { ...whole, [key]: undefined })
      expect(answer).toMatchObject({
        status: 400,
        body: { msg: `Missing '${key}' property in request body` },
      })
    }
    const wrong: [Column, number][] = [
      [link('xx', author.id, book.id), 400],
      [link('hm', book.id, book.id), 400],
      [link('hm', author.id, 'mnope0000000000'), 404],
      [link('hm', author.id, book.id, { title: 'Title' }), 422],
    ]
    for (const [column, status] of wrong) expect((await post(author.id, column)).status).toBe(status)
    expect(await columnsOf(author.id)).toHaveLength(7)
    expect(await columnsOf(book.id)).toHaveLength(7)
  })

  test('PATCH changes the title and meta of a link, and nothing else', async () => {
    const { author, book } = await world()
    const { body } = await post(author.id, link('hm', author.id, book.id))
    const column = titled(body.columns, 'Link')
    const patch = (change: Column) => shop.rest.patch(`${M}/columns/${column.id}`, change)
    const renamed = await patch({ ...column, title: 'Works', meta: { plural: 'Works', mine: 1 } })
    expect(titled(renamed.body.columns, 'Works')).toMatchObject({
      meta: { plural: 'Works', singular: book.title, custom: false, mine: 1 },
      colOptions: column.colOptions && { ...column.colOptions, updated_at: TIME },
    })
    expect(await patch({ uidt: 'SingleLineText' })).toMatchObject({
      status: 501,
      body: {
        error: 'NOT_IMPLEMENTED',
        message: 'Updating Links => SingleLineText is not implemented',
      },
    })
  })

  test('DELETE takes the partner and the junction table', async () => {
    const { author, book } = await world()
    const { body } = await post(author.id, link('mm', author.id, book.id))
    const column = titled(body.columns, 'Link')
    const answer = await shop.rest.delete(`${M}/columns/${column.id}`)
    expect(answer.body.columns).toHaveLength(7)
    expect(await columnsOf(book.id)).toHaveLength(7)
    expect((await shop.rest.get(`${M}/tables/${column.colOptions.fk_mm_model_id}`)).status).toBe(404)
  })

  describe('lookups, rollups and counts', () => {
    async function linked() {
      const { author, book } = await world()
      const { body } = await post(author.id, link('hm', author.id, book.id, { title: 'Books' }))
      const price = await post(book.id, { title: 'Price', uidt: 'Decimal' })
      const relation = titled(body.columns, 'Books').id as string
      return { author, book, relation, price: titled(price.body.columns, 'Price').id as string }
    }

    test('a lookup has its options under the names that clients know', async () => {
      const { author, relation, price } = await linked()
      const sent = {
        title: 'Prices',
        uidt: 'Lookup',
        fk_relation_column_id: relation,
        fk_lookup_column_id: price,
      }
      const column = titled((await post(author.id, sent)).body.columns, 'Prices')
      expect(column).toMatchObject({
        column_name: 'Prices',
        uidt: 'Lookup',
        dt: null,
        virtual: null,
        system: false,
        rqd: null,
        colOptions: {
          id: expect.stringMatching(/^lk[a-z0-9]{14}$/),
          fk_column_id: column.id,
          deleted: null,
          fk_relation_column_id: relation,
          fk_lookup_column_id: price,
          base_id: shop.baseId,
          created_at: TIME,
          updated_at: TIME,
        },
      })
    })

    test('a rollup too, and PATCH changes its function', async () => {
      const { author, relation, price } = await linked()
      const sent = {
        title: 'Total',
        uidt: 'Rollup',
        fk_relation_column_id: relation,
        fk_rollup_column_id: price,
        rollup_function: 'sum',
      }
      const column = titled((await post(author.id, sent)).body.columns, 'Total')
      expect(column.colOptions).toEqual({
        id: expect.stringMatching(/^rl[a-z0-9]{14}$/),
        fk_column_id: column.id,
        deleted: null,
        fk_relation_column_id: relation,
        fk_rollup_column_id: price,
        rollup_function: 'sum',
        created_at: TIME,
        updated_at: TIME,
        base_id: shop.baseId,
      })
      const patched = await shop.rest.patch(`${M}/columns/${column.id}`, {
        ...column,
        rollup_function: 'max',
      })
      expect(titled(patched.body.columns, 'Total').colOptions.rollup_function).toBe('max')
      // A deleted column leaves it standing, and it says what it misses.
      await shop.rest.delete(`${M}/columns/${price}`)
      const broken = titled(await columnsOf(author.id), 'Total')
      expect(broken.colOptions).toMatchObject({ error: "Column 'Price' was deleted", rollup_function: 'max' })
    })

    test('a count', async () => {
      const { author, relation } = await linked()
      const sent = { title: 'Number', uidt: 'Count', fk_relation_column_id: relation }
      const column = titled((await post(author.id, sent)).body.columns, 'Number')
      expect(column).toMatchObject({ dt: null, colOptions: { fk_relation_column_id: relation } })
    })

    test('refuses in the words that clients know', async () => {
      const { author, book, relation, price } = await linked()
      const title = titled(await columnsOf(author.id), 'Title').id
      const parent = titled(await columnsOf(book.id), author.title).id
      const lookup = { uidt: 'Lookup', fk_relation_column_id: relation, fk_lookup_column_id: price }
      const rollup = {
        uidt: 'Rollup',
        fk_relation_column_id: relation,
        fk_rollup_column_id: price,
        rollup_function: 'sum',
      }
      const cases: [Column, string][] = [
        [{ uidt: 'Lookup' }, "Missing 'fk_relation_column_id' property in request body"],
        [{ ...lookup, fk_lookup_column_id: '' }, "Missing 'fk_lookup_column_id' property in request body"],
        [{ ...rollup, fk_rollup_column_id: null }, "Missing 'fk_rollup_column_id' property in request body"],
        [{ ...rollup, rollup_function: undefined }, "Missing 'rollup_function' property in request body"],
        [{ uidt: 'Count' }, "Missing 'fk_relation_column_id' property in request body"],
        [{ ...lookup, fk_relation_column_id: title }, 'Relation column not found'],
        [{ ...lookup, fk_lookup_column_id: title }, 'Lookup column not found in related table'],
        [{ ...rollup, fk_rollup_column_id: title }, 'Rollup column not found in related table'],
        [{ ...rollup, rollup_function: 'nope' }, 'Rollup function (nope) not available for type (Decimal)'],
        [
          { ...rollup, fk_rollup_column_id: titled(await columnsOf(book.id), 'Title').id },
          'Rollup function (sum) not available for type (SingleLineText)',
        ],
      ]
      for (const [column, msg] of cases) {
        expect(await post(author.id, { title: freshTitle('X'), ...column })).toMatchObject({
          status: 400,
          body: { msg },
        })
      }
      const overOne = { ...rollup, title: 'X', fk_relation_column_id: parent, fk_rollup_column_id: title }
      expect((await post(book.id, { ...overOne, rollup_function: 'count' })).status).toBe(400)
      expect(await columnsOf(author.id)).toHaveLength(8)
    })
  })
})
