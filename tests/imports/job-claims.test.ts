import { describe, expect, test } from 'bun:test'
import { AppError } from '../../src/core/errors.ts'
import { openMeta } from '../../src/db/meta.ts'
import { createEvents } from '../../src/events.ts'
import { createJobs } from '../../src/jobs/create-jobs.ts'
import { createLog } from '../../src/log.ts'
import { startSilentProxy } from '../support/database-proxy.ts'
import { createDatabase } from '../support/servers.ts'
import { until } from '../support/until.ts'

const log = createLog('silent')

/** Ends the connection of the server that has claims, as the network does. Its other connections go on. */
const cutClaims = (sql: Bun.SQL) =>
  sql`select pg_terminate_backend(first.pid) from pg_locks first
    where first.locktype = 'advisory' and first.granted
    and (select count(*) from pg_locks other where other.locktype = 'advisory' and other.pid = first.pid) > 1`

test('a server that starts leaves alone what another one runs, and cleans up after one that has gone', async () => {
  const database = await createDatabase('postgres')
  const open = async () => {
    const meta = await openMeta({ dataDir: '', databaseUrl: database.url })
    const jobs = createJobs({ meta, events: createEvents(() => {}, meta.cluster), log })
    const cleaned: string[] = []
    const finish = Promise.withResolvers<void>()
    jobs.register('test', {
      run: () => finish.promise,
      async recover(_, { id }) {
        cleaned.push(id)
        return null
      },
    })
    return { meta, jobs, cleaned, finish: finish.resolve }
  }
  await using sql = new Bun.SQL(database.url, { max: 1 })
  const first = await open()
  await first.jobs.start('test', { id: 'a', userId: 'us1', baseId: 'p1', input: {} })
  await first.jobs.start('test', { id: 'waits', userId: 'us1', baseId: 'p1', input: {} })
  const second = await open()
  await second.jobs.recover()
  expect(second.cleaned).toEqual([])
  expect((await second.jobs.find('a'))?.status).toBe('active')
  first.finish()
  await until(async () => (await second.jobs.find('waits'))?.status === 'completed')
  expect((await second.jobs.find('a'))?.status).toBe('completed')

  // The connection of the claims may be lost, as any other.
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`
  await Bun.sleep(200)
  // Its process ends in the midst of a job: its connections end with it.
  await second.jobs.start('test', { id: 'b', userId: 'us1', baseId: 'p1', input: {} })
  await until(async () => (await first.jobs.find('b'))?.status === 'active')
  await second.meta.close()
  const third = await open()
  // PostgreSQL notices the end of the connections a moment later.
  await until(async () => {
    await third.jobs.recover()
    return third.cleaned.length > 0
  }, 'The clean-up')
  expect(third.cleaned).toEqual(['b'])
  expect((await third.jobs.find('b'))?.status).toBe('failed')
  await Promise.all([first.jobs.close(), third.jobs.close()])
  await Promise.all([first.meta.close(), third.meta.close(), sql.close()])
  await database.drop()
})

test('a job that is cancelled through one server stays so when its own has gone', async () => {
  const database = await createDatabase('postgres')
  const resumed: string[] = []
  const open = async () => {
    const meta = await openMeta({ dataDir: '', databaseUrl: database.url })
    const jobs = createJobs({ meta, events: createEvents(() => {}, meta.cluster), log })
    jobs.register('test', {
      resumes: true,
      // Does not let go before its process ends.
      run: async (_, { jobId, isResumed }) =>
        isResumed ? resumed.push(jobId) : new Promise<never>(() => {}),
      recover: async () => 'resume',
    })
    return { meta, jobs }
  }
  const first = await open()
  const second = await open()
  for (const id of ['a', 'waits'])
    await first.jobs.start('test', { id, userId: 'us1', baseId: 'p1', input: {} })
  await until(async () => (await second.jobs.find('a'))?.status === 'active')
  await second.jobs.cancel('a')
  await first.meta.close()
  const statusOf = async (id: string) => (await second.jobs.find(id))?.status
  // PostgreSQL notices the end of the connections a moment later.
  await until(async () => {
    await second.jobs.recover()
    return (await statusOf('a')) !== 'active' && (await statusOf('waits')) === 'completed'
  }, 'The end of both jobs')
  expect([await statusOf('a'), resumed]).toEqual(['cancelled', ['waits']])
  await second.jobs.close()
  await second.meta.close()
  await database.drop()
})

test('a job runs once those that it comes after have ended on another server', async () => {
  const database = await createDatabase('postgres')
  const open = async () => {
    const meta = await openMeta({ dataDir: '', databaseUrl: database.url })
    const jobs = createJobs({ meta, events: createEvents(() => {}, meta.cluster), log })
    const finish = Promise.withResolvers<void>()
    jobs.register('test', { run: () => finish.promise, recover: async () => null })
    jobs.register('after', {
      after: () => ['parent'],
      run: async () => (await jobs.find('parent'))?.status,
      recover: async () => null,
    })
    return { meta, jobs, finish: finish.resolve }
  }
  const [first, second] = [await open(), await open()]
  const job = { userId: 'us1', baseId: 'p1', input: {} }
  await first.jobs.start('test', { ...job, id: 'parent' })
  await second.jobs.start('after', { ...job, id: 'child' })
  // It does not keep the base from the jobs behind it.
  await second.jobs.start('test', { ...job, id: 'other' })
  await until(async () => (await first.jobs.find('other'))?.status === 'active')
  expect((await second.jobs.find('child'))?.status).toBe('waiting')
  second.finish()
  await until(async () => (await first.jobs.find('other'))?.status === 'completed')
  first.finish()
  await until(async () => (await first.jobs.find('child'))?.status === 'completed')
  expect((await first.jobs.find('child'))?.result).toBe('completed')
  await Promise.all([first.jobs.close(), second.jobs.close()])
  await Promise.all([first.meta.close(), second.meta.close()])
  await database.drop()
})

test('a claim that another server has taken while the connection was lost is not held any more', async () => {
  const database = await createDatabase('postgres')
  const open = () => openMeta({ dataDir: '', databaseUrl: database.url })
  await using sql = new Bun.SQL(database.url, { max: 1 })
  const [first, second] = [await open(), await open()]
  const { claims } = first.cluster
  expect(await claims.take('hook a')).toBe(true)
  expect(await second.cluster.claims.take('hook a')).toBe(false)
  await cutClaims(sql)
  await until(() => second.cluster.claims.take('hook a'))
  // It holds its claim until it has noticed.
  await until(async () => !(await claims.take('hook a')))
  await second.cluster.claims.release('hook a')
  expect(await claims.take('hook a')).toBe(true)
  await Promise.all([first.close(), second.close(), sql.close()])
  await database.drop()
})

test('a claim that is taken twice at the same time is free once it is released', async () => {
  const database = await createDatabase('postgres')
  const open = () => openMeta({ dataDir: '', databaseUrl: database.url })
  const [first, second] = [await open(), await open()]
  const { claims } = first.cluster
  expect(await Promise.all([claims.take('a'), claims.take('a')])).toEqual([true, true])
  await claims.release('a')
  expect(await second.cluster.claims.take('a')).toBe(true)
  await Promise.all([first.close(), second.close()])
  await database.drop()
})

test('a server that was cut off has its claims again before PostgreSQL notices the end of its connection', async () => {
  const database = await createDatabase('postgres')
  const proxy = await startSilentProxy(database.url)
  const open = (databaseUrl: string) => openMeta({ dataDir: '', databaseUrl })
  const [first, second] = [await open(proxy.url), await open(database.url)]
  expect(await first.cluster.claims.take('a')).toBe(true)
  proxy.silence()
  await until(async () => !first.cluster.isCurrent())
  await until(async () => first.cluster.isCurrent())
  proxy.notice()
  await Bun.sleep(200)
  expect(await second.cluster.claims.take('a')).toBe(false)
  await Promise.all([first.close(), second.close()])
  await proxy.stop()
  await database.drop()
})

test('a job that another server has taken meanwhile ends here, and stores nothing', async () => {
  const database = await createDatabase('postgres')
  const open = () => openMeta({ dataDir: '', databaseUrl: database.url })
  await using sql = new Bun.SQL(database.url, { max: 1 })
  const [first, second] = [await open(), await open()]
  const jobs = createJobs({ meta: first, events: createEvents(() => {}, first.cluster), log })
  jobs.register('test', {
    run: (_, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    recover: async () => null,
  })
  await jobs.start('test', { id: 'a', userId: 'us1', baseId: 'p1', input: {} })
  await until(async () => (await jobs.find('a'))?.status === 'active')
  await cutClaims(sql)
  await until(() => second.cluster.claims.take('a'))
  await until(async () => jobs.counts().active === 0)
  expect((await jobs.find('a'))?.status).toBe('active')
  await jobs.close()
  await Promise.all([first.close(), second.close(), sql.close()])
  await database.drop()
})

test.each(['fails', 'ends'])(
  'a run that %s while another server takes its job leaves the job to it',
  async (how) => {
    const database = await createDatabase('postgres')
    const open = () => openMeta({ dataDir: '', databaseUrl: database.url })
    await using sql = new Bun.SQL(database.url, { max: 1 })
    const [first, second] = [await open(), await open()]
    const jobs = createJobs({ meta: first, events: createEvents(() => {}, first.cluster), log })
    const finish = Promise.withResolvers<void>()
    const cleaned: string[] = []
    let runs = 0
    jobs.register('test', {
      async run(_, { report }) {
        runs++
        try {
          await finish.promise
        } finally {
          report({ done: 5 })
        }
      },
      async recover(_, { id }) {
        cleaned.push(id)
        return 'resume'
      },
      resumes: true,
    })
    await jobs.start('test', { id: 'a', userId: 'us1', baseId: 'p1', input: {} })
    await until(async () => (await jobs.find('a'))?.status === 'active')
    await cutClaims(sql)
    await until(() => second.cluster.claims.take('a'))
    // As the other one does when it runs the job again.
    await sql`update jobs set status = 'waiting', progress = '{"done":1,"total":null,"unit":"rows","restarts":1}' where id = 'a'`
    if (how === 'ends') finish.resolve()
    else
      finish.reject(new AppError('DATABASE_UNREACHABLE', 'The connection was lost', { retryAfterSeconds: 1 }))
    await until(async () => jobs.counts().active === 0)
    await until(async () => (await jobs.find('a'))?.status === 'waiting')
    expect([runs, cleaned]).toEqual([1, []])
    expect((await jobs.find('a'))?.progress).toMatchObject({ done: 1, restarts: 1 })
    expect(await second.cluster.claims.take('a')).toBe(true)
    await jobs.close()
    await Promise.all([first.close(), second.close(), sql.close()])
    await database.drop()
  },
)

describe('the end of a job while the other servers are not heard', () => {
  /** A running job of a server that has been cut off from the others. */
  const runCutOff = async () => {
    const database = await createDatabase('postgres')
    const proxy = await startSilentProxy(database.url)
    const meta = await openMeta({ dataDir: '', databaseUrl: proxy.url })
    const sql = new Bun.SQL(database.url, { max: 1 })
    const events = createEvents(() => {}, meta.cluster)
    const jobs = createJobs({ meta, events, log })
    const finish = Promise.withResolvers<void>()
    jobs.register('test', {
      run: (_, { signal }) =>
        Promise.race([
          finish.promise,
          new Promise<never>((_resolve, reject) =>
            signal.addEventListener('abort', () => reject(signal.reason)),
          ),
        ]),
      recover: async () => null,
    })
    await jobs.start('test', { id: 'a', userId: 'us1', baseId: 'p1', input: {} })
    await until(async () => (await jobs.find('a'))?.status === 'active')
    proxy.silence()
    await until(() => !meta.cluster.isCurrent())
    const stored = async (): Promise<string> => {
      const [row] = await sql`select status from jobs where id = 'a'`
      return row.status
    }
    const stop = async () => {
      await Promise.all([meta.close(), sql.close()])
      await proxy.stop()
      await database.drop()
    }
    return { jobs, events, stored, finish: finish.resolve, stop }
  }

  test('is announced once it is stored', async () => {
    const { jobs, events, stored, finish, stop } = await runCutOff()
    const ended = Promise.withResolvers<string>()
    events.on('job.changed', ({ status }) => {
      if (status === 'completed') stored().then(ended.resolve, ended.reject)
    })
    finish()
    expect(await ended.promise).toBe('completed')
    await jobs.close()
    await stop()
  })

  test('is stored when the server stops', async () => {
    const { jobs, stored, stop } = await runCutOff()
    // It is connected again some seconds after it was cut off; the stop waits for two of them.
    await Bun.sleep(2_000)
    expect(await stored()).toBe('active')
    await jobs.close()
    expect(await stored()).toBe('failed')
    await stop()
  })
})
