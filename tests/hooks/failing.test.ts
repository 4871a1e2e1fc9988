import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { EventMap } from '../../src/events.ts'
import { createHookBench, type HookBench } from './support.ts'

let bench: HookBench
beforeAll(async () => {
  bench = await createHookBench({ webhookRetryMs: 1 })
})
afterAll(() => bench.stop())

test('a webhook that only fails is paused and announced, and what has changed meanwhile is delivered afterwards', async () => {
  const table = await bench.table({ Title: 'SingleLineText' })
  const hookId = await bench.hook(table)
  const told: EventMap['hook.failing'][] = []
  bench.app.kernel.events.on('hook.failing', (event) => void told.push(event))
  bench.receiver.answer('/hook', { status: 500 })
  const insert = (Title: string) => bench.rest.post(table.path, { Title })
  const pauseOf = async () => (await bench.trpc.hooks.get.query({ hookId })).pause
  await insert('first')
  const deadline = Date.now() + 30_000
  for (let count = 0; (await pauseOf()) === null && Date.now() < deadline; count++) {
    await Bun.sleep(100)
    if (count % 10 === 9) await insert(`during ${count}`)
  }
  expect(await pauseOf()).toMatchObject({ reason: 'failing', detail: 'Request failed with status code 500' })
  expect(told.at(-1)).toMatchObject({
    hookId,
    baseId: bench.baseId,
    since: expect.any(String),
    isPaused: true,
  })
  await insert('paused')
  await bench.app.services.records.feed.settled(bench.baseId)
  bench.receiver.clear()
  await bench.trpc.hooks.setActive.mutate({ hookId, isActive: true })
  await bench.settled()
  expect(bench.received().at(-1)?.data.rows[0]?.Title).toBe('paused')
  expect(await bench.trpc.hooks.retry.mutate({ hookId, deliveries: 'dead' })).toBeGreaterThan(0)
  await bench.settled()
  expect(bench.received().some(({ data }) => data.rows[0]?.Title === 'first')).toBe(true)
}, 60_000)
