import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Bench, changesNothing, createBench, refusalOf, type TestTable } from './support.ts'

const DOTS = '••••••••'
const SECRET = 'correct horse'

let bench: Bench
let table: TestTable
beforeAll(async () => {
  bench = await createBench()
  table = await bench.table({ Title: 'SingleLineText', Code: 'Password' })
})
afterAll(() => bench.stop())

const field = () => table.field('Code')

/** What lies in the table's own column. */
function stored(title: string): string | null {
  const file = new Database(bench.app.kernel.sources.path(bench.baseId), { readonly: true })
  try {
    const name = table.schema.table.tableName
    const row = file
      .query<Record<string, string>, [string]>(
        `select "${field().columnName}" as code from "${name}" where "${table.field('Title').columnName}" = ?`,
      )
      .get(title)
    return row?.code ?? null
  } finally {
    file.close()
  }
}

const post = (values: object) => bench.rest.post(table.path, values)
const patch = (values: object) => bench.rest.patch(table.path, values)

describe('a password field', () => {
  test('keeps a fingerprint, and shows dots over REST, tRPC, history and live updates', async () => {
    const told: unknown[] = []
    const stop = bench.app.kernel.events.on('records.changed', (change) => told.push(change))
    const { body } = await post({ Title: 'set', Code: SECRET })
    expect(await Bun.password.verify(SECRET, stored('set') ?? '')).toBe(true)
    await patch({ Id: body.Id, Code: `${SECRET} 2` })
    const answers = [
      (await bench.rest.get(`${table.path}/${body.Id}`)).body,
      await bench.trpc.records.get.query({ tableId: table.id, recordId: body.Id }),
      await bench.trpc.records.history.query({ tableId: table.id, recordId: body.Id }),
      await table.list(),
      told,
    ]
    for (const answer of answers) {
      const text = JSON.stringify(answer)
      expect(text).toContain(DOTS)
      expect(text).not.toContain('argon2')
      expect(text).not.toContain(SECRET)
    }
    stop?.()
  })

  test('is told to nobody by a change that a browser sends again', async () => {
    const values = table.values({ Title: 'twice', Code: SECRET })
    const operations = [{ kind: 'insert' as const, tableId: table.id, rows: [{ values }] }]
    const change = { baseId: bench.baseId, clientId: 'client-of-this-test', operations }
    const send = async () => JSON.stringify(await bench.trpc.records.write.mutate({ change }))
    for (const answer of [await send(), await send()]) {
      expect(answer).toContain(DOTS)
      expect(answer).not.toContain('argon2')
    }
    await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
  })

  test('stays as it is where the dots are sent back, and is emptied by nothing', async () => {
    const { body } = await post({ Title: 'same', Code: SECRET })
    const before = stored('same')
    expect(await patch({ Id: body.Id, Title: 'same', Code: DOTS })).toMatchObject({ status: 200 })
    expect(stored('same')).toBe(before)
    await patch({ Id: body.Id, Code: null })
    expect(stored('same')).toBeNull()
    await post({ Title: 'copied', Code: DOTS })
    expect(stored('copied')).toBeNull()
  })

  test('comes back by undo as it was', async () => {
    const { body } = await post({ Title: 'undone', Code: SECRET })
    const before = stored('undone')
    await bench.rest.delete(table.path, { Id: body.Id })
    await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
    expect(stored('undone')).toBe(before)
  })

  test('is looked for by whether there is one, and by nothing else', async () => {
    const titles = (where: string) => table.titles(`?where=${encodeURIComponent(where)}`)
    expect(await titles('(Code,notblank)')).toEqual(['set', 'undone'])
    for (const clause of [`(Code,eq,${SECRET})`, '(Code,like,argon)', '(Code,gt,a)']) {
      const { status, body } = await bench.rest.get(`${table.path}?where=${encodeURIComponent(clause)}`)
      expect({ status, error: body.error }).toEqual({ status: 422, error: 'FILTER_VERIFICATION_FAILED' })
    }
    const found = await bench.trpc.records.count.query({
      selection: { tableId: table.id, search: { text: 'argon2', fieldId: null } },
    })
    expect(found.count).toBe(0)
  })

  test('cannot be unique, have a default, become text, or be filled from text', async () => {
    const update = (patch: object) => bench.trpc.schema.updateField.mutate({ fieldId: field().id, patch })
    await changesNothing(bench, async () => {
      expect((await refusalOf(update({ unique: true }))).status).toBe(400)
      expect((await refusalOf(update({ defaultValue: 'x' }))).message).toContain('can’t have a default value')
      const preview = { fieldId: field().id, type: 'SingleLineText' as const }
      const lost = await bench.trpc.schema.previewType.query(preview)
      expect(lost).toMatchObject({ converted: 0 })
      expect(JSON.stringify(lost)).not.toContain('argon2')
    })
  })

  test('is no type that REST clients can choose', async () => {
    const { status, body } = await bench.rest.post(`/api/v1/db/meta/tables/${table.id}/columns`, {
      title: 'P',
      uidt: 'Password',
    })
    expect(status).toBe(400)
    expect(JSON.stringify(body)).toContain('uidt')
  })

  test('sets as many at once as can be made unreadable in reasonable time', async () => {
    const rows = Array.from({ length: 201 }, () => ({ Code: 'x' }))
    await changesNothing(bench, async () => {
      expect((await post(rows)).status).toBe(400)
    })
  })
})
