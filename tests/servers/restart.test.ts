import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { io, type Socket } from 'socket.io-client'
import { hasEnded } from '../../src/jobs.ts'
import { resultOf, startImport } from '../imports/support.ts'
import { createRestClient, createTrpcClient } from '../support/client.ts'
import { until } from '../support/until.ts'
import { type Answer, METRICS_TOKEN, type RestartWorld, startRestartWorld } from './restart-support.ts'

/** With time for a busy machine; `restart.quiet.test.ts` has the promise. */
const ANSWER_MS = 60_000
/** Takes some seconds to import. */
const ROWS = 100_000
/** Until it is noticed that nothing answers, with time for a busy machine. */
const FROZEN_MS = 60_000

let world: RestartWorld
let postgres: RestartWorld['postgres']
let a: RestartWorld['a']
let b: RestartWorld['b']
let token: string
let baseId: string
let tableId: string
let path: string
let socket: Socket

beforeAll(async () => {
  world = await startRestartWorld(2 * FROZEN_MS)
  ;({ postgres, a, b, token, baseId, tableId, path } = world)
  // As browsers do: it comes back by itself.
  socket = io(b.url, { auth: { token }, transports: ['websocket'] })
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()))
})
afterAll(async () => {
  socket.close()
  await world.stop()
})

/** Sends all kinds of requests several times at once. */
const answers = (): Promise<Answer[]> => Promise.all(Array.from({ length: 5 }, world.sendAll).flat())

/** Whether all requests are refused with the time to try again, or some still answered; each within seconds. */
async function refusals(): Promise<'all' | 'some'> {
  const away = await answers()
  expect(Math.max(...away.map(({ ms }) => ms))).toBeLessThan(ANSWER_MS)
  const refused = away.filter(({ status }) => status !== 200)
  expect(refused.filter(({ status, retryAfter }) => status !== 503 || retryAfter === null)).toEqual([])
  return refused.length === away.length ? 'all' : 'some'
}

describe('while PostgreSQL restarts', () => {
  test('every request gets 503 with Retry-After within seconds, and service resumes', async () => {
    const before = await answers()
    expect(before.filter(({ status }) => status !== 200)).toEqual([])
    let missed = 0
    socket.on('missed', () => missed++)
    await postgres.stop()
    // Until a server hears of it, it may answer from what it remembers.
    const startedAt = performance.now()
    await until(async () => (await refusals()) === 'all', 'The refusal')
    expect(performance.now() - startedAt).toBeLessThan(ANSWER_MS)
    for (let round = 0; round < 3; round++) expect(await refusals()).toBe('all')
    await postgres.start()
    await until(async () => (await answers()).every(({ status }) => status === 200), 'The service')

    // Both servers hear each other again.
    await until(() => missed > 0, 'The message to read again')
    expect(await socket.emitWithAck('base:join', baseId, 0)).toMatchObject({ joined: true })
    const heard: number[] = []
    socket.on('change', ({ id }: { id: number }) => heard.push(id))
    const change = await createTrpcClient(a.url, token).records.write.mutate({
      change: { baseId, operations: [{ kind: 'insert', tableId, rows: [{ values: {} }] }] },
    })
    await until(() => heard.includes(change.id), 'The live update')
  })

  test('liveness, metrics and the web app answer whoever asks, and readiness says no', async () => {
    await until(async () => (await answers()).every(({ status }) => status === 200), 'The service')
    await postgres.stop()
    const answered = async (path: string, headers: Record<string, string>) => {
      const startedAt = performance.now()
      const { status } = await fetch(`${a.url}${path}`, { headers })
      expect(performance.now() - startedAt).toBeLessThan(ANSWER_MS)
      return status
    }
    const signedIn = { 'xc-auth': token }
    expect(await answered('/api/v1/health', signedIn)).toBe(200)
    expect(await answered('/api/v1/version', signedIn)).toBe(200)
    expect(await answered('/api/v1/ready', signedIn)).toBe(503)
    expect(await answered('/metrics', { authorization: `Bearer ${METRICS_TOKEN}` })).toBe(200)
    expect(await answered('/dashboard', signedIn)).toBe(200)
    await postgres.start()
    await until(async () => (await answers()).every(({ status }) => status === 200), 'The service')
    // Readiness is checked once in a second.
    await until(async () => (await answered('/api/v1/ready', signedIn)) === 200, 'Readiness')
  })

  test('a PostgreSQL that is frozen lets no request wait longer than some seconds', async () => {
    postgres.freeze()
    try {
      for (let round = 0; round < 2; round++) {
        const away = await answers()
        // Some need nothing but what the server remembers.
        const failed = away.filter(({ status }) => status !== 200)
        expect(failed.length).toBeGreaterThan(away.length / 2)
        expect(failed.filter(({ status, retryAfter }) => status !== 503 || retryAfter === null)).toEqual([])
        expect(Math.max(...away.map(({ ms }) => ms))).toBeLessThan(FROZEN_MS)
      }
      const called = createTrpcClient(a.url, token).notifications.list.query({
        unreadOnly: true,
        timeZone: 'UTC',
      })
      expect(await called.catch(({ data }) => data)).toMatchObject({
        httpStatus: 503,
        appCode: 'DATABASE_UNREACHABLE',
        details: { retryAfterSeconds: expect.any(Number), isUnanswered: true },
      })
      const startedAt = performance.now()
      expect((await fetch(`${a.url}/api/v1/health`)).status).toBe(200)
      expect((await fetch(`${a.url}/api/v1/ready`)).status).toBe(503)
      expect(performance.now() - startedAt).toBeLessThan(ANSWER_MS)
    } finally {
      postgres.thaw()
    }
    await until(async () => (await answers()).every(({ status }) => status === 200), 'The service')
  })

  test('writes are stored exactly when they were acknowledged or their answer was lost', async () => {
    const acknowledged: string[] = []
    const rejected = new Set<string>()
    let isWriting = true
    const rest = createRestClient(a.url, token)
    const write = async (writer: number) => {
      for (let count = 0; isWriting; count++) {
        const title = `${writer}-${count}`
        const { status } = await rest.post(path, { Title: title })
        if (status === 200) acknowledged.push(title)
        else rejected.add(`${status}`)
        if (status !== 200) await Bun.sleep(20)
      }
    }
    const writers = Array.from({ length: 4 }, (_, writer) => write(writer))
    await Bun.sleep(300)
    await postgres.stop()
    await Bun.sleep(300)
    await postgres.start()
    const count = acknowledged.length
    await until(() => acknowledged.length > count, 'A write after the restart')
    isWriting = false
    await Promise.all(writers)
    expect([...rejected]).toEqual(['503'])
    const titles: string[] = []
    for (let offset = 0; ; offset += 1000) {
      const { body } = await rest.get(`${path}?fields=Title&limit=1000&offset=${offset}`)
      titles.push(...body.list.map(({ Title }: { Title: string }) => Title))
      if (body.pageInfo.isLastPage) break
    }
    const stored = new Set(titles)
    expect(acknowledged.filter((title) => !stored.has(title))).toEqual([])
  })

  test('a running import starts again when PostgreSQL is back, and a waiting one after it', async () => {
    const api = createTrpcClient(a.url, token)
    const door = { url: a.url, token }
    const lines = Array.from({ length: ROWS }, (_, row) => `row ${row},${row}`)
    const file = ['Name,Number', ...lines].join('\n')
    const columns = [{ title: 'Name' }, { title: 'Number', type: 'Number' as const }]
    const job = (jobId: string) => api.jobs.get.query({ jobId })
    const running = await startImport(door, baseId, file, { title: 'Large', columns })
    const waiting = await startImport(door, baseId, 'Name\nonly', {
      title: 'Small',
      columns: columns.slice(0, 1),
    })
    await until(async () => (await job(running)).progress.done > 0, 'The import')
    await postgres.stop()
    await Bun.sleep(500)
    await postgres.start()
    for (const jobId of [running, waiting])
      await until(
        async () =>
          await job(jobId).then(
            ({ status }) => hasEnded(status),
            () => false,
          ),
        'The end',
      )
    const { tableId: large, rows } = resultOf(await job(running))
    expect(rows).toBe(ROWS)
    expect(resultOf(await job(waiting)).rows).toBe(1)
    const { body } = await createRestClient(b.url, token).get(`/api/v2/tables/${large}/records/count`)
    expect(body.count).toBe(ROWS)
    const { body: tables } = await createRestClient(b.url, token).get(`/api/v2/meta/bases/${baseId}/tables`)
    const titles = tables.list.map(({ title }: { title: string }) => title)
    expect(titles.filter((title: string) => /Large|Small/.test(title)).toSorted()).toEqual(['Large', 'Small'])
  })
})
