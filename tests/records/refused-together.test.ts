import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createTestApp, type TestApp } from '../support/app.ts'
import type { RestClient, TrpcClient } from '../support/client.ts'

let app: TestApp
let rest: RestClient
let api: TrpcClient
beforeAll(async () => {
  app = await createTestApp()
  const { token } = await app.signUp('owner@example.com')
  rest = app.rest(token)
  api = app.trpc(token)
})
afterAll(() => app.stop())

test('writes that arrive together with some that fail at their last record keep all of their own and nothing of the others', async () => {
  const { id: baseId } = await api.bases.create.mutate({ title: 'Shop' })
  const createTable = (title: string, fields: unknown[]) =>
    api.schema.createTable.mutate({ baseId, title, fields: fields as never })
  const labels = await createTable('Labels', [{ title: 'Title', type: 'SingleLineText' }])
  const orders = await createTable('Orders', [
    { title: 'Title', type: 'SingleLineText' },
    { title: 'Code', type: 'SingleLineText', unique: true },
  ])
  const link = await api.schema.createField.mutate({
    tableId: orders.table.id,
    field: {
      title: 'Labels',
      type: 'Links',
      options: { kind: 'mm', relatedTableId: labels.table.id } as never,
    },
  })
  const path = `/api/v2/tables/${orders.table.id}/records`
  const linkPath = `/api/v2/tables/${orders.table.id}/links/${link.id}/records`
  await rest.post(
    `/api/v2/tables/${labels.table.id}/records`,
    Array.from({ length: 10 }, (_, at) => ({ Title: `l${at}` })),
  )
  await rest.post(path, [{ Title: 'taken', Code: 'taken' }])

  const answered: { Id: number; Code: string }[] = []
  for (let round = 0; round < 3; round++) {
    // After a group that began again, the next ones use savepoints.
    for (let group = 0; group < 60; group++) await rest.patch(path, { Id: 1, Title: `taken ${group}` })
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, at) => {
        const own = (row: number) => ({ Title: `${round} ${at}`, Code: `${round} ${at} ${row}` })
        const rows = Array.from({ length: 7 }, (_, row) => own(row))
        if (at % 5 === 4)
          return rest.post(path, [...rows, { Title: 'refused', Code: 'taken' }, { Title: 'refused' }])
        if (at % 5 === 3)
          return rest.post(
            `${linkPath}/1`,
            Array.from({ length: 10 }, (_, target) => ({ Id: target + 1 })),
          )
        return rest.post(path, rows)
      }),
    )
    expect(answers.map(({ status }, at) => [at % 5 === 4, status >= 400 && status < 500])).toEqual(
      answers.map((_, at) => [at % 5 === 4, at % 5 === 4]),
    )
    for (const [at, { status, body }] of answers.entries()) {
      if (status !== 200 || at % 5 > 2) continue
      for (const [row, { Id }] of body.entries()) answered.push({ Id, Code: `${round} ${at} ${row}` })
    }
  }

  const { body } = await rest.get(`${path}?limit=1000&fields=Id,Title,Code,Labels`)
  const added = body.list.slice(1)
  expect(added).toHaveLength(3 * 18 * 7)
  expect(added.filter((row: { Title: string }) => row.Title === 'refused')).toEqual([])
  expect(new Set(added.map((row: { Code: string }) => row.Code)).size).toBe(3 * 18 * 7)
  expect(body.list[0]).toMatchObject({ Code: 'taken', Labels: 10 })
  // Some writes ran twice; the ids they answered with are those of the stored records.
  const stored = new Map(added.map((row: { Id: number; Code: string }) => [row.Id, row.Code]))
  expect(answered.map(({ Id }) => [Id, stored.get(Id)])).toEqual(answered.map(({ Id, Code }) => [Id, Code]))
  for (const { Id } of answered.slice(0, 5)) {
    const { entries } = await api.records.history.query({ tableId: orders.table.id, recordId: Id })
    expect(entries).toHaveLength(1)
  }
})
