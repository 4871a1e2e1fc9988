import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Bench, changesNothing, createBench } from './support.ts'

let bench: Bench
beforeAll(async () => {
  bench = await createBench()
})
afterAll(() => bench.stop())

const v1 = (table: { id: string }, rest = '') => `/api/v1/db/data/noco/${bench.baseId}/${table.id}${rest}`
const v1Bulk = (table: { id: string }, rest = '') =>
  `/api/v1/db/data/bulk/noco/${bench.baseId}/${table.id}${rest}`

describe('PATCH /api/v2/tables/{tableId}/records', () => {
  test('changes only the values that are named, and says when and by whom', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Num: 'Number', By: 'LastModifiedBy' }, [
      { Title: 'a', Num: 1 },
    ])
    expect((await bench.rest.patch(table.path, { Id: 1, Num: 2 })).body).toEqual({ Id: 1 })
    const [row] = await table.list()
    expect(row).toMatchObject({ Title: 'a', Num: 2, By: { id: bench.owner.id, email: bench.owner.email } })
    expect(row?.UpdatedAt).toMatch(/^\d{4}/)
    expect((await bench.rest.put(table.path, { Id: 1, Num: 3 })).body).toEqual({ Id: 1 })
    expect((await table.list())[0]?.Num).toBe(3)
  })

  test('takes the record twice: the last value stands', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Num: 'Number' }, [{ Title: 'a', Num: 1 }])
    const { status, body } = await bench.rest.patch(table.path, [
      { Id: 1, Title: 'b' },
      { Id: 1, Title: 'c', Num: 2 },
    ])
    expect([status, body]).toEqual([200, [{ Id: 1 }, { Id: 1 }]])
    expect((await table.list())[0]).toMatchObject({ Title: 'c', Num: 2 })
    await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
    expect((await table.list())[0]).toMatchObject({ Title: 'a', Num: 1 })
  })

  test('fails whole where a record is missing, its id is none, or no id is given', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }, { Title: 'b' }])
    await changesNothing(bench, async () => {
      const ask = async (body: unknown) => {
        const answer = await bench.rest.patch(table.path, body)
        return [answer.status, answer.body.message]
      }
      expect(
        await ask([
          { Id: 1, Title: 'x' },
          { Id: 9, Title: 'y' },
        ]),
      ).toEqual([404, "Record '9' not found"])
      expect(await ask([{ Id: 8 }, { Id: 9, Title: 'y' }])).toEqual([404, "Records '8', '9' not found"])
      expect(await ask({ Title: 'x' })).toEqual([404, "Record 'unknown' not found"])
      expect(await ask({ Id: 'abc', Title: 'x' })).toEqual([
        422,
        "Primary key value 'abc' is invalid for column 'Id'",
      ])
      expect(await ask({ Id: 1.5, Title: 'x' })).toEqual([
        422,
        "Primary key value '1.5' is invalid for column 'Id'",
      ])
      expect(await ask({ Id: { a: 1 }, Title: 'x' })).toEqual([
        422,
        "Primary key value 'object' is invalid for column 'Id'",
      ])
    })
  })
})

describe('DELETE /api/v2/tables/{tableId}/records', () => {
  test('deletes one or several, one of them named twice', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, [
      { Title: 'a' },
      { Title: 'b' },
      { Title: 'c' },
    ])
    expect((await bench.rest.delete(table.path, { Id: 1 })).body).toEqual({ Id: 1 })
    expect((await bench.rest.delete(table.path, [{ Id: 2 }, { Id: 2 }])).status).toBe(200)
    expect(await table.titles()).toEqual(['c'])
    expect(await table.total()).toBe(1)
  })

  test('deletes nothing where one is missing, or a body says nothing', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }])
    await changesNothing(bench, async () => {
      const ask = async (body?: unknown) => {
        const answer = await bench.rest.delete(table.path, body)
        return [answer.status, answer.body.error ?? answer.body.msg]
      }
      expect(await ask([{ Id: 1 }, { Id: 2 }])).toEqual([404, 'RECORD_NOT_FOUND'])
      expect(await ask()).toEqual([422, 'REQUIRED_FIELD_MISSING'])
      expect(await ask({})).toEqual([422, 'REQUIRED_FIELD_MISSING'])
      expect((await ask([1]))[0]).toBe(400)
    })
  })
})

describe('GET /api/v2/tables/{tableId}/records/{recordId}', () => {
  test('gives the record, or says that there is none', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }])
    expect((await bench.rest.get(`${table.path}/1`)).body).toMatchObject({ Id: 1, Title: 'a' })
    expect((await bench.rest.get(`${table.path}/1?fields=Title`)).body).toEqual({ Title: 'a' })
    expect((await bench.rest.get(`${table.path}/9`)).body).toEqual({
      error: 'RECORD_NOT_FOUND',
      message: "Record '9' not found",
    })
    const bad = await bench.rest.get(`${table.path}/abc`)
    expect([bad.status, bad.body]).toEqual([
      422,
      { error: 'INVALID_PK_VALUE', message: "Primary key value 'abc' is invalid for column 'Id'" },
    ])
  })
})

describe('/api/v1/db/data/{orgs}/{base}/{table}', () => {
  test('creates, reads, changes and deletes one record', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Num: 'Number' })
    const created = await bench.rest.post(v1(table), { Title: 'a' })
    expect([created.status, created.body]).toMatchObject([200, { Id: 1, Title: 'a', Num: null, nc_order: 1 }])
    expect(Object.keys(created.body)).not.toContain('nc_created_by')
    expect((await bench.rest.patch(v1(table, '/1'), { Num: 2, nope: 1 })).body).toMatchObject({
      Id: 1,
      Title: 'a',
      Num: 2,
    })
    expect((await bench.rest.patch(v1(table, '/9'), { Num: 2 })).body.error).toBe('RECORD_NOT_FOUND')
    const deleted = await bench.rest.delete(v1(table, '/1'))
    expect([deleted.status, deleted.body, deleted.headers.get('content-type')]).toEqual([
      200,
      1,
      'text/html; charset=utf-8',
    ])
    expect((await bench.rest.delete(v1(table, '/1'))).status).toBe(404)
    expect((await bench.rest.post(v1(table), [{ Title: 'x' }])).status).toBe(400)
  })

  test('writes in bulk: insert, update, upsert, delete, all', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Num: 'Number' })
    expect((await bench.rest.post(v1Bulk(table), [{ Title: 'a' }, { Title: 'b' }])).body).toEqual([
      { Id: 1 },
      { Id: 2 },
    ])
    expect((await bench.rest.post(v1Bulk(table), [])).body).toEqual([])
    expect((await bench.rest.post(v1Bulk(table), { Title: 'x' })).status).toBe(400)
    const patched = await bench.rest.patch(v1Bulk(table), [{ Id: 2, Num: 5 }, { Id: 99, Num: 1 }, { Num: 3 }])
    expect(patched.body).toMatchObject([{ Id: 2, Title: 'b', Num: 5 }])
    const upserted = await bench.rest.post(v1Bulk(table, '/upsert'), [
      { Id: 1, Num: 7 },
      { Title: 'c', Num: 8 },
    ])
    expect([upserted.status, upserted.body]).toMatchObject([
      201,
      [
        { Id: 1, Num: 7 },
        { Id: 3, Title: 'c', Num: 8 },
      ],
    ])
    expect((await bench.rest.patch(v1Bulk(table, '/all?where=(Num,gt,6)'), { Title: 'big' })).body).toBe(2)
    expect(await table.titles()).toEqual(['big', 'b', 'big'])
    expect((await bench.rest.delete(v1Bulk(table), [{ Id: 2 }, { Id: 77 }])).body).toEqual([{ id: 2 }])
    expect((await bench.rest.delete(v1Bulk(table), [{ Title: 'x' }])).body).toMatchObject({
      error: 'REQUIRED_FIELD_MISSING',
    })
    expect((await bench.rest.delete(v1Bulk(table, '/all?where=(Num,eq,8)'))).body).toMatchObject([
      { Id: 3, Title: 'big' },
    ])
    expect((await table.list()).map((row) => row.Id)).toEqual([1])
  })

  test('a bulk call over all that match does nothing where the filter cannot be read', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Num: 'Number' }, [{ Num: 1 }, { Num: 2 }])
    await changesNothing(bench, async () => {
      for (const where of [
        '(Nope,eq,1)',
        '(Num,eq',
        '(Num,nope,1)',
        '(Num,eq,abc)',
        'x',
        '(Num,gt,)',
        '(Num,gt)',
      ]) {
        const path = v1Bulk(table, `/all?where=${encodeURIComponent(where)}`)
        expect([where, (await bench.rest.delete(path)).status]).toEqual([where, 422])
        expect([where, (await bench.rest.patch(path, { Title: 'x' })).status]).toEqual([where, 422])
      }
    })
  })

  // A list passes over such a condition; here it would be every record that is deleted.
  test('nor where a condition says nothing, or comes as a list of which nobody knows how it joins', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Due: 'Date' }, [
      { Title: 'a' },
      { Title: 'b' },
    ])
    const { id: title } = table.field('Title')
    const list = (items: unknown) => `filterArrJson=${encodeURIComponent(JSON.stringify(items))}`
    const whole = { fk_column_id: title, comparison_op: 'eq', value: 'a' }
    await changesNothing(bench, async () => {
      for (const query of [
        'where[]=(Title,eq,a)',
        'where[0]=(Title,eq,a)',
        'w[]=x',
        'where=(Title,eq,a)&where=(Title,eq,b)',
        'where=(Due,eq,daysAgo)',
        'where=(Due,isWithin,pastNumberOfDays,)',
        'where=(Title,eq,a)~or(Due,eq,daysAgo,)',
        'where=~not(Due,lt,daysAgo)',
        'filterArrJson=[{bad',
        'filterArrJson={}',
        'filterArrJson=null',
        list([{}]),
        list([null]),
        list([whole, { fk_column_id: title }]),
        list([whole, { is_group: true, children: [] }]),
        list([{ ...whole, value: null }]),
        list([{ is_group: true, children: [{ comparison_op: 'eq' }] }]),
      ]) {
        const path = v1Bulk(table, `/all?${query}`)
        expect([query, (await bench.rest.delete(path)).status]).toEqual([query, 422])
        expect([query, (await bench.rest.patch(path, { Title: 'x' })).status]).toEqual([query, 422])
      }
    })
    expect((await bench.rest.delete(v1Bulk(table, `/all?${list([whole])}`))).body).toMatchObject([{ Id: 1 }])
    expect((await bench.rest.delete(v1Bulk(table, '/all?where=&filterArrJson=[]'))).body).toHaveLength(1)
  })

  // The SDKs' `bulkUpdateAll` and `bulkDeleteAll` take both.
  test('a bulk call over all that match stays within the view that it names, and spares the records of skipPks', async () => {
    const rows = Array.from({ length: 6 }, (_, index) => ({ Title: `r${index + 1}`, Num: index + 1 }))
    const table = await bench.table({ Title: 'SingleLineText', Num: 'Number' }, rows)
    const other = await bench.table()
    const { trpc } = bench
    const view = await trpc.views.create.mutate({ tableId: table.id, title: 'Large', kind: 'grid' })
    const filter = {
      join: 'and' as const,
      children: [{ fieldId: table.field('Num').id, operator: 'gt', value: 2 }],
    }
    await trpc.views.update.mutate({ viewId: view.id, patch: { filter } })
    const all = (query: string) => v1Bulk(table, `/all?${query}`)
    await changesNothing(bench, async () => {
      for (const [query, status] of [
        ['viewId=vw00000000000000', 404],
        ['viewId=', 404],
        [`viewId=${other.schema.views[0]?.id}`, 404],
        [`viewId[]=${view.id}&viewId[]=${other.schema.views[0]?.id}`, 422],
        ['skipPks=1,abc', 422],
        ['pks=', 422],
        ['pks=,%20', 422],
        [`skipPks=${Array.from({ length: 1500 }, (_, index) => index + 1)}`, 422],
      ] as const) {
        expect([query, (await bench.rest.delete(all(query))).status]).toEqual([query, status])
        expect([query, (await bench.rest.patch(all(query), { Title: 'x' })).status]).toEqual([query, status])
      }
    })
    const within = `viewId=${view.id}&where=(Num,neq,6)&skipPks=4`
    expect((await bench.rest.patch(all(within), { Title: 'seen' })).body).toBe(2)
    expect(await table.titles()).toEqual(['r1', 'r2', 'seen', 'r4', 'seen', 'r6'])
    const gone = (await bench.rest.delete(all(`viewId=${view.id}&skipPks=6,%203`))).body
    expect(gone.map(({ Id }: { Id: number }) => Id)).toEqual([4, 5])
    expect((await bench.rest.delete(all('skipPks[]=1&skipPks[]=3&skipPks[]=6'))).body).toHaveLength(1)
    expect((await bench.rest.delete(all('pks=3,6&skipPks=3'))).body).toMatchObject([{ Id: 6 }])
    expect((await table.list()).map((row) => row.Id)).toEqual([1, 3])
  })
})
