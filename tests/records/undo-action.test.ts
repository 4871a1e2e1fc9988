import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Bench, createBench } from './support.ts'

let bench: Bench
beforeAll(async () => {
  bench = await createBench()
})
afterAll(() => bench.stop())

/** A call as the web app sends it inside a larger action. */
async function call<T>(procedure: string, input: unknown, actionId?: string): Promise<T> {
  const answer = await fetch(`${bench.app.url}/trpc/${procedure}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'xc-auth': bench.owner.token,
      ...(actionId !== undefined && { 'x-action-id': actionId }),
    },
    body: JSON.stringify(input),
  })
  const { result } = (await answer.json()) as { result: { data: T } }
  return result.data
}

const undo = () => bench.trpc.records.undo.mutate({ baseId: bench.baseId })
const redo = () => bench.trpc.records.redo.mutate({ baseId: bench.baseId })

/** Makes two fields and a record with values in them, as a paste past the edge does. */
async function paste(tableId: string, actionId?: string): Promise<void> {
  const fields = []
  for (const title of ['A', 'B']) {
    const field = { type: 'SingleLineText', title }
    fields.push(await call<{ id: string }>('schema.createField', { tableId, field }, actionId))
  }
  const values = Object.fromEntries(fields.map(({ id }, index) => [id, `pasted ${index}`]))
  const operations = [{ kind: 'insert', tableId, rows: [{ values }] }]
  await call('records.write', { change: { baseId: bench.baseId, operations } }, actionId)
}

describe('calls that share an action id', () => {
  test('are taken back, and done again, in one step', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'there' }])
    const fieldsOf = async () => {
      const { fields } = await bench.trpc.schema.table.query({ tableId: table.id })
      return fields.filter((field) => !field.isSystem && !field.isPrimaryKey).map((field) => field.title)
    }
    await paste(table.id, 'paste-1')
    const after = await table.list('?fields=Title,A,B')
    expect(await undo()).toMatchObject({ kind: 'records.insert' })
    expect([await table.total(), await fieldsOf()]).toEqual([1, ['Title']])
    await redo()
    expect([await table.total(), await fieldsOf()]).toEqual([2, ['Title', 'A', 'B']])
    expect(await table.list('?fields=Title,A,B')).toEqual(after)
    await undo()
    expect(await fieldsOf()).toEqual(['Title'])
  })

  test('leave what came before them for the next undo', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'before' }])
    await bench.rest.patch(table.path, { Id: 1, Title: 'edited' })
    await paste(table.id, 'paste-2')
    await undo()
    expect(await table.titles()).toEqual(['edited'])
    await undo()
    expect(await table.titles()).toEqual(['before'])
  })

  test('are one step also where others have written thousands of times between them', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, [
      { Title: 'a' },
      { Title: 'b' },
      { Title: 'c' },
    ])
    const engine = await bench.app.kernel.sources.engine(bench.baseId)
    const write = (id: number) =>
      call(
        'records.write',
        {
          change: {
            baseId: bench.baseId,
            operations: [
              {
                kind: 'update',
                tableId: table.id,
                rows: [{ id, values: { [table.field('Title').id]: 'x' } }],
              },
            ],
          },
        },
        'far-apart',
      )
    for (const id of [1, 2, 3]) {
      await write(id)
      if (id < 3)
        await engine.writeScript([
          {
            sql: `insert into sheaf_changes (at, actor_id, kind, records)
              with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 10100)
              select '2026-01-01T00:00:00.000Z', 'us_other', 'records.update', 0 from numbers`,
            params: [],
          },
        ])
    }
    await undo()
    expect(await table.titles()).toEqual(['a', 'b', 'c'])
    await redo()
    expect(await table.titles()).toEqual(['x', 'x', 'x'])
    await undo()
    expect(await table.titles()).toEqual(['a', 'b', 'c'])
  })

  test('are separate steps without the id, or with one that is none', async () => {
    for (const actionId of [undefined, 'not an id!']) {
      const table = await bench.table({ Title: 'SingleLineText' }, [])
      await paste(table.id, actionId)
      await undo()
      const { fields } = await bench.trpc.schema.table.query({ tableId: table.id })
      expect(fields.map((field) => field.title)).toContain('B')
    }
  })
})
