import { afterAll, expect, test } from 'bun:test'
import { ended } from '../imports/support.ts'
import { openPlace } from '../move/support.ts'
import { PASSWORD } from '../support/app.ts'
import { createRestClient, createTrpcClient } from '../support/client.ts'

const place = await openPlace()
afterAll(() => place.remove())

const FIELDS = {
  Title: 'SingleLineText',
  Price: 'Decimal',
  Count: 'Number',
  Done: 'Checkbox',
  Day: 'Date',
  At: 'DateTime',
  Clock: 'Time',
  Data: 'JSON',
  Notes: 'LongText',
} as const

test('tables that move between a base in a file and one in PostgreSQL, and back, have the same cells and history', async () => {
  const first = await place.start('postgres')
  const { token } = await createTrpcClient(first.url).auth.signUp.mutate({
    email: 'ann@example.com',
    password: PASSWORD,
  })
  let trpc = createTrpcClient(first.url, token)
  const inFile = (await trpc.bases.create.mutate({ title: 'In a file' })).id
  const inSchema = (await trpc.bases.create.mutate({ title: 'In a schema' })).id
  const createTable = (title: string, fields: Record<string, string>) =>
    trpc.schema.createTable.mutate({
      baseId: inFile,
      title,
      fields: Object.entries(fields).map(([name, type]) => ({ title: name, type })) as never,
    })
  const items = (await createTable('Items', FIELDS)).table.id
  const makers = (await createTable('Makers', { Title: 'SingleLineText' })).table.id
  const rest = createRestClient(first.url, token)
  await rest.post(`/api/v2/tables/${makers}/records`, [{ Title: 'Acme' }, { Title: 'Bolt' }])
  await rest.post(`/api/v2/tables/${items}/records`, [
    {
      Title: 'tab\tnew\nline \\ "q" é',
      Price: 0.1,
      Count: -3,
      Done: true,
      Day: '2026-11-01',
      At: '2026-11-01T10:20:30.123Z',
      Clock: '10:20:30',
      Data: { b: [1, null], a: 'x' },
      Notes: '',
    },
    { Title: null },
  ])
  const { id: fieldId } = await trpc.schema.createField.mutate({
    tableId: items,
    field: { title: 'Made by', type: 'Links', options: { kind: 'mm', relatedTableId: makers } },
  })
  await trpc.records.write.mutate({
    change: {
      baseId: inFile,
      operations: [{ kind: 'link', tableId: items, fieldId, id: 1, targets: [1, 2] }],
    },
  })
  await rest.patch(`/api/v2/tables/${items}/records`, { Id: 2, Title: 'changed', Price: 12.5 })
  await first.end('SIGTERM')
  expect((await place.move(['--to', 'sqlite', '--base', inFile])).exitCode).toBe(0)

  const server = await place.start('postgres')
  trpc = createTrpcClient(server.url, token)
  const state = async ([itemsId = '', makersId = '']: string[]) => {
    const of = createRestClient(server.url, token)
    const lists = await Promise.all(
      [itemsId, makersId].map(async (id) => (await of.get(`/api/v2/tables/${id}/records`)).body.list),
    )
    const { entries } = await trpc.records.history.query({ tableId: itemsId, recordId: 2 })
    const { fields } = await trpc.schema.table.query({ tableId: itemsId })
    const titles = new Map(fields.map(({ id, title }) => [id, title]))
    const history = entries.map(({ at, changes }) => [
      at,
      changes.map(({ fieldId: id, before, after }) => [titles.get(id), before, after]),
    ])
    const text = JSON.stringify([lists, history], (key, value) => {
      // Checkboxes are numbers in one engine and booleans in the other, as everywhere in REST.
      if (typeof value === 'boolean') return Number(value)
      return key.startsWith('nc_') ? undefined : value
    })
    return JSON.parse(text)
  }
  const before = await state([items, makers])
  let ids = [items, makers]
  for (const baseId of [inSchema, inFile]) {
    const [tableId = '', ...furtherTableIds] = ids
    const started = await trpc.copies.tableToBase.mutate({ tableId, furtherTableIds, baseId, isMove: true })
    expect(await ended({ url: server.url, token }, started.jobId)).toMatchObject({ status: 'completed' })
    ids = started.tables.map(({ newId }) => newId)
    expect(await state(ids)).toEqual(before)
    // Numbering continues.
    const { body } = await createRestClient(server.url, token).post(`/api/v2/tables/${ids[0]}/records`, {
      Title: 'new',
    })
    expect(body.Id).toBe(baseId === inSchema ? 3 : 4)
    await createRestClient(server.url, token).delete(`/api/v2/tables/${ids[0]}/records`, [{ Id: body.Id }])
  }
  await server.end('SIGTERM')
})
