import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createThrottle,
  MAX_FAILURES_PER_ACCOUNT,
  MAX_FAILURES_PER_ADDRESS,
  WINDOW_MS,
} from '../../modules/auth/throttle.ts'
import { type Meta, openMeta } from '../../src/db/meta.ts'
import { createEvents } from '../../src/events.ts'
import { createLimits } from '../../src/limits.ts'
import { createLog } from '../../src/log.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'sheaf-throttle-'))
let meta: Meta
beforeAll(async () => {
  meta = await openMeta({ dataDir, databaseUrl: null })
})
afterAll(async () => {
  await meta.close()
  rmSync(dataDir, { recursive: true, force: true })
})

const scope = () => ({
  limits: createLimits({
    meta,
    secrets: { connections: new Uint8Array(32) },
    events: createEvents(() => {}),
    log: createLog('silent'),
  }),
  name: 'test',
})
const fail = () => Promise.reject(new Error('wrong'))
const ignore = () => undefined

describe('createThrottle', () => {
  test('counts failures over a sliding window and forgives what succeeds', async () => {
    let now = 0
    const { attempt } = createThrottle(scope(), () => now)
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
    const { attempt } = createThrottle(scope())
    let runs = 0
    const slow = async () => {
      runs++
      await Bun.sleep(1)
      throw new Error('wrong')
    }
    await Promise.allSettled(Array.from({ length: 40 }, () => attempt('ann', '10.0.0.1', slow)))
    expect(runs).toBe(MAX_FAILURES_PER_ACCOUNT)
  })

  test('takes the addresses of one IPv6 network for one place, and IPv4 in IPv6 for IPv4', async () => {
    const { attempt } = createThrottle(scope())
    const from = (address: string) => attempt('ann', address, async () => 'in')
    for (let i = 0; i < MAX_FAILURES_PER_ACCOUNT; i++) {
      await attempt('ann', `2001:db8:0:7:${i}::1`, fail).catch(ignore)
      await attempt('ann', `::ffff:10.0.0.${i}`, fail).catch(ignore)
    }
    for (const same of ['2001:db8:0:7::', '2001:0DB8:0000:0007:1:2:3:4', '2001:db8:0:7::1%eth0'])
      expect(from(same)).rejects.toMatchObject({ code: 'TOO_MANY_REQUESTS' })
    for (const other of ['2001:db8:0:8::1', '2001:db8::7', '::1', '10.0.0.1', ''])
      expect(await from(other)).toBe('in')
    for (let i = 1; i < MAX_FAILURES_PER_ACCOUNT; i++) await attempt('ann', '10.0.0.1', fail).catch(ignore)
    expect(from('::ffff:10.0.0.1')).rejects.toMatchObject({ code: 'TOO_MANY_REQUESTS' })
  })

  test('stops a place that tries many accounts', async () => {
    const { attempt } = createThrottle(scope())
    for (let i = 0; i < MAX_FAILURES_PER_ADDRESS; i++)
      await attempt(`user${i}`, '10.0.0.1', fail).catch(ignore)
    expect(attempt('ann', '10.0.0.1', async () => 'in')).rejects.toMatchObject({ code: 'TOO_MANY_REQUESTS' })
  })
})
