import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { io } from 'socket.io-client'
import { createTestApp, META_DATABASES, type TestApp, type TestUser } from './support/app.ts'
import { createBase } from './support/factories.ts'
import { until } from './support/until.ts'

const TOKEN = 'a-token-for-prometheus'

const scrape = (app: TestApp, authorization: string | null = `Bearer ${TOKEN}`) =>
  fetch(`${app.url}/metrics`, { headers: authorization === null ? {} : { authorization } })
const textOf = async (app: TestApp) => (await scrape(app)).text()

/** The value of a series; 0 if it does not exist. */
function seriesValue(text: string, series: string): number {
  const line = text.split('\n').find((each) => each.startsWith(`${series} `))
  return Number(line?.slice(series.length + 1) ?? 0)
}

describe('GET /metrics without METRICS_TOKEN', () => {
  test('does not exist, for an administrator either', async () => {
    const app = await createTestApp()
    const owner = await app.signUp()
    const tries: Record<string, string>[] = [{}, { 'xc-auth': owner.token }, { authorization: 'Bearer ' }]
    for (const headers of tries) {
      const answer = await fetch(`${app.url}/metrics`, { headers })
      expect(answer.status).toBe(404)
      expect(await answer.json()).toEqual({ msg: 'Cannot GET /metrics' })
    }
    expect(app.kernel.metrics).toBeNull()
    await app.stop()
  })
})

describe.each(META_DATABASES)('GET /metrics with metadata in %s', (database) => {
  let app: TestApp
  let owner: TestUser
  let baseId: string
  let tableId: string
  beforeAll(async () => {
    app = await createTestApp({ database, config: { metricsToken: TOKEN } })
    owner = await app.signUp()
    baseId = (await createBase(app, owner)).id
    tableId = (await app.trpc(owner.token).schema.createTable.mutate({ baseId, title: 'Measured' })).table.id
  })
  afterAll(() => app.stop())

  test('refuses everyone without the token', async () => {
    for (const authorization of [null, 'Bearer wrong', `Basic ${TOKEN}`, TOKEN, `Bearer ${owner.token}`]) {
      const answer = await scrape(app, authorization)
      expect([authorization, answer.status]).toEqual([authorization, 401])
      expect(answer.headers.get('www-authenticate')).toBe('Bearer')
      expect(await answer.text()).not.toContain('sheaf_')
    }
    const signedIn = await fetch(`${app.url}/metrics`, { headers: { 'xc-auth': owner.token } })
    expect(signedIn.status).toBe(401)
  })

  test('says nothing of backups before the first', async () => {
    const text = await textOf(app)
    expect(text).toMatch(/^sheaf_sockets 0$/m)
    expect(text).not.toMatch(/^sheaf_backup_/m)
  })

  test('counts requests by route template and status, never by path', async () => {
    const records = `/api/v2/tables/${tableId}/records`
    const rest = app.rest(owner.token)
    const before = await textOf(app)
    await rest.post(records, { Title: 'one' })
    await rest.get(records)
    await rest.get(records)
    await app.rest().get(records)
    await fetch(`${app.url}/api/v2/tables/${crypto.randomUUID()}/nothing-of-the-kind`)
    await fetch(`${app.url}/${crypto.randomUUID()}`, { method: 'PROPFIND' }).catch(() => undefined)
    const text = await textOf(app)
    const route = '/api/v2/tables/:tableId/records'
    const of = (method: string, status: number, at = text) =>
      seriesValue(at, `sheaf_http_requests_total{method="${method}",route="${route}",status="${status}"}`)
    expect(of('GET', 200) - of('GET', 200, before)).toBe(2)
    expect(of('POST', 200) - of('POST', 200, before)).toBe(1)
    expect(of('GET', 401) - of('GET', 401, before)).toBe(1)
    const unmatched = 'sheaf_http_requests_total{method="GET",route="unmatched",status="404"}'
    expect(seriesValue(text, unmatched) - seriesValue(before, unmatched)).toBe(1)
    const latencies = `sheaf_http_request_duration_seconds_count{method="GET",route="${route}"}`
    expect(seriesValue(text, latencies) - seriesValue(before, latencies)).toBe(3)
    for (const id of [tableId, baseId, owner.id, owner.email]) expect(text).not.toContain(id)
  })

  test('counts the web app’s calls by procedure', async () => {
    await app.trpc(owner.token).bases.list.query()
    await app
      .trpc(owner.token)
      .schema.createTable.mutate({ baseId, title: 'Measured' })
      .catch(() => undefined)
    const text = await textOf(app)
    expect(seriesValue(text, 'sheaf_trpc_calls_total{procedure="bases.list",outcome="ok"}')).toBeGreaterThan(
      0,
    )
    expect(seriesValue(text, 'sheaf_trpc_calls_total{procedure="schema.createTable",outcome="error"}')).toBe(
      1,
    )
    expect(text).toContain('route="/trpc/*",status="200"')
  })

  test('times the doors and the databases', async () => {
    await app.trpc(owner.token).records.list.query({ query: { tableId, offset: 0, limit: 25 } })
    const text = await textOf(app)
    const door = (labels: string) => seriesValue(text, `sheaf_door_duration_seconds_count{${labels}}`)
    expect(door('door="write",operation="apply",outcome="ok"')).toBeGreaterThan(0)
    expect(door('door="read",operation="list",outcome="ok"')).toBeGreaterThan(0)
    const client = database === 'sqlite' ? 'sqlite3' : 'pg'
    for (const kind of ['read', 'write']) {
      const series = `sheaf_database_duration_seconds_count{client="${client}",kind="${kind}"}`
      expect([kind, seriesValue(text, series) > 0]).toEqual([kind, true])
    }
  })

  test('shows sockets, jobs, the pool, caches, sizes and the process', async () => {
    const socket = io(app.url, { auth: { token: owner.token }, transports: ['websocket'], forceNew: true })
    await new Promise<void>((resolve, reject) => {
      socket.on('connect', resolve)
      socket.on('connect_error', reject)
    })
    await app.rest(owner.token).get(`/api/v2/tables/${tableId}/records`)
    const text = await textOf(app)
    expect(seriesValue(text, 'sheaf_sockets')).toBe(1)
    expect(text).toContain('sheaf_jobs{state="waiting"} 0')
    expect(text).toContain('sheaf_pool_tasks{kind="large read",state="running"} 0')
    const plans = seriesValue(text, 'sheaf_cache_reads_total{cache="plans",result="hit"}')
    expect(plans + seriesValue(text, 'sheaf_cache_reads_total{cache="plans",result="miss"}')).toBeGreaterThan(
      0,
    )
    expect(text).toContain('sheaf_cache_reads_total{cache="accounts",result="')
    const part = database === 'sqlite' ? 'bases' : 'postgres'
    expect(seriesValue(text, `sheaf_database_size_bytes{database="${part}"}`)).toBeGreaterThan(0)
    for (const name of [
      'process_resident_memory_bytes',
      'process_cpu_seconds_total',
      'process_start_time_seconds',
      'sheaf_data_folder_free_bytes',
    ])
      expect([name, seriesValue(text, name) > 0]).toEqual([name, true])
    // Prometheus rejects a page that repeats a metric.
    const types = text.split('\n').filter((line) => line.startsWith('# TYPE'))
    expect(new Set(types).size).toBe(types.length)
    socket.close()
  })

  test('shows the delay of the event loop, which is sampled between scrapes', async () => {
    const lag = async () => seriesValue(await textOf(app), 'sheaf_event_loop_lag_seconds{percentile="99"}')
    let seconds = 0
    await until(async () => {
      seconds = await lag()
      return seconds > 0
    }, 'A sample')
    expect(seconds).toBeLessThan(60)
  })

  test('counts the jobs that this server has ended, and not those that others report', async () => {
    const { jobs, events } = app.kernel
    jobs.register('trial', { run: async () => null, recover: async () => null })
    // The state is stored before it is announced, and the counter follows the announcement.
    const announced = new Promise<void>((resolve) => {
      events.on('job.changed', ({ kind, status }) => {
        if (kind === 'trial' && status === 'completed') resolve()
      })
    })
    const job = await jobs.start('trial', { userId: owner.id, baseId: null, input: {} })
    await announced
    events.emit('job.changed', { ...job, kind: 'elsewhere', status: 'completed' })
    const text = await textOf(app)
    expect(seriesValue(text, 'sheaf_jobs_total{kind="trial",status="completed"}')).toBe(1)
    expect(text).not.toContain('elsewhere')
  })

  test('follows the conventions that `promtool check metrics` checks', async () => {
    const text = await textOf(app)
    const types = new Map<string, string>()
    for (const [, name = '', type = ''] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm)) types.set(name, type)
    const help = new Set([...text.matchAll(/^# HELP (\S+) \S/gm)].map(([, name]) => name ?? ''))
    expect(help).toEqual(new Set(types.keys()))
    const problems: string[] = []
    for (const [name, type] of types) {
      const isCounter = type === 'counter'
      if (!['counter', 'gauge', 'histogram'].includes(type)) problems.push(`${name} is a ${type}`)
      if (!/^(sheaf|process)(_[a-z]+)+$/.test(name)) problems.push(`${name} is no snake case with a prefix`)
      if (isCounter !== name.endsWith('_total')) problems.push(`${name} is a ${type}`)
      if (/_(count|sum|bucket)$/.test(name)) problems.push(`${name} ends as a part of a histogram`)
      if (/_(ms|milliseconds|minutes|kilobytes|megabytes|percent)(_|$)/.test(name))
        problems.push(`${name} is not in a base unit`)
      if (/_(counter|gauge|histogram|summary)(_|$)/.test(name)) problems.push(`${name} names its type`)
    }
    const samples = [...text.matchAll(/^(\w+)(?:\{([^}]*)\})? (\S+)$/gm)]
    expect(samples.length).toBe(text.split('\n').filter((line) => /^[^#\s]/.test(line)).length)
    for (const [, name = '', labels = '', value] of samples) {
      const family = name.replace(/_(?:bucket|count|sum)$/, '')
      const type = types.get(name) ?? types.get(family)
      if (type === undefined) problems.push(`${name} has no type`)
      if (!Number.isFinite(Number(value))) problems.push(`${name} is ${value}`)
      for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) {
        if (!/^[a-z]+$/.test(label) || label === 'quantile') problems.push(`${name} has the label ${label}`)
        if (label === 'le' && type !== 'histogram') problems.push(`${name} has the label le`)
      }
    }
    expect(problems).toEqual([])
  })

  test('the number of series does not grow with tables', async () => {
    const seriesOf = (text: string) => text.split('\n').filter((line) => /^\w/.test(line)).length
    const use = async (title: string) => {
      const { table } = await app.trpc(owner.token).schema.createTable.mutate({ baseId, title })
      await app.rest(owner.token).get(`/api/v2/tables/${table.id}/records`)
    }
    await use('First')
    const before = seriesOf(await textOf(app))
    for (const title of ['Second', 'Third', 'Fourth']) await use(title)
    expect(seriesOf(await textOf(app))).toBe(before)
  })
})
