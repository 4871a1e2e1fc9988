import { Database } from 'bun:sqlite'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AppError } from '../../src/core/errors.ts'
import { type Meta, openMeta } from '../../src/db/meta.ts'
import { createEvents, type Events } from '../../src/events.ts'
import { createJobs } from '../../src/jobs/create-jobs.ts'
import type { JobContext, JobKind, Jobs } from '../../src/jobs.ts'
import { createLog } from '../../src/log.ts'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import { createBase } from '../support/factories.ts'
import { createDatabase } from '../support/servers.ts'
import { until } from '../support/until.ts'
import { doorOf, ended, startImport } from './support.ts'

const log = createLog('silent')

describe('createJobs', () => {
  let dataDir: string
  let meta: Meta
  let events: Events
  let jobs: Jobs
  let seen: string[]

  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'sheaf-jobs-'))
    meta = await openMeta({ dataDir, databaseUrl: null })
    events = createEvents(() => {})
    jobs = createJobs({ meta, events, log })
    seen = []
    events.on('job.changed', ({ id, status, progress }) => seen.push(`${id} ${status} ${progress.done}`))
  })
  afterEach(async () => {
    await jobs.close()
    await meta.close()
    rmSync(dataDir, { recursive: true, force: true })
  })

  /** Registers a kind whose runs last until they are let go. */
  function register(definition: Partial<JobKind<unknown>> = {}) {
    const running = new Map<string, { context: JobContext; finish(result?: unknown): void }>()
    jobs.register('test', {
      run: (_input, context) =>
        new Promise((resolve, reject) => {
          running.set(context.jobId, { context, finish: resolve })
          context.signal.addEventListener('abort', () => reject(context.signal.reason))
        }),
      recover: async () => null,
      ...definition,
    })
    return running
  }

  const start = (id: string, baseId: string | null = 'p1') =>
    jobs.start('test', { id, userId: 'us1', baseId, input: { id } })

  const statusOf = async (id: string) => (await jobs.find(id))?.status

  test('shows the end of a job when it is stored and announced, not earlier', async () => {
    const running = register()
    await start('a')
    await until(() => running.has('a'))
    const { atomically } = meta
    const [storing, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    meta.atomically = async (statements) => {
      storing.resolve()
      await gate.promise
      return atomically(statements)
    }
    running.get('a')?.finish()
    await storing.promise
    expect(await statusOf('a')).toBe('active')
    expect((await jobs.list({ unfinished: true })).map(({ id }) => id)).toEqual(['a'])
    gate.resolve()
    await until(async () => (await statusOf('a')) === 'completed')
    expect(seen).toContain('a completed 0')
  })

  test('cleans up once, however often it is asked, and again after an outage', async () => {
    const running = register()
    await start('a')
    await until(() => running.has('a'))
    let isAway = true
    const recovered: string[] = []
    const next = createJobs({ meta, events, log })
    next.register('test', {
      run: async () => null,
      async recover(_, { id }) {
        if (isAway) throw new AppError('DATABASE_UNREACHABLE', 'away', { retryAfterSeconds: 1 })
        recovered.push(id)
        await Bun.sleep(20)
        return { result: { rows: 7 } }
      },
    })
    await expect(next.recover()).rejects.toThrow('away')
    expect((await next.find('a'))?.status).toBe('active')
    isAway = false
    await Promise.all([next.recover(), next.recover()])
    expect(recovered).toEqual(['a'])
    expect((await next.find('a'))?.status).toBe('completed')
    await next.close()
  })

  test('runs one job of a base at a time, and jobs of two bases side by side', async () => {
    const running = register()
    await start('a')
    await start('b')
    await start('c', 'p2')
    await until(() => running.has('a') && running.has('c'))
    expect(await statusOf('b')).toBe('waiting')
    running.get('a')!.finish({ rows: 1 })
    await until(() => running.has('b'))
    expect(await jobs.find('a')).toMatchObject({ status: 'completed', result: { rows: 1 }, error: null })
  })

  test('runs a few jobs at a time, whatever their bases', async () => {
    const running = register()
    for (const id of ['a', 'b', 'c']) await start(id, `p${id}`)
    await until(() => running.size === 2)
    await Bun.sleep(20)
    expect(await statusOf('c')).toBe('waiting')
  })

  test('lets others run while a job waits for something else, and goes on once there is room', async () => {
    const running = register()
    for (const id of ['a', 'b', 'c', 'd']) await start(id, id)
    await start('e', 'a')
    await until(() => running.size === 2)
    const { promise, resolve } = Promise.withResolvers<void>()
    let isBack = false
    const away = running.get('a')?.context.awayFor(() => promise)
    void away?.then(() => {
      isBack = true
    })
    await until(() => running.has('c'))
    resolve()
    await Bun.sleep(700)
    expect([isBack, [...running.keys()]]).toEqual([false, ['a', 'b', 'c']])
    running.get('b')?.finish()
    await away
    // Neither beside the two nor in the base of the first.
    expect([...running.keys()]).toEqual(['a', 'b', 'c'])
    running.get('a')?.finish()
    await until(() => running.has('d'))
    running.get('c')?.finish()
    await until(() => running.has('e'))
  })

  test('waits with what it remembers for other servers, within a transaction not for long', async () => {
    const running = register()
    await start('a')
    await until(() => running.has('a'))
    const { cluster } = meta
    const { isCurrent } = cluster
    const context = running.get('a')?.context
    cluster.isCurrent = () => false
    try {
      await expect(context?.remember('now', { patienceMs: 600 })).rejects.toMatchObject({
        code: 'DATABASE_UNREACHABLE',
        status: 503,
      })
      let isStored = false
      const stored = context?.remember('later').then(() => {
        isStored = true
      })
      await Bun.sleep(700)
      expect(isStored).toBe(false)
      cluster.isCurrent = isCurrent
      await stored
    } finally {
      cluster.isCurrent = isCurrent
    }
  })

  test('tells of progress now and then, however often it is reported', async () => {
    const running = register()
    await start('a')
    await until(() => running.has('a'))
    seen.length = 0
    for (let done = 1; done <= 10_000; done++) running.get('a')!.context.report({ done })
    expect(seen).toEqual(['a active 1'])
    expect(await jobs.find('a')).toMatchObject({ progress: { done: 10_000 } })
    await until(() => seen.length === 2)
    expect(seen[1]).toBe('a active 10000')
  })

  test('gives a refusal to the person, and keeps other errors to the log', async () => {
    register({
      run: async (input) => {
        if (JSON.stringify(input).includes('refused')) throw new AppError('BAD_REQUEST', 'The file is empty')
        throw new Error('secret')
      },
    })
    await start('refused')
    await start('broken')
    await until(async () => (await statusOf('broken')) === 'failed')
    expect((await jobs.find('refused'))?.error).toBe('The file is empty')
    expect((await jobs.find('broken'))?.error).toBe('Something went wrong on the server')
  })

  test('ends a waiting job at once and a running one when it lets go', async () => {
    const running = register()
    await start('a')
    await start('b')
    await until(() => running.has('a'))
    await jobs.cancel('b')
    expect(await statusOf('b')).toBe('cancelled')
    await jobs.cancel('a')
    await until(async () => (await statusOf('a')) === 'cancelled')
    expect(running.has('b')).toBe(false)
  })

  test('cleans up after a former process, and notes what that had finished', async () => {
    const running = register()
    await start('a')
    await start('b', 'p2')
    await until(() => running.size === 2)
    const recovered: unknown[] = []
    const next = createJobs({ meta, events, log })
    next.register('test', {
      run: async () => null,
      recover: async (input, job) => {
        recovered.push([input, job])
        return job.id === 'b' ? { result: { rows: 7 } } : null
      },
    })
    await next.recover()
    expect(recovered).toContainEqual([{ id: 'a' }, { id: 'a', userId: 'us1' }])
    expect(await next.find('a')).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('The server stopped'),
    })
    expect(await next.find('b')).toMatchObject({ status: 'completed', result: { rows: 7 } })
  })

  test('runs a job once those that it comes after have ended, and others meanwhile', async () => {
    const running = register({ after: (input) => (input as { after?: string[] }).after ?? [] })
    const startAfter = (id: string, after: string[]) =>
      jobs.start('test', { id, userId: 'us1', baseId: `p ${id}`, input: { after } })
    await start('parent')
    await startAfter('child', ['parent'])
    await startAfter('grandchild', ['child'])
    await start('other', 'p2')
    await until(() => running.has('other'))
    expect([...running.keys()]).toEqual(['parent', 'other'])
    running.get('parent')?.finish()
    await until(() => running.has('child'))
    await startAfter('last', ['grandchild'])
    await jobs.cancel('grandchild')
    running.get('other')?.finish()
    await until(() => running.has('last'))
    expect([...running.keys()]).toEqual(['parent', 'other', 'child', 'last'])
  })

  test('runs a job before those behind it in its base once those have ended that it comes after', async () => {
    const running = register({ after: (input) => (input as { after?: string[] }).after ?? [] })
    const startAfter = (id: string, after: string[]) =>
      jobs.start('test', { id, userId: 'us1', baseId: 'p1', input: { after } })
    await start('parent')
    await startAfter('child', ['parent'])
    await startAfter('grandchild', ['child'])
    await start('behind')
    for (const id of ['parent', 'child', 'grandchild', 'behind']) {
      await until(() => running.size > 0)
      expect([...running.keys()]).toEqual([id])
      running.get(id)?.finish()
      running.delete(id)
    }
  })

  test('lets those behind a job run while another server has the one that it comes after', async () => {
    const running = register({ after: (input) => (input as { after?: string[] }).after ?? [] })
    const now = new Date().toISOString()
    const common = { userId: 'us1', baseId: 'p1', result: null, error: null, createdAt: now, updatedAt: now }
    const progress = { done: 0, total: null, unit: 'rows' as const }
    await jobs.record({ ...common, id: 'elsewhere', kind: 'test', status: 'active', progress })
    await jobs.start('test', { id: 'child', userId: 'us1', baseId: 'p1', input: { after: ['elsewhere'] } })
    await start('behind')
    await until(() => running.has('behind'))
    expect(await statusOf('child')).toBe('waiting')
    running.get('behind')?.finish()
    await until(async () => (await statusOf('behind')) === 'completed')
  })

  test('runs a job that is found first after a crash when those have ended that it comes after', async () => {
    const order: string[] = []
    const kind: JobKind<unknown> = {
      resumes: true,
      after: (input) => (input as { after?: string[] }).after ?? [],
      run: async (_input, { jobId, isResumed, signal }) => {
        if (isResumed) return order.push(jobId)
        const { promise, reject } = Promise.withResolvers<never>()
        signal.addEventListener('abort', () => reject(signal.reason))
        return promise
      },
      recover: async () => 'resume',
    }
    jobs.register('test', kind)
    const startIn = (id: string, input: unknown) =>
      jobs.start('test', { id, userId: 'us1', baseId: 'p1', input })
    await startIn('parent', {})
    await startIn('child', { after: ['parent'] })
    await until(async () => (await statusOf('parent')) === 'active')
    const file = new Database(join(dataDir, 'sheaf.db'))
    file.run("update jobs set created_at = '2026-01-01T00:00:00.000Z' where id = 'child'")
    file.close()
    const next = createJobs({ meta, events, log })
    next.register('test', kind)
    await next.recover()
    await until(() => order.length === 2)
    expect(order).toEqual(['parent', 'child'])
    await next.close()
  })

  test('goes on with a job that was found when the database went away', async () => {
    const resumed: string[] = []
    const kind: JobKind<unknown> = {
      resumes: true,
      run: async (_input, { jobId, isResumed, signal }) => {
        if (isResumed) return resumed.push(jobId)
        const { promise, reject } = Promise.withResolvers<never>()
        signal.addEventListener('abort', () => reject(signal.reason))
        return promise
      },
      recover: async () => 'resume',
    }
    jobs.register('test', kind)
    await start('a')
    await until(async () => (await statusOf('a')) === 'active')
    let isAway = true
    const db: Meta['db'] = Object.create(meta.db, {
      select: {
        value(fields?: object) {
          if (isAway && fields && 'isCancelled' in fields)
            throw new AppError('DATABASE_UNREACHABLE', 'away', { retryAfterSeconds: 1 })
          return fields ? meta.db.select(fields as never) : meta.db.select()
        },
      },
    })
    const next = createJobs({ meta: { ...meta, db }, events, log })
    next.register('test', kind)
    await expect(next.recover()).rejects.toThrow('away')
    isAway = false
    await until(() => resumed.length === 1)
    await until(async () => (await next.find('a'))?.status === 'completed')
    await next.close()
  })

  test('goes on with a job that resumes, after a crash and after a stop, but not for ever', async () => {
    const resumed: boolean[] = []
    const kind: JobKind<unknown> = {
      resumes: true,
      run: (_input, { isResumed, signal }) => {
        resumed.push(isResumed)
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason))
        })
      },
      recover: async () => 'resume',
    }
    jobs.register('test', kind)
    await start('a')
    await start('b')
    await until(() => resumed.length === 1)
    // Without an end, as when it is killed.
    for (let restarts = 1; restarts <= 5; restarts++) {
      const next = createJobs({ meta, events, log })
      next.register('test', kind)
      await next.recover()
      await until(() => resumed.length === 1 + restarts)
      expect((await next.find('a'))?.progress.restarts).toBe(restarts)
      await next.close()
      expect((await next.find('a'))?.status).toBe('active')
      expect((await next.find('b'))?.status).toBe('waiting')
    }
    expect(resumed).toEqual([false, true, true, true, true, true])
    const last = createJobs({ meta, events, log })
    last.register('test', kind)
    await last.recover()
    expect((await last.find('a'))?.status).toBe('failed')
    await last.close()
  })

  test('goes on as often as the runs come further, and counts no run of a job that waits', async () => {
    const runs: string[] = []
    let isAdvancing = true
    let done = 0
    const kind: JobKind<unknown> = {
      resumes: true,
      run: (_input, { jobId, signal, report }) => {
        runs.push(jobId)
        if (isAdvancing) report({ done: ++done })
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason))
        })
      },
      recover: async () => 'resume',
      giveUp: async (_input, { remembered }) => `given up with ${remembered}`,
    }
    jobs.register('test', kind)
    await start('a')
    await start('b')
    const stored = createJobs({ meta, events, log })
    await until(async () => (await stored.find('a'))?.progress.done === 1)
    const restart = async () => {
      const next = createJobs({ meta, events, log })
      next.register('test', kind)
      await next.recover()
      return next
    }
    for (let restarts = 1; restarts <= 14; restarts++) {
      isAdvancing = restarts <= 8
      const next = await restart()
      await until(
        async () => runs.length === 1 + restarts && (await stored.find('a'))?.progress.done === done,
      )
      await until(async () => (await stored.find('a'))?.status === 'active')
      await next.close()
    }
    const last = await restart()
    await until(async () => (await last.find('a'))?.status === 'failed')
    expect((await last.find('a'))?.error).toBe('given up with null')
    expect(runs.slice(0, 15)).toEqual(Array.from({ length: 15 }, () => 'a'))
    await until(async () => (await last.find('b'))?.status === 'active')
    await last.close()
    await stored.close()
  })

  test('runs again after an outage as often as the runs come further', async () => {
    const away = () => new AppError('DATABASE_UNREACHABLE', 'The database is away', { retryAfterSeconds: 1 })
    let runs = 0
    register({
      run: async (_input, { report }) => {
        runs++
        if (runs <= 5) report({ done: runs })
        throw away()
      },
      recover: async () => 'resume',
    })
    await start('a')
    await until(async () => (await statusOf('a')) === 'failed')
    expect([runs, (await jobs.find('a'))?.error]).toEqual([8, 'The database is away'])
  })

  test('cleans up after a job that outages interrupt too often, and says what it leaves', async () => {
    register({
      run: async (_input, { remember }) => {
        await remember('7 rows')
        throw new AppError('DATABASE_UNREACHABLE', 'The database is away', { retryAfterSeconds: 1 })
      },
      recover: async () => 'resume',
      giveUp: async (_input, { remembered, reason }) => `${reason}. It leaves ${remembered}`,
    })
    await start('a')
    await until(async () => (await statusOf('a')) === 'failed')
    expect((await jobs.find('a'))?.error).toBe(
      'The connection to the database was lost repeatedly while this was running. It leaves 7 rows',
    )
  })

  test('leaves a job cancelled whose server is killed before it has let go', async () => {
    const killed = Promise.withResolvers<void>()
    const runs: [string, boolean][] = []
    const define = (definition: Partial<JobKind<unknown>>): JobKind<unknown> => ({
      isWaiting: true,
      async run(_input, { jobId, isResumed, signal }) {
        if (isResumed) return runs.push([jobId, signal.aborted])
        await killed.promise
        signal.throwIfAborted()
        return null
      },
      recover: async () => 'resume',
      ...definition,
    })
    const definitions = Object.entries({
      undone: define({ recover: async () => null }),
      resumed: define({ resumes: true }),
      completing: define({ resumes: true, completes: true }),
      // Its work was done, and only the end not stored.
      finished: define({ recover: async () => ({ result: { rows: 7 } }) }),
    })
    for (const [name, kind] of definitions) {
      jobs.register(name, kind)
      await jobs.start(name, { id: name, userId: 'us1', baseId: null, input: {} })
      await until(async () => (await statusOf(name)) === 'active')
      await jobs.cancel(name)
    }
    const next = createJobs({ meta, events, log })
    for (const [name, kind] of definitions) next.register(name, kind)
    await next.recover()
    await until(async () => (await next.list({ unfinished: true })).length === 0)
    const ends = (await next.list({})).map(({ id, status }) => [id, status])
    killed.resolve()
    await next.close()
    expect(Object.fromEntries(ends)).toEqual({
      undone: 'cancelled',
      resumed: 'cancelled',
      completing: 'completed',
      finished: 'completed',
    })
    expect(runs).toEqual([['completing', true]])
  })

  test('completes what a run has left when its job is cancelled while it waits to go on', async () => {
    const completed: [string, boolean][] = []
    const kind: JobKind<unknown> = {
      resumes: true,
      completes: true,
      run: async (_input, { jobId, isResumed, signal }) => {
        if (signal.aborted) return completed.push([jobId, isResumed])
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason))
        })
      },
      recover: async () => 'resume',
    }
    jobs.register('test', kind)
    await start('a')
    await start('b')
    await until(async () => (await statusOf('a')) === 'active')
    // As when its server is killed.
    const next = createJobs({ meta, events, log })
    next.register('test', kind)
    await next.recover()
    await next.start('test', { id: 'c', userId: 'us1', baseId: 'p1', input: {} })
    await until(async () => (await next.find('a'))?.status === 'active')
    for (const id of ['b', 'c']) await next.cancel(id)
    await until(async () => (await next.find('b'))?.status === 'completed')
    // Nothing has run of it.
    expect((await next.find('c'))?.status).toBe('cancelled')
    expect((await next.find('a'))?.status).toBe('active')
    expect(completed).toEqual([['b', true]])
    await next.close()
  })

  test('tells of an end that cannot be stored, and says where a disk is full', async () => {
    const full = Object.assign(new Error('could not extend file'), { code: '53100' })
    register({ run: () => Promise.reject(full) })
    const file = new Database(join(dataDir, 'sheaf.db'))
    file.run(`create trigger full before update on jobs when new.status = 'failed'
      begin select raise(abort, 'database or disk is full'); end`)
    await start('a')
    await until(() => seen.includes('a failed 0'))
    expect(await jobs.find('a')).toMatchObject({
      status: 'failed',
      error: 'The server’s disk is full. Nothing was changed.',
    })
    expect(await jobs.list({ unfinished: true })).toEqual([])
    // Once there is room again, the end is stored with the next one at the latest.
    file.run('drop trigger full')
    file.close()
    await start('b')
    await until(() => seen.includes('b failed 0'))
    const stored = createJobs({ meta, events, log })
    expect((await stored.find('a'))?.status).toBe('failed')
    await stored.close()
  })

  test('cancels a job although the request cannot be stored, as on a full disk', async () => {
    const running = register()
    await start('a')
    await start('b')
    await until(() => running.has('a'))
    const file = new Database(join(dataDir, 'sheaf.db'))
    file.run(`create trigger full before update of is_cancelled on jobs
      begin select raise(abort, 'database or disk is full'); end`)
    file.close()
    for (const id of ['b', 'a']) await jobs.cancel(id)
    await until(async () => (await jobs.list({ unfinished: true })).length === 0)
    expect(await Promise.all(['a', 'b'].map(statusOf))).toEqual(['cancelled', 'cancelled'])
    expect([...running.keys()]).toEqual(['a'])
  })

  test('never runs a job that is stopped while its start is being stored', async () => {
    const running = register()
    await start('a')
    await jobs.cancel('a')
    await until(async () => (await statusOf('a')) === 'cancelled')
    await start('b')
    await jobs.close()
    expect(await statusOf('b')).toBe('failed')
    expect([...running.keys()]).toEqual([])
  })

  test('ends what runs when it is closed, and takes no more', async () => {
    const running = register()
    await start('a')
    await start('b')
    await until(() => running.has('a'))
    await jobs.close()
    expect(await statusOf('a')).toBe('failed')
    expect(await statusOf('b')).toBe('failed')
    await expect(start('c')).rejects.toThrow('The server is shutting down')
  })
})

test('the end of a job stays, where progress goes to the database by another connection', async () => {
  const database = await createDatabase('postgres')
  const meta = await openMeta({ dataDir: '', databaseUrl: database.url })
  const jobs = createJobs({ meta, events: createEvents(() => {}), log })
  jobs.register('test', {
    async run(input, { report }) {
      // What is reported has to wait for a new connection, as those that are open are busy; the end has not.
      const reads = Array.from({ length: Number(input) }, () => jobs.find('nothing'))
      report({ done: 1 })
      await Promise.race(reads)
    },
    recover: async () => null,
  })
  for (let reads = 1; reads < 10; reads++) {
    const { id } = await jobs.start('test', { userId: 'us1', baseId: null, input: reads })
    await until(async () => (await jobs.find(id))?.status === 'completed')
  }
  await jobs.close()
  await meta.close()
  await database.drop()
})

describe('jobs over REST', () => {
  let app: TestApp
  let owner: TestUser
  let baseId: string
  let jobId: string

  beforeAll(async () => {
    app = await createTestApp()
    owner = await app.signUp()
    baseId = (await createBase(app, owner)).id
    const door = doorOf(app, owner)
    jobId = await startImport(door, baseId, 'Name\nAnn\n', { columns: [{ title: 'Name' }] })
    await ended(door, jobId)
  })
  afterAll(() => app.stop())

  const listen = (body: unknown, token = owner.token) => app.rest(token).post('/jobs/listen', body)

  test('POST /jobs/listen refuses a body without a job', async () => {
    expect((await listen({})).status).toBe(400)
  })

  test('POST /jobs/listen tells what has happened since, and then that it is over', async () => {
    const { body: news } = await listen({ _mid: 0, data: { id: jobId } })
    expect(news[0]).toMatchObject({ status: 'update', data: { id: jobId, status: 'waiting' }, _mid: 1 })
    expect(news.at(-1)).toMatchObject({ data: { status: 'completed', data: { result: { rows: 1 } } } })
    expect((await listen({ _mid: news.at(-1)._mid, data: { id: jobId } })).body).toEqual({ status: 'close' })
    expect((await listen({ data: { id: 'jobunknown' } })).body).toEqual({ status: 'refresh' })
  })

  test('POST /jobs/listen waits for news', async () => {
    const long = await startImport(doorOf(app, owner), baseId, `Name\n${'Ann\n'.repeat(500_000)}`, {
      title: 'Long',
      columns: [{ title: 'Name' }],
    })
    const statuses: string[] = []
    for (let last = 0; ; ) {
      const { body } = await listen({ _mid: last, data: { id: long } })
      if (body.status === 'close') break
      if (body.status === 'refresh') continue
      for (const message of body) {
        if (message.data.status) statuses.push(message.data.status)
        last = message._mid
      }
    }
    expect(statuses).toEqual(['waiting', 'active', 'completed'])
  })

  test('POST /jobs/listen has a client ask again if there is nothing that it has not heard', async () => {
    app.kernel.jobs.register('counting', {
      async run(_input, { report, signal }) {
        for (let done = 1; !signal.aborted; done++) {
          report({ done })
          await Bun.sleep(50)
        }
      },
      recover: async () => null,
    })
    const { id } = await app.kernel.jobs.start('counting', { userId: owner.id, baseId, input: {} })
    expect((await listen({ _mid: 1_000, data: { id } })).body).toEqual({ status: 'refresh' })
    await app.kernel.jobs.cancel(id)
  })

  test('POST /jobs/listen keeps what came of a job from those who may not see it', async () => {
    const stranger = await app.signUp()
    const { body } = await listen({ data: { id: jobId } }, stranger.token)
    expect(body.at(-1)).toMatchObject({ data: { id: jobId, status: 'completed' } })
    expect(JSON.stringify(body)).not.toContain('result')
  })

  test('POST /api/v2/jobs/{baseId} lists the jobs of a base', async () => {
    const stranger = await app.signUp()
    expect((await app.rest(stranger.token).post(`/api/v2/jobs/${baseId}`)).status).toBe(403)
    expect((await app.rest(owner.token).post('/api/v2/jobs/pnothing')).status).toBe(404)
    const { status, body } = await app.rest(owner.token).post(`/api/v2/jobs/${baseId}`, { job: 'import' })
    expect(status).toBe(201)
    expect(body.at(-1)).toMatchObject({
      id: jobId,
      job: 'import',
      status: 'completed',
      fk_user_id: owner.id,
      base_id: baseId,
    })
    expect((await app.rest(owner.token).post(`/api/v2/jobs/${baseId}`, { job: 'other' })).body).toEqual([])
  })
})
