import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { ended, formatOf, upload } from '../imports/support.ts'
import { until } from '../support/until.ts'
import { createHookBench, type HookBench, type TestTable } from './support.ts'

let bench: HookBench
let table: TestTable
beforeAll(async () => {
  bench = await createHookBench()
})
afterAll(() => bench.stop())
beforeEach(async () => {
  await bench.clear()
  table = await bench.table({ Title: 'SingleLineText', Count: 'Number' })
})

const ROWS = 3_000
const many = () => Array.from({ length: ROWS }, (_, index) => ({ Title: `t${index}`, Count: index }))

describe('a change of many records', () => {
  test('is one call with the first rows and their number, or one call for each record, in order', async () => {
    await bench.hook(table)
    const { id: fieldId } = table.field('Count')
    await bench.hook(
      table,
      { isConditional: true, filter: { fieldId, operator: 'gte', value: ROWS - 2 } },
      { path: `${bench.receiver.url}/few` },
    )
    await bench.hook(table, { deliverPer: 'record' }, { path: `${bench.receiver.url}/each` })
    await bench.rest.post(table.path, many())
    await bench.settled()
    expect(bench.received().map(({ data }) => [data.rows.length, data.row_count])).toEqual([[1_000, ROWS]])
    expect(bench.received('/few').map(({ data }) => data.rows.map((row) => row.Title))).toEqual([
      [`t${ROWS - 2}`, `t${ROWS - 1}`],
    ])
    const each = bench.received('/each').map(({ data }) => data.rows[0]?.Title)
    expect(each).toHaveLength(ROWS)
    expect(new Set(each).size).toBe(ROWS)
  })

  test('does not overtake what follows it', async () => {
    await bench.hook(table, { deliverPer: 'record' })
    await bench.rest.post(table.path, many().slice(0, 600))
    await bench.rest.patch(table.path, { Id: 600, Title: 'changed' })
    await bench.settled()
    const last = bench.received().filter(({ data }) => data.rows[0]?.Id === 600)
    expect(last.map(({ type, data }) => [type, data.rows[0]?.Title])).toEqual([
      ['records.after.insert', 't599'],
      ['records.after.update', 'changed'],
    ])
  })
})

describe('an import of 50,000 records', () => {
  test('is one call with the first rows', async () => {
    const door = { url: bench.app.url, token: bench.owner.token }
    const csv = `Title,Count\n${Array.from({ length: 50_000 }, (_, n) => `t${n},${n}`).join('\n')}\n`
    const columns = ['Title', 'Count'].map((title, index) => ({ index, fieldId: table.field(title).id }))
    const run = async (): Promise<void> => {
      const uploadId = await upload(door, csv)
      const { jobId } = await bench.trpc.imports.start.mutate({
        baseId: bench.baseId,
        uploadId,
        format: formatOf(csv),
        width: 2,
        columns,
        tableId: table.id,
      })
      await ended(door, jobId)
    }
    await run()
    await bench.hook(table, { operations: ['insert'] })
    await run()
    await bench.settled()
    const events = bench.received()
    expect(events.map(({ data }) => [data.rows.length, data.row_count])).toEqual([[1_000, 50_000]])
  })
})

describe('a copied base', () => {
  test('has its webhooks turned off, unless they are excluded', async () => {
    const hookId = await bench.hook(table, { triggerFieldIds: [table.field('Count').id] })
    const copy = async (options: object) => {
      const { jobId, baseId } = await bench.trpc.copies.base.mutate({ baseId: bench.baseId, options })
      await ended({ url: bench.app.url, token: bench.owner.token }, jobId)
      const tables = await bench.trpc.schema.tables.query({ baseId })
      const { id: tableId } = tables.find(({ title }) => title === table.title)!
      return { tableId, list: await bench.trpc.hooks.list.query({ tableId }) }
    }
    const { tableId, list } = await copy({})
    expect(list).toMatchObject([{ title: 'Hook', isActive: false, tableId }])
    expect(list[0]?.id).not.toBe(hookId)
    expect(list[0]?.triggerFieldIds).not.toEqual([table.field('Count').id])
    expect((await copy({ withHooks: false })).list).toEqual([])
  })
})

describe('a deleted table', () => {
  test('silences its webhooks until it is restored', async () => {
    await bench.hook(table)
    await bench.trpc.schema.deleteTable.mutate({ tableId: table.id })
    const { error } = await bench.trpc.hooks.list.query({ tableId: table.id }).then(
      () => ({ error: null }),
      (failure) => ({ error: failure.data.appCode }),
    )
    expect(error).toBe('TABLE_NOT_FOUND')
    await bench.trpc.schema.restoreTable.mutate({ tableId: table.id })
    await bench.rest.post(table.path, { Title: 'a' })
    await bench.settled()
    expect(bench.received().map(({ type }) => type)).toEqual(['records.after.insert'])
  })
})

describe('a blocked address', () => {
  test('is not called, and the delivery says why', async () => {
    const strict = await createHookBench({ allowLocalHttp: false })
    const hidden = await strict.table({ Title: 'SingleLineText' })
    const hookId = await strict.hook(hidden)
    await strict.rest.post(hidden.path, { Title: 'a' })
    await strict.app.services.records.feed.settled(strict.baseId)
    const errorOf = async () =>
      (await strict.trpc.hooks.deliveries.query({ hookId })).deliveries[0]?.error ?? null
    await until(async () => (await errorOf()) !== null, 'The failed delivery')
    expect(await errorOf()).toMatchObject({ code: 'ERR_PRIVATE_ADDRESS' })
    expect(strict.receiver.requests).toBeEmpty()
    await strict.stop()
  })
})

describe('a call by hand', () => {
  test('sends up to 1,000 records at once, in one call or one for each, and shortens a payload that is too long', async () => {
    const table = await bench.table({ Title: 'LongText' })
    await bench.rest.post(
      table.path,
      Array.from({ length: 1_001 }, () => ({ Title: 'x'.repeat(2_000) })),
    )
    const hookId = await bench.hook(table, { event: 'manual', operations: [] })
    const trigger = (count: number) =>
      bench.trpc.hooks.trigger.mutate({
        hookId,
        recordIds: Array.from({ length: count }, (_, at) => at + 1),
      })
    expect(await trigger(1_001).catch(({ data }) => data.httpStatus)).toBe(400)
    expect(await trigger(1_000)).toMatchObject([{ status: 'delivered', error: null }])
    const [event] = bench.received()
    expect(event?.data.row_count).toBe(1_000)
    expect(event?.data.rows.length).toBeWithin(300, 500)
    bench.receiver.clear()
    await bench.trpc.hooks.update.mutate({ hookId, patch: { deliverPer: 'record' } })
    expect(await trigger(200)).toHaveLength(200)
    expect(bench.received()).toHaveLength(200)
  })
})
