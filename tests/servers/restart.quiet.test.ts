import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { until } from '../support/until.ts'
import { type Answer, type RestartWorld, startRestartWorld } from './restart-support.ts'

/** "Within seconds": while PostgreSQL refuses connections. */
const RESTART_MS = 5_000
/** While it keeps its connections open and does not answer (docs/scaling.md). */
const FROZEN_MS = 15_000
/** A client sends no more than 256 requests at a time to one server, and all of those while it is frozen wait. */
const SEND_EVERY_MS = 1_000
const HANGS_AFTER_MS = 100_000

let world: RestartWorld
beforeAll(async () => {
  world = await startRestartWorld(HANGS_AFTER_MS)
})
afterAll(() => world.stop())

/**
 * Sends all kinds of requests again and again while PostgreSQL is away, and expects that each is answered in time, or
 * refused with the time to try again.
 *
 * @returns the number of those refused
 */
async function expectInTime(limitMs: number, whileAway: () => Promise<void>): Promise<number> {
  const sent: Promise<Answer>[] = []
  const timer = setInterval(() => sent.push(...world.sendAll()), SEND_EVERY_MS)
  await whileAway().finally(() => clearInterval(timer))
  const answers = (await Promise.all(sent)).toSorted((one, other) => other.ms - one.ms)
  const slowest = answers.slice(0, 3).map(({ kind, ms }) => `${kind} ${ms.toFixed(0)} ms`)
  console.info(`${answers.length} requests, the slowest: ${slowest.join(', ')}; allowed ${limitMs} ms`)
  expect(answers.filter(({ ms }) => ms >= limitMs)).toEqual([])
  const refused = answers.filter(({ status }) => status !== 200)
  expect(refused.filter(({ status, retryAfter }) => status !== 503 || retryAfter === null)).toEqual([])
  await until(
    async () => (await Promise.all(world.sendAll())).every(({ status }) => status === 200),
    'The service',
  )
  return refused.length
}

describe('no request waits longer', () => {
  test('than five seconds while PostgreSQL restarts', async () => {
    const refused = await expectInTime(RESTART_MS, async () => {
      await Bun.sleep(1.5 * SEND_EVERY_MS)
      await world.postgres.stop()
      // Longer than any request may wait.
      await Bun.sleep(RESTART_MS + 3 * SEND_EVERY_MS)
      await world.postgres.start()
      await Bun.sleep(1.5 * SEND_EVERY_MS)
    })
    expect(refused).toBeGreaterThan(50)
  })

  test('than fifteen seconds while PostgreSQL is frozen', async () => {
    const refused = await expectInTime(FROZEN_MS, async () => {
      await Bun.sleep(1.5 * SEND_EVERY_MS)
      world.postgres.freeze()
      // Longer than any request may wait.
      await Bun.sleep(FROZEN_MS + 1.5 * SEND_EVERY_MS).finally(world.postgres.thaw)
    })
    expect(refused).toBeGreaterThan(50)
  })
})
