import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { io, type Socket } from 'socket.io-client'
import { hasEnded } from '../../src/jobs.ts'
import { type ServerProcess, startServerProcess } from '../imports/server-process.ts'
import { resultOf, startImport } from '../imports/support.ts'
import { PASSWORD } from '../support/app.ts'
import { createRestClient, createTrpcClient } from '../support/client.ts'
import { type RestartablePostgres, startRestartablePostgres } from '../support/postgres.ts'
import { until } from '../support/until.ts'

/** "Within seconds", with time for a busy machine. */
const ANSWER_MS = 60_000
/** Takes some seconds to import. */
const ROWS = 100_000

let postgres: RestartablePostgres
/** Until it is noticed that nothing answers, with time for a busy machine. */
const FROZEN_MS = 60_000
const METRICS_TOKEN = 'a-token-of-Prometheus-for-metrics'
let dataDir: string
let a: ServerProcess
let b: ServerProcess
let token: string
let baseId: string
let tableId: string
let titleId: string
/** Public links. */
let link: { form: string; grid: string }
let socket: Socket
/** Who signs in, in turn: sign-ins without an answer count as failures, of which an account has few. */
const OTHERS = ['ben', 'cleo', 'dan', 'eve'].map((name) => `${name}@example.com`)
let round = 0

beforeAll(async () => {
  postgres = await startRestartablePostgres()
  dataDir = mkdtempSync(join(tmpdir(), 'sheaf-restart-'))
  const env = {
    DATABASE_URL: postgres.url,
    LOG_LEVEL: 'info',
    METRICS_TOKEN,
    // The requests are many, and come from one address.
    FORM_ANSWERS_PER_HOUR: '1000000',
    SIGN_UPS_PER_HOUR: '1000000',
  }
  a = await startServerProcess(dataDir, env)
  b = await startServerProcess(dataDir, env)
  token = (await createTrpcClient(a.url).auth.signUp.mutate({ email: 'ann@example.com', password: PASSWORD }))
    .token
  for (const email of OTHERS) await createTrpcClient(a.url).auth.signUp.mutate({ email, password: PASSWORD })
  const api = createTrpcClient(a.url, token)
  baseId = (await api.bases.create.mutate({ title: 'B' })).id
  const { table, fields } = await api.schema.createTable.mutate({ baseId, title: 'T' })
  tableId = table.id
  titleId = fields.find(({ title }) => title === 'Title')?.id ?? ''
  const share = async (kind: 'form' | 'grid') => {
    const view = await api.views.create.mutate({ tableId, title: kind, kind })
    await api.views.arrange.mutate({
      viewId: view.id,
      fields: fields.map(({ id }, order) => ({ fieldId: id, show: id === titleId, order })),
    })
    return (await api.shares.save.mutate({ kind: 'view', targetId: view.id, patch: {} })).id
  }
  link = { form: await share('form'), grid: await share('grid') }
  // As browsers do: it comes back by itself.
  socket = io(b.url, { auth: { token }, transports: ['websocket'] })
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()))
})
afterAll(async () => {
  socket.close()
  await postgres.start()
  await Promise.all([a.end('SIGTERM'), b.end('SIGTERM')])
  await postgres.remove()
  rmSync(dataDir, { recursive: true, force: true })
})

const path = () => `/api/v2/tables/${tableId}/records`

/** One request of each kind, by name. */
function requests(): Record<string, () => Promise<Response>> {
  const visit = (id: string) => ({ 'xc-shared-view-id': id })
  const send = (to: string, headers: Record<string, string>, body?: unknown) => () =>
    fetch(`${a.url}${to}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(2 * FROZEN_MS),
    })
  const trpc = (name: string, input: unknown, headers: Record<string, string> = { 'xc-auth': token }) =>
    send(`/trpc/${name}`, headers, input)
  const change = { baseId, operations: [{ kind: 'insert', tableId, rows: [{ values: { [titleId]: 'x' } }] }] }
  return {
    'REST list': send(path(), { 'xc-auth': token }),
    'REST filter': send(`${path()}?where=(Title,like,x)`, { 'xc-auth': token }),
    'REST insert': send(path(), { 'xc-auth': token }, { Title: 'x' }),
    'REST bases': send('/api/v2/meta/bases', { 'xc-auth': token }),
    'tRPC table': trpc('schema.table', { tableId }),
    'tRPC insert': trpc('records.write', { change }),
    'tRPC new table': trpc('schema.createTable', { baseId, title: `New ${crypto.randomUUID()}` }),
    'tRPC sign-in': trpc('auth.signIn', { email: OTHERS[round % OTHERS.length], password: PASSWORD }, {}),
    'shared view': send(`/api/v1/db/public/shared-view/${link.grid}/rows`, {}),
    'form submission': send(`/api/v1/db/public/shared-view/${link.form}/rows`, {}, { data: { Title: 'x' } }),
    'tRPC form': trpc('shares.submit', { values: { [titleId]: 'x' } }, visit(link.form)),
  }
}

/** Sends all kinds of requests several times at once; each answer's status with the kind. */
async function answers(): Promise<{ kind: string; status: number; retryAfter: string | null; ms: number }[]> {
  round++
  const all = Array.from({ length: 5 }, () => Object.entries(requests())).flat()
  const sent = all.map(async ([kind, send]) => {
    const startedAt = performance.now()
    const { status, headers } = await send()
    return { kind, status, retryAfter: headers.get('retry-after'), ms: performance.now() - startedAt }
  })
  return Promise.all(sent)
}

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
        const { status } = await rest.post(path(), { Title: title })
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
      const { body } = await rest.get(`${path()}?fields=Title&limit=1000&offset=${offset}`)
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
