import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { createHookBench, type HookBench } from '../hooks/support.ts'
import { doorOf, ended } from '../imports/support.ts'
import { type TestTable, testTable } from '../records/support.ts'
import { createBase } from '../support/factories.ts'
import { until } from '../support/until.ts'

let bench: HookBench
let targetId: string

beforeAll(async () => {
  bench = await createHookBench({ webhookRetryMs: 1 })
  targetId = (await createBase(bench.app, bench.owner)).id
})
afterEach(() => bench.receiver.clear())
afterAll(() => bench.stop())

async function move({ id }: TestTable): Promise<TestTable> {
  const { jobId, tableId } = await bench.trpc.copies.tableToBase.mutate({
    tableId: id,
    baseId: targetId,
    isMove: true,
  })
  expect(await ended(doorOf(bench.app, bench.owner), jobId)).toMatchObject({
    status: 'completed',
    error: null,
  })
  return testTable(bench.rest, await bench.trpc.schema.table.query({ tableId }))
}

const hookOf = async ({ id }: TestTable) => (await bench.trpc.hooks.list.query({ tableId: id }))[0]

/** Titles of the records whose delivery was received, once for each delivery. */
function receivedTitles(table: TestTable): unknown[] {
  const deliveries = new Map(bench.received().map((event) => [event.id, event]))
  return [...deliveries.values()].flatMap(({ data }) =>
    data.table_id === table.id ? data.rows.map(({ Title }) => Title) : [],
  )
}

describe('moving a table', () => {
  test('whose webhook repeats deliveries sends each of them once', async () => {
    const slow = await createHookBench({ webhookRetryMs: 6_000 })
    const table = await slow.table({ Title: 'SingleLineText' })
    await slow.hook(table)
    slow.receiver.answer('/hook', { status: 500 })
    await slow.rest.post(table.path, { Title: 'a' })
    await slow.rest.post(table.path, { Title: 'b' })
    await slow.app.services.records.feed.settled(slow.baseId)
    await slow.receiver.waitFor(2)
    const target = await createBase(slow.app, slow.owner)
    const { jobId, tableId } = await slow.trpc.copies.tableToBase.mutate({
      tableId: table.id,
      baseId: target.id,
      isMove: true,
    })
    expect(await ended(doorOf(slow.app, slow.owner), jobId)).toMatchObject({ status: 'completed' })
    // Nothing was repeated before the move, and none is answered before the last is due.
    expect(slow.receiver.requests).toHaveLength(2)
    slow.receiver.clear()
    slow.receiver.answer('/hook', { delayMs: 4_000 })
    await until(async () => {
      const [moved] = await slow.trpc.hooks.list.query({ tableId })
      return moved?.waiting === 0 && moved.last?.status === 'delivered'
    })
    const titles = slow.received().flatMap(({ data }) => data.rows.map(({ Title }) => Title))
    expect(titles.toSorted()).toEqual(['a', 'b'])
    await slow.stop()
  })

  test('calls its webhook for the first changes of the moved table', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }])
    await bench.hook(table)
    const { copies } = bench.app.services.hooks
    const { idsOfTable } = copies
    const tablesThere = () => bench.trpc.schema.tables.query({ baseId: targetId })
    const count = (await tablesThere()).length
    let isWritten = false
    copies.idsOfTable = async (tableId) => {
      const tables = await tablesThere()
      // The last look at the webhooks follows the publication.
      if (tables.length > count && !isWritten) {
        isWritten = true
        await bench.rest.patch(`/api/v2/tables/${tables.at(-1)?.id}/records`, { Id: 1, Title: 'early' })
        await bench.app.services.records.feed.settled(targetId)
      }
      return idsOfTable(tableId)
    }
    const moved = await move(table)
    copies.idsOfTable = idsOfTable
    await bench.rest.patch(moved.path, { Id: 1, Title: 'late' })
    await until(() => receivedTitles(moved).includes('late'))
    expect([isWritten, receivedTitles(moved)]).toEqual([true, ['early', 'late']])
  })

  test('whose webhook is paused keeps its pause, and all changes until then, each once and under the old names', async () => {
    const table = await bench.table({ Title: 'SingleLineText' })
    const hookId = await bench.hook(table)
    bench.receiver.answer('/hook', { status: 500 })
    const insert = (to: TestTable, Title: string) => bench.rest.post(to.path, { Title })
    const pauseOf = async () => (await bench.trpc.hooks.get.query({ hookId })).pause
    let count = 0
    await until(async () => {
      await Bun.sleep(100)
      if (count++ % 10 === 0) await insert(table, `during ${count}`)
      return (await pauseOf()) !== null
    }, 'The pause')
    expect(await pauseOf()).toMatchObject({ reason: 'failing' })
    const missed = ['missed 1', 'missed 2', 'missed 3']
    for (const title of missed) await insert(table, title)
    const moved = await move(table)
    const paused = await hookOf(moved)
    expect(paused).toMatchObject({ isActive: true, pause: { reason: 'failing' } })
    await insert(moved, 'after')
    await bench.app.services.records.feed.settled(targetId)
    bench.receiver.clear()
    await bench.trpc.hooks.setActive.mutate({ hookId: paused?.id ?? '', isActive: true })
    await until(() => receivedTitles(moved).includes('after'))
    expect(receivedTitles(moved)).toEqual(['after'])
    expect(receivedTitles(table).filter((title) => missed.includes(String(title)))).toEqual(missed)
    await bench.rest.patch(moved.path, { Id: 1, Title: 'last' })
    await until(() => receivedTitles(moved).includes('last'))
  })

  test('whose webhook is behind delivers each change once, those before the move under the old names', async () => {
    const table = await bench.table({ Title: 'SingleLineText' })
    await bench.hook(table, { deliverPer: 'record' })
    bench.receiver.answer('/hook', { delayMs: 3_000 })
    const titles: string[] = []
    for (const count of [600, 300, 250]) {
      const added = Array.from({ length: count }, (_, n) => `r${titles.length + n}`)
      titles.push(...added)
      const answer = await bench.rest.post(
        table.path,
        added.map((Title) => ({ Title })),
      )
      expect(answer.status).toBe(200)
    }
    await bench.app.services.records.feed.settled(bench.baseId)
    await until(async () => ((await hookOf(table))?.waiting ?? 0) > 0)
    expect((await hookOf(table))?.waiting).toBeLessThan(titles.length)
    const moved = await move(table)
    bench.receiver.answer('/hook', {})
    await bench.rest.patch(moved.path, { Id: 1, Title: 'last' })
    await until(async () => (await hookOf(moved))?.waiting === 0)
    await until(() => receivedTitles(moved).length > 0)
    expect(receivedTitles(moved)).toEqual(['last'])
    expect(receivedTitles(table).toSorted()).toEqual(titles.toSorted())
  })

  test('whose webhook has lost its condition, or its fields, keeps what that has missed in its log, to be sent by a person', async () => {
    for (const broken of ['condition', 'fields'] as const) {
      const table = await bench.table({ Title: 'SingleLineText', Stage: 'SingleLineText' })
      const stage = table.field('Stage').id
      const path = `/${broken}`
      await bench.hook(
        table,
        {
          operations: ['update'],
          ...(broken === 'condition'
            ? { isConditional: true, filter: { fieldId: stage, operator: 'eq' as const, value: 'x' } }
            : { triggerFieldIds: [stage] }),
        },
        { path: `${bench.receiver.url}${path}` },
      )
      await bench.rest.post(table.path, { Title: 'a' })
      await bench.trpc.schema.deleteField.mutate({ fieldId: stage })
      const missed = ['missed 1', 'missed 2', 'missed 3']
      for (const Title of missed)
        expect((await bench.rest.patch(table.path, { Id: 1, Title })).status).toBe(200)
      const moved = await move(table)
      const hook = await hookOf(moved)
      expect(hook).toMatchObject({ isActive: true, pause: { reason: broken }, dead: missed.length })
      const hookId = hook?.id ?? ''
      const { deliveries } = await bench.trpc.hooks.deliveries.query({ hookId })
      for (const delivery of deliveries)
        expect(delivery).toMatchObject({
          status: 'dead',
          error: { code: 'MISSED', message: expect.stringContaining(broken) },
        })
      expect(bench.received(path)).toEqual([])
      await bench.trpc.hooks.update.mutate({
        hookId,
        patch: { isConditional: false, filter: null, triggerFieldIds: [] },
      })
      await bench.trpc.hooks.retry.mutate({ hookId, deliveries: 'dead' })
      await until(() => bench.received(path).length >= missed.length)
      expect(bench.received(path).map(({ data }) => data.rows[0]?.Title)).toEqual(missed)
      expect(new Set(bench.received(path).map(({ data }) => data.table_id))).toEqual(new Set([table.id]))
    }
  })
})
