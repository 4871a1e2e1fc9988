import { describe, expect, test } from 'bun:test'
import {
  createThrottle,
  MAX_FAILURES_PER_ACCOUNT,
  MAX_FAILURES_PER_ADDRESS,
  WINDOW_MS,
} from '../../modules/auth/throttle.ts'

const fail = () => Promise.reject(new Error('wrong'))
const ignore = () => undefined

describe('createThrottle', () => {
  test('counts failures over a sliding window and forgives what succeeds', async () => {
    let now = 0
    const { attempt } = createThrottle(() => now)
    for (let i = 0; i < 50; i++) await attempt('ann', '10.0.0.1', async () => 'in')
    for (let i = 0; i < MAX_FAILURES_PER_ACCOUNT; i++) {
      now += 1000
      await attempt('ann', '10.0.0.1', fail).catch(ignore)
    }
    expect(attempt('ann', '10.0.0.1', async () => 'in')).rejects.toMatchObject({ code: 'TOO_MANY_REQUESTS' })
    expect(await attempt('ann', '10.0.0.2', async () => 'in')).toBe('in')
    expect(await attempt('bob', '10.0.0.1', async () => 'in')).toBe('in')
    now = 1000 + WINDOW_MS
    expect(await attempt('ann', '10.0.0.1', async () => 'in')).toBe('in')
  })

  test('counts an attempt from its beginning, so that many at once do not slip through', async () => {
    const { attempt } = createThrottle()
    let runs = 0
    const slow = async () => {
      runs++
      await Bun.sleep(1)
      throw new Error('wrong')
    }
    await Promise.allSettled(Array.from({ length: 40 }, () => attempt('ann', '10.0.0.1', slow)))
    expect(runs).toBe(MAX_FAILURES_PER_ACCOUNT)
  })

  test('stops a place that tries many accounts', async () => {
    const { attempt } = createThrottle()
    for (let i = 0; i < MAX_FAILURES_PER_ADDRESS; i++)
      await attempt(`user${i}`, '10.0.0.1', fail).catch(ignore)
    expect(attempt('ann', '10.0.0.1', async () => 'in')).rejects.toMatchObject({ code: 'TOO_MANY_REQUESTS' })
  })
})
