import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { createMember } from '../support/factories.ts'
import { until } from '../support/until.ts'
import { createHookBench, type HookBench } from './support.ts'

let bench: HookBench
beforeAll(async () => {
  bench = await createHookBench({ webhookRetryMs: 1 })
})
afterAll(() => bench.stop())

/** What the owner, or somebody else, was told of a webhook, newest first. */
async function failuresOf(hookId: string, trpc = bench.trpc) {
  const { notifications } = await trpc.notifications.list.query({ unreadOnly: false })
  return notifications.flatMap(({ detail: { hook } }) => (hook?.id === hookId ? hook : []))
}

test('a delivery that is given up is told in the transaction that stores it, once for each failure', async () => {
  const table = await bench.table({ Title: 'SingleLineText' })
  const hookId = await bench.hook(table)
  const editor = await createMember(bench.app, bench.baseId, 'editor')
  const creatorOfAll = await bench.app.signUp('creator-of-all@example.com')
  const role = 'workspace-level-creator'
  await bench.trpc.auth.setWorkspaceRole.mutate({ userId: creatorOfAll.id, role })
  bench.receiver.answer('/hook', { status: 410 })
  const { meta } = bench.app.kernel
  const { atomically } = meta
  const transactions: string[][] = []
  meta.atomically = (statements) => {
    transactions.push(statements.map((statement) => statement.toSQL().sql))
    return atomically(statements)
  }
  await bench.rest.post(table.path, { Title: 'a' })
  await bench.settled()
  await bench.rest.post(table.path, { Title: 'b' })
  await bench.settled()
  meta.atomically = atomically
  const ends = transactions.filter((list) => list.some((sql) => /^update .?hook_deliveries/.test(sql)))
  expect(ends[0]?.some((sql) => /^insert into .?notifications/.test(sql))).toBe(true)
  expect(await failuresOf(hookId)).toMatchObject([{ title: 'Hook', isPaused: false }])
  expect(await failuresOf(hookId, bench.app.trpc(editor.token))).toEqual([])
  expect(await failuresOf(hookId, bench.app.trpc(creatorOfAll.token))).toMatchObject([{ title: 'Hook' }])
})

test('a webhook whose condition is lost is paused, and told', async () => {
  const table = await bench.table({ Title: 'SingleLineText', Count: 'Number' })
  const filter = { fieldId: table.field('Count').id, operator: 'gt' as const, value: 5 }
  const hookId = await bench.hook(table, { isConditional: true, filter })
  await bench.trpc.schema.deleteField.mutate({ fieldId: table.field('Count').id })
  await bench.rest.post(table.path, { Title: 'a' })
  await bench.app.services.records.feed.settled(bench.baseId)
  expect(await bench.trpc.hooks.get.query({ hookId })).toMatchObject({ pause: { reason: 'condition' } })
  expect(await failuresOf(hookId)).toMatchObject([{ isPaused: true }])
})

test('a webhook that only fails is paused and announced, and what has changed meanwhile is delivered afterwards', async () => {
  const table = await bench.table({ Title: 'SingleLineText' })
  const hookId = await bench.hook(table)
  bench.receiver.answer('/hook', { status: 500 })
  const insert = (Title: string) => bench.rest.post(table.path, { Title })
  const pauseOf = async () => (await bench.trpc.hooks.get.query({ hookId })).pause
  await insert('first')
  let count = 0
  await until(async () => {
    await Bun.sleep(100)
    if (count++ % 10 === 9) await insert(`during ${count}`)
    return (await pauseOf()) !== null
  }, 'The pause')
  expect(await pauseOf()).toMatchObject({ reason: 'failing', detail: 'Request failed with status code 500' })
  expect((await failuresOf(hookId)).at(0)).toMatchObject({ error: expect.any(String), isPaused: true })
  await insert('paused')
  await bench.app.services.records.feed.settled(bench.baseId)
  bench.receiver.clear()
  await bench.trpc.hooks.setActive.mutate({ hookId, isActive: true })
  await bench.settled()
  const own = bench.received().filter(({ data }) => data.table_id === table.id)
  expect(own.at(-1)?.data.rows[0]?.Title).toBe('paused')
  expect(await bench.trpc.hooks.retry.mutate({ hookId, deliveries: 'dead' })).toBeGreaterThan(0)
  await bench.settled()
  expect(bench.received().some(({ data }) => data.rows[0]?.Title === 'first')).toBe(true)
})

describe('a delivery whose webhook is told to skip what was missed', () => {
  let slow: HookBench
  beforeAll(async () => {
    slow = await createHookBench({ webhookRetryMs: 60_000 })
  })
  afterAll(() => slow.stop())
  beforeEach(() => slow.clear())

  const skip = (hookId: string) =>
    slow.trpc.hooks.setActive.mutate({ hookId, isActive: true, skipMissed: true })
  const deliveriesOf = async (hookId: string) =>
    (await slow.trpc.hooks.deliveries.query({ hookId })).deliveries.toReversed()

  test('during its call stays given up if that fails, and does not hold back the next of its record', async () => {
    const table = await slow.table({ Title: 'SingleLineText' })
    const hookId = await slow.hook(table)
    let calls = 0
    slow.receiver.answer('/hook', () => (++calls === 1 ? { status: 500, delayMs: 700 } : {}))
    await slow.rest.post(table.path, { Title: 'skipped' })
    await slow.receiver.waitFor(1)
    await skip(hookId)
    await Bun.sleep(1_200)
    expect(await deliveriesOf(hookId)).toMatchObject([{ status: 'dead', error: { code: 'SKIPPED' } }])
    await slow.rest.patch(table.path, { Id: 1, Title: 'next' })
    await slow.receiver.waitFor(2)
    await slow.settled()
    expect(await deliveriesOf(hookId)).toMatchObject([{ status: 'dead' }, { status: 'delivered' }])
    expect(slow.received().map(({ data }) => data.rows[0]?.Title)).toEqual(['skipped', 'next'])
  })

  test('during its call counts as delivered if that succeeds', async () => {
    const table = await slow.table({ Title: 'SingleLineText' })
    const hookId = await slow.hook(table)
    slow.receiver.answer('/hook', { delayMs: 700 })
    await slow.rest.post(table.path, { Title: 'skipped' })
    await slow.receiver.waitFor(1)
    await skip(hookId)
    await until(async () => (await deliveriesOf(hookId))[0]?.status === 'delivered', 'The stored result')
    expect(await deliveriesOf(hookId)).toMatchObject([{ status: 'delivered', error: null }])
  })

  test('among thousands is not sent any more', async () => {
    const table = await slow.table({ Title: 'SingleLineText' })
    const hookId = await slow.hook(table, { deliverPer: 'record' })
    slow.receiver.answer('/hook', { delayMs: 1_500 })
    const count = 3_600
    for (let at = 0; at < count; at += 150) {
      await slow.rest.post(
        table.path,
        Array.from({ length: 150 }, (_, n) => ({ Title: `r${at + n}` })),
      )
    }
    await slow.app.services.records.feed.settled(slow.baseId)
    await slow.receiver.waitFor(16)
    // Their results let the next ones begin, with those in memory.
    await Bun.sleep(2_000)
    await skip(hookId)
    const begun = slow.receiver.requests.length
    slow.receiver.answer('/hook', {})
    await Bun.sleep(3_000)
    expect(begun).toBeLessThan(count / 4)
    expect(slow.receiver.requests.length).toBeLessThanOrEqual(begun + 16)
  })
})
