import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { doorOf, ended, formatOf, reportOf, upload } from '../imports/support.ts'
import { createLink } from './links-support.ts'
import { type Bench, changesNothing, createBench, refusalOf, type TestTable } from './support.ts'

describe('required and unique fields', () => {
  let bench: Bench
  beforeAll(async () => {
    bench = await createBench()
  })
  afterAll(() => bench.stop())

  const people = (rows: object[] = []) =>
    bench.table(
      {
        Title: 'SingleLineText',
        Mail: { type: 'SingleLineText', unique: true },
        Name: { type: 'SingleLineText', required: true },
      },
      rows.map((row) => ({ Name: 'n', ...row })),
    )
  const bulk = (table: TestTable) =>
    `/api/v1/db/data/bulk/noco/${bench.baseId}/${encodeURIComponent(table.title)}`
  const write = (operations: object[]) =>
    bench.trpc.records.write.mutate({ change: { baseId: bench.baseId, operations: operations as never } })
  const insert = (table: TestTable, rows: object[]) =>
    write([
      {
        kind: 'insert',
        tableId: table.id,
        rows: rows.map((row) => ({ values: table.values({ Name: 'n', ...row }) })),
      },
    ])
  const update = (table: TestTable, rows: [number, object][]) =>
    write([
      {
        kind: 'update',
        tableId: table.id,
        rows: rows.map(([id, row]) => ({ id, values: table.values({ ...row }) })),
      },
    ])
  const taken = (value: string, id: number) =>
    `Field “Mail” must be unique: “${value}” is already used by record ${id}`

  test('a value that another record has is refused by name, value and record, whoever writes it', async () => {
    const table = await people([{ Mail: 'a@x.com' }, { Mail: 'b@x.com' }, {}])
    const messageOf = async (call: Promise<unknown>) => (await refusalOf(call)).message
    const restMessageOf = async (
      call: Promise<{ status: number; body: { error: string; message: string } }>,
    ) => {
      const { status, body } = await call
      expect([status, body.error]).toEqual([400, 'DATABASE_ERROR'])
      return body.message
    }
    await changesNothing(bench, async () => {
      expect(await messageOf(insert(table, [{ Mail: 'c@x.com' }, { Mail: 'a@x.com' }]))).toBe(
        taken('a@x.com', 1),
      )
      expect(await messageOf(update(table, [[3, { Mail: 'b@x.com' }]]))).toBe(taken('b@x.com', 2))
      const selection = { tableId: table.id, recordIds: [2, 3] }
      const values = table.values({ Mail: 'a@x.com' })
      expect(await messageOf(bench.trpc.records.updateMatching.mutate({ selection, values }))).toBe(
        taken('a@x.com', 1),
      )
      const several = bench.trpc.records.updateMatching.mutate({
        selection,
        values: table.values({ Mail: 'new@x.com' }),
      })
      expect(await messageOf(several)).toBe(
        'Field “Mail” must be unique: “new@x.com” is used by several records',
      )
      expect(await restMessageOf(bench.rest.post(table.path, { Mail: 'a@x.com', Name: 'n' }))).toBe(
        taken('a@x.com', 1),
      )
      expect(await restMessageOf(bench.rest.post(bulk(table), [{ Mail: 'b@x.com', Name: 'n' }]))).toBe(
        taken('b@x.com', 2),
      )
      expect(await restMessageOf(bench.rest.patch(bulk(table), [{ Id: 3, Mail: 'a@x.com' }]))).toBe(
        taken('a@x.com', 1),
      )
      expect(await restMessageOf(bench.rest.patch(`${bulk(table)}/all`, { Mail: 'a@x.com' }))).toBe(
        taken('a@x.com', 1),
      )
    })
  })

  test('nothing that is required becomes empty, whoever writes it', async () => {
    const table = await people([{ Mail: 'a@x.com' }])
    const required = { code: 'REQUIRED_FIELD_MISSING', status: 422, message: "Field 'Name' is required" }
    await changesNothing(bench, async () => {
      expect(await refusalOf(insert(table, [{ Name: null }]))).toEqual(required)
      expect(await refusalOf(update(table, [[1, { Name: '' }]]))).toEqual(required)
      const selection = { tableId: table.id }
      const values = table.values({ Name: null })
      expect(await refusalOf(bench.trpc.records.updateMatching.mutate({ selection, values }))).toEqual(
        required,
      )
      for (const call of [
        bench.rest.post(table.path, {}),
        bench.rest.post(bulk(table), [{ Title: 'x' }]),
        bench.rest.patch(`${bulk(table)}/all`, { Name: null }),
      ]) {
        const { status, body } = await call
        expect([status, body.error, body.message]).toEqual([422, required.code, required.message])
      }
    })
  })

  test('of many who write the same value at once, one succeeds', async () => {
    const table = await people([{}, {}])
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => {
        const Mail = 'same@x.com'
        if (index % 4 === 0)
          return bench.rest.post(table.path, { Mail, Name: 'n' }).then(({ status }) => status)
        if (index % 4 === 1) return bench.rest.patch(table.path, { Id: 1, Mail }).then(({ status }) => status)
        if (index % 4 === 2)
          return insert(table, [{ Mail }]).then(
            () => 200,
            () => 400,
          )
        const selection = { tableId: table.id, recordIds: [2] }
        const values = table.values({ Mail })
        return bench.trpc.records.updateMatching.mutate({ selection, values }).then(
          () => 200,
          () => 400,
        )
      }),
    )
    const rows = await table.list()
    expect(rows.filter(({ Mail }) => Mail === 'same@x.com')).toHaveLength(1)
    expect(new Set(answers)).toEqual(new Set([200, 400]))
  })

  test('an import leaves out rows that break a rule, and says which', async () => {
    const table = await people([{ Mail: 'a@x.com' }])
    const body = 'Mail,Name\na@x.com,Ann\nb@x.com,\nc@x.com,Cid\nc@x.com,Dan\n'
    const door = doorOf(bench.app, bench.owner)
    const { jobId } = await bench.trpc.imports.start.mutate({
      baseId: bench.baseId,
      tableId: table.id,
      uploadId: await upload(door, body),
      format: formatOf(body),
      width: 2,
      columns: ['Mail', 'Name'].map((title, index) => ({ index, fieldId: table.field(title).id })),
    })
    const { status } = await ended(door, jobId)
    expect(status).toBe('completed')
    expect((await table.list()).map(({ Mail, Name }) => [Mail, Name])).toEqual([
      ['a@x.com', 'n'],
      ['c@x.com', 'Cid'],
    ])
    expect((await reportOf(door, jobId)).join('\n')).toContain('a@x.com')
  })

  test('an import fills no keys of links, and none goes without a column for a required link', async () => {
    const [books, authors] = [await bench.table(), await bench.table(undefined, [{ Title: 'Ann' }])]
    const link = await createLink(bench, books, authors, 'bt')
    const body = 'A\n99\n'
    const start = async (fieldId: string) =>
      bench.trpc.imports.start.mutate({
        baseId: bench.baseId,
        tableId: books.id,
        format: formatOf(body),
        width: 1,
        uploadId: await upload(doorOf(bench.app, bench.owner), body),
        columns: [{ index: 0, fieldId }],
      })
    const refused = await refusalOf(start(link.own.options.keyFieldId ?? ''))
    expect(refused.message).toContain('can’t be imported into')
    await createLink(bench, books, authors, 'bt', { required: true, title: 'Must' })
    const { message } = await refusalOf(start(books.field('Title').id))
    expect(message).toBe('Field “Must” is required. Choose a column for it.')
  })

  test('undo does not bring back a value that another record has by now', async () => {
    const table = await people([{ Mail: 'a@x.com' }, {}])
    await update(table, [[1, { Mail: 'b@x.com' }]])
    const other = await bench.app.signUp()
    await bench.app.services.auth.access.setMembership(bench.baseId, other.id, 'editor')
    const { status } = await bench.app.rest(other.token).patch(table.path, { Id: 2, Mail: 'a@x.com' })
    expect(status).toBe(200)
    const refused = await changesNothing(bench, () =>
      refusalOf(bench.trpc.records.undo.mutate({ baseId: bench.baseId })),
    )
    expect(refused.message).toStartWith(taken('a@x.com', 2))
  })
})
