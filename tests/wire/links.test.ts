import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createLink, linkedIds, type TestLink } from '../records/links-support.ts'
import { type Bench, createBench, type TestTable } from '../records/support.ts'

describe('links over REST', () => {
  let bench: Bench
  let books: TestTable
  let tags: TestTable
  let authors: TestTable
  let tagged: TestLink
  let written: TestLink
  beforeAll(async () => {
    bench = await createBench()
    books = await bench.table({ Title: 'SingleLineText', Pages: 'Number' }, [
      { Title: 'Hobbit', Pages: 300 },
      { Title: 'Dune', Pages: 600 },
    ])
    tags = await bench.table(
      undefined,
      ['fantasy', 'sf', 'old'].map((Title) => ({ Title })),
    )
    authors = await bench.table(
      undefined,
      ['Tolkien', 'Herbert'].map((Title) => ({ Title })),
    )
    tagged = await createLink(bench, books, tags, 'mm', { title: 'Tags' })
    written = await createLink(bench, authors, books, 'hm', { title: 'Books' })
  })
  afterAll(() => bench.stop())

  const v2 = (link: { tableId: string; fieldId: string }, id: number | string) =>
    `/api/v2/tables/${link.tableId}/links/${link.fieldId}/records/${id}`
  const v1 = (table: TestTable, rest: string) =>
    `/api/v1/db/data/noco/${bench.baseId}/${encodeURIComponent(table.title)}/${rest}`

  describe('/api/v2/tables/{tableId}/links/{linkFieldId}/records/{recordId}', () => {
    test('POST links by objects, one object or bare ids, and again without harm', async () => {
      const { rest } = bench
      for (const body of [[{ Id: 1 }], { Id: 2 }, [1]]) {
        const answer = await rest.post(v2(tagged.own, 1), body)
        expect([answer.status, answer.body]).toEqual([201, true])
        expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
      }
      const { status, body } = await rest.get(v2(tagged.own, 1))
      expect([status, body]).toEqual([
        200,
        {
          list: [
            { Id: 1, Title: 'fantasy' },
            { Id: 2, Title: 'sf' },
          ],
          pageInfo: { totalRows: 2, page: 1, pageSize: 25, isFirstPage: true, isLastPage: true },
        },
      ])
      expect(await linkedIds(bench, tagged.inverse, 2)).toEqual([1])
    })

    test('GET heeds fields, where and limit, and passes over a where that cannot be read', async () => {
      const { rest } = bench
      const list = async (query: string) => (await rest.get(v2(tagged.own, 1) + query)).body.list
      expect(await list('?fields=Title&limit=1')).toEqual([{ Title: 'fantasy' }])
      expect(await list('?where=(Title,eq,sf)')).toEqual([{ Id: 2, Title: 'sf' }])
      expect(await list('?where=(Nope,eq,sf)')).toHaveLength(2)
      expect(await list('?fields=Nope')).toEqual([{}, {}])
      const far = await rest.get(`${v2(tagged.own, 1)}?offset=9`)
      expect([far.status, far.body.error]).toEqual([422, 'INVALID_OFFSET_VALUE'])
    })

    test('GET of a single link gives the record, or an empty object', async () => {
      const { rest } = bench
      expect((await rest.get(v2(written.inverse, 1))).body).toEqual({})
      await rest.post(v2(written.inverse, 1), [1, 2])
      expect((await rest.get(v2(written.inverse, 1))).body).toEqual({ Id: 2, Title: 'Herbert' })
      expect((await rest.get(v2(written.own, 2))).body.list).toEqual([{ Id: 1, Title: 'Hobbit' }])
    })

    test('DELETE unlinks, and what is not linked without harm', async () => {
      const { rest } = bench
      for (const _ of [1, 2]) {
        const { status, body } = await rest.delete(v2(tagged.own, 1), [{ Id: 2 }])
        expect([status, body]).toEqual([200, true])
      }
      expect(await linkedIds(bench, tagged.own, 1)).toEqual([1])
    })

    test('refuses what is not there, what is no link, and records without their key', async () => {
      const { rest } = bench
      const said = async (call: Promise<{ status: number; body: object }>) => {
        const { status, body } = await call
        return [status, body]
      }
      const gone = { error: 'RECORD_NOT_FOUND', message: `Record '{"Id":99}' not found` }
      expect(await said(rest.post(v2(tagged.own, 1), [{ Id: 99 }]))).toMatchObject([404, gone])
      expect(await said(rest.delete(v2(tagged.own, 1), [{ Id: 99 }]))).toMatchObject([404, gone])
      const several = { message: `Records '{"Id":98}', '{"Id":99}' not found` }
      expect(await said(rest.post(v2(tagged.own, 1), [98, 99]))).toMatchObject([404, several])
      expect(await said(rest.post(v2(tagged.own, 77), [1]))).toMatchObject([
        404,
        { error: 'RECORD_NOT_FOUND' },
      ])
      expect(await said(rest.get(v2(tagged.own, 77)))).toMatchObject([
        404,
        { message: "Record '77' not found" },
      ])
      const text = { tableId: books.id, fieldId: books.field('Title').id }
      expect(await said(rest.get(v2(text, 1)))).toEqual([400, { msg: 'Column is not LTAR' }])
      const nothing = { tableId: books.id, fieldId: 'Tags' }
      expect(await said(rest.get(v2(nothing, 1)))).toMatchObject([404, { error: 'FIELD_NOT_FOUND' }])
      expect(await said(rest.post(v2(tagged.own, 1), [{}]))).toEqual([
        422,
        {
          msg: `Validation failed: Missing primary key column "Id" in request for model "${tags.title}". RefId: {}`,
        },
      ])
    })

    test('POST /records gives one record the links of another', async () => {
      const { rest } = bench
      await tagged.set(1, [1, 2])
      await tagged.set(2, [3])
      const answer = await rest.post(
        `/api/v2/tables/${books.id}/links/${tagged.own.fieldId}/records`,
        ['copy', 'paste'].map((operation, index) => ({
          operation,
          rowId: String(index + 1),
          columnId: tagged.own.fieldId,
          fk_related_model_id: tags.id,
        })),
      )
      expect([answer.status, answer.body]).toEqual([201, { link: ['1', '2'], unlink: ['3'] }])
      expect(await linkedIds(bench, tagged.own, 2)).toEqual([1, 2])
      const odd = ['copy', 'paste'].map((operation) => ({ operation, rowId: { toString: 1 } }))
      const path = `/api/v2/tables/${books.id}/links/${tagged.own.fieldId}/records`
      expect((await rest.post(path, odd)).body.error).toBe('INVALID_PK_VALUE')
    })
  })

  describe('/api/v1/db/data/{orgs}/{base}/{table}/{id}/{relation}/{column}', () => {
    test('lists whole linked rows, and those that can be linked', async () => {
      const { rest } = bench
      await written.set(1, [1])
      const linked = await rest.get(v1(authors, '1/hm/Books?where=(Title,like,obb)'))
      expect([linked.status, linked.body.list]).toMatchObject([200, [{ Id: 1, Title: 'Hobbit', Pages: 300 }]])
      expect(linked.body.pageInfo.totalRows).toBe(1)
      const free = await rest.get(v1(authors, `1/hm/${written.own.fieldId}/exclude`))
      expect(free.body.list).toMatchObject([{ Id: 2, Title: 'Dune' }])
      const single = await rest.get(v1(books, `1/bt/${written.inverse.fieldId}/exclude`))
      expect(single.body.list).toMatchObject([{ Id: 2, Title: 'Herbert' }])
    })

    test('adds and removes one, by title or id, whatever the relation of the path', async () => {
      const { rest } = bench
      await tagged.set(1, [])
      const added = await rest.post(v1(books, '1/hm/Tags/3'))
      expect([added.status, added.body]).toEqual([
        200,
        { msg: 'The relation data has been created successfully' },
      ])
      for (const _ of [1, 2]) {
        const removed = await rest.delete(v1(books, `views/${encodeURIComponent(books.title)}/1/mm/Tags/3`))
        expect([removed.status, removed.body]).toEqual([
          200,
          { msg: 'The relation data has been deleted successfully' },
        ])
      }
    })

    test('refuses doubles, missing rows, other relations and unknown columns', async () => {
      const { rest } = bench
      await tagged.set(1, [3])
      const double = await rest.post(v1(books, '1/mm/Tags/3'))
      expect([double.status, double.body]).toEqual([
        400,
        { error: 'DATABASE_ERROR', message: 'This record already exists.' },
      ])
      const missing = await rest.post(v1(books, '1/mm/Tags/99'))
      expect([missing.status, missing.body.error]).toEqual([400, 'DATABASE_ERROR'])
      const unknown = await rest.post(v1(books, '1/mm/Nope/1'))
      expect([unknown.status, unknown.body.error]).toEqual([404, 'FIELD_NOT_FOUND'])
      expect((await rest.get(v1(books, '1/hm/Tags'))).status).toBe(400)
      const listed = await rest.get(v1(books, `1/bt/${written.inverse.fieldId}`))
      expect([listed.status, listed.body.msg]).toMatchObject([
        404,
        expect.stringMatching(/^Cannot GET \/api/),
      ])
    })
  })

  describe('records with links', () => {
    test('POST takes links inline and the key itself, PATCH passes over links', async () => {
      const { rest } = bench
      const author = written.inverse.title
      const made = await rest.post(books.path, { Title: 'New', Tags: [{ Id: 1 }, 2], [author]: { Id: 2 } })
      expect(made.status).toBe(200)
      const { Id: id } = made.body
      expect(await linkedIds(bench, tagged.own, id)).toEqual([1, 2])
      expect(await linkedIds(bench, written.inverse, id)).toEqual([2])
      for (const patch of [
        () => rest.patch(books.path, { Id: id, Tags: [{ Id: 3 }], [author]: { Id: 1 }, Pages: 7 }),
        () => rest.patch(v1(books, String(id)), { Tags: [{ Id: 3 }], [author]: null, Pages: 8 }),
      ]) {
        expect((await patch()).status).toBe(200)
        expect(await linkedIds(bench, tagged.own, id)).toEqual([1, 2])
        expect(await linkedIds(bench, written.inverse, id)).toEqual([2])
      }
      const keyField = books.schema && (await bench.trpc.schema.table.query({ tableId: books.id }))
      const key =
        keyField.fields.find((field) => field.id === written.inverse.options.keyFieldId)?.title ?? ''
      const byKey = await rest.post(v1(books, ''), { Title: 'Key', [key]: 1 })
      expect(await linkedIds(bench, written.inverse, byKey.body.Id)).toEqual([1])
      const refused = await rest.post(books.path, { Title: 'Key', [key]: 99 })
      expect([refused.status, refused.body.error]).toEqual([422, 'INVALID_VALUE_FOR_FIELD'])
      const missing = await rest.post(books.path, { Title: 'No', Tags: [{ Id: 99 }] })
      expect([missing.status, missing.body.message]).toEqual([404, `Record '{"Id":99}' not found`])
    })

    test('upserts take links inline for the records that they add', async () => {
      const { rest } = bench
      const path = `/api/v1/db/data/bulk/noco/${bench.baseId}/${encodeURIComponent(books.title)}/upsert`
      const { status, body } = await rest.post(path, [
        { Id: 1, Tags: [] },
        { Title: 'Upserted', Tags: [2] },
      ])
      expect(status).toBe(201)
      expect(await linkedIds(bench, tagged.own, body[1].Id)).toEqual([2])
    })

    test('POST of what was read before makes no links of a number', async () => {
      const { rest } = bench
      const { body } = await rest.post(books.path, { Title: 'Copied', Tags: 2 })
      expect(await linkedIds(bench, tagged.own, body.Id)).toEqual([])
    })

    test('DELETE takes the links of a record along', async () => {
      const { rest } = bench
      const { body } = await rest.post(books.path, { Title: 'Gone', Tags: [3] })
      expect(await linkedIds(bench, tagged.inverse, 3)).toContain(body.Id)
      await rest.delete(books.path, { Id: body.Id })
      expect(await linkedIds(bench, tagged.inverse, 3)).not.toContain(body.Id)
    })
  })

  test('the OpenAPI documents list the link calls, each of which is there', async () => {
    const meta = { v1: `/api/v1/db/meta/projects/${bench.baseId}`, v2: `/api/v2/meta/bases/${bench.baseId}` }
    for (const generation of ['v1', 'v2'] as const) {
      const { body } = await bench.rest.get(`${meta[generation]}/swagger.json`)
      const found = Object.entries(
        body.paths as Record<string, Record<string, { operationId: string }>>,
      ).filter(([path]) => /\/(links|hm|bt|mm)\//.test(path))
      const ids = found.flatMap(([, methods]) => Object.values(methods).map(({ operationId }) => operationId))
      expect(new Set(ids).size).toBe(ids.length)
      const gets = found.filter(([, methods]) => methods.get)
      // Two links with two sides each; v1 lists those of many, and what can be linked of all.
      expect([generation, gets.length, found.length]).toEqual([
        generation,
        ...(generation === 'v1' ? [7, 11] : [4, 4]),
      ])
      for (const [path] of gets) {
        const filled = path.replace(/\{(rowId|recordId)\}/, '1')
        expect([path, (await bench.rest.get(filled)).status]).toEqual([path, 200])
      }
    }
  })
})
