import { afterAll, beforeAll, beforeEach, describe, expect, setSystemTime, test } from 'bun:test'
import { isNotNull } from 'drizzle-orm'
import { defineNotificationTables } from '../../modules/notifications/tables.ts'
import { defineOutboxTable } from '../../src/mail/outbox-table.ts'
import { type Bench, benchOf, type TestTable } from '../records/support.ts'
import { createTestApp, type TestUser } from '../support/app.ts'
import { createBase } from '../support/factories.ts'
import { type SmtpRecorder, startSmtpServer } from '../support/smtp-server.ts'

const HOUR_MS = 3_600_000

let smtp: SmtpRecorder
let bench: Bench
let table: TestTable
let ann: TestUser
beforeAll(async () => {
  smtp = await startSmtpServer()
  const app = await createTestApp({ config: smtp.config })
  const owner = await app.signUp()
  bench = benchOf(app, owner, (await createBase(app, owner)).id)
  ann = await app.signUp()
  await app.services.auth.access.setMembership(bench.baseId, ann.id, 'editor')
  table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'Roadmap' }])
})
afterAll(async () => {
  await bench.stop()
  await smtp.go()
})

const mine = () => bench.app.trpc(ann.token).notifications
const mention = (text = 'see this') =>
  bench.trpc.comments.create.mutate({ tableId: table.id, recordId: 1, text: `@(${ann.id}) ${text}` })
/** Sends what is due so many milliseconds from now. */
const sendIn = (ms: number) => bench.app.services.notifications.mails.sendDue(Date.now() + ms)
const sent = async (count: number) => {
  const mails = await smtp.waitFor(count)
  expect(mails).toHaveLength(count)
  return mails.splice(0)
}

describe('a mail of notifications', () => {
  test('is sent soon, with the text, a link to the record and one to unsubscribe', async () => {
    await mention()
    await sendIn(0)
    expect(smtp.mails).toEqual([])
    await sendIn(60_000)
    const [mail] = await sent(1)
    expect(mail?.recipients).toEqual([ann.email])
    expect(mail?.headers.subject).toBe(`${bench.owner.email} mentioned you on Roadmap in ${table.title}`)
    expect(mail?.text).toContain(`@${ann.email} see this`)
    expect(mail?.text).toContain(`/dashboard/#/nc/${bench.baseId}/${table.id}?rowId=1`)
    expect(mail?.headers['list-unsubscribe-post']).toBe('List-Unsubscribe=One-Click')
    expect(mail?.headers['list-unsubscribe']).toMatch(
      /^<https:\/\/sheaf\.example\.com\/api\/v1\/notifications\/unsubscribe\/us[a-z0-9]{14}\.[\w-]{43}>$/,
    )
    await sendIn(60_000)
    expect(smtp.mails).toEqual([])
  })

  test('names records as their tables show them, in the time zone of its recipient', async () => {
    const ben = await bench.app.signUp()
    await bench.app.services.auth.access.setMembership(bench.baseId, ben.id, 'editor')
    await bench.app.trpc(ben.token).notifications.setSettings.mutate({ baseId: null, timeZone: 'Asia/Tokyo' })
    const visits = await bench.table({ At: 'DateTime' }, [{ At: '2026-01-05 23:30:00+00:00' }])
    const text = `@(${ben.id}) see this`
    await bench.trpc.comments.create.mutate({ tableId: visits.id, recordId: 1, text })
    await sendIn(60_000)
    const [mail] = await sent(1)
    expect(mail?.headers.subject).toEndWith(`mentioned you on 2026-01-06 08:30 in ${visits.title}`)
  })

  test('leaves out what was read or deleted, and what its recipient may not open any more', async () => {
    await mine().markAllRead.mutate()
    await mention('read')
    await mine().markAllRead.mutate()
    const { id: commentId } = await mention('deleted')
    await bench.trpc.comments.remove.mutate({ commentId })
    await mention('kept')
    await bench.app.services.auth.access.setMembership(bench.baseId, ann.id, 'no-access')
    await sendIn(60_000)
    expect(smtp.mails).toEqual([])
    await bench.app.services.auth.access.setMembership(bench.baseId, ann.id, 'editor')
    await mention('after')
    await sendIn(60_000)
    const [mail] = await sent(1)
    expect(mail?.text).toContain('after')
    expect(mail?.text).not.toMatch(/read\b|deleted|kept/)
  })

  test('lists and counts what its recipient may open, however much comes before it', async () => {
    await mine().markAllRead.mutate()
    const { access } = bench.app.services.auth
    const other = benchOf(bench.app, bench.owner, (await createBase(bench.app, bench.owner)).id)
    await access.setMembership(other.baseId, ann.id, 'editor')
    const { id: tableId } = await other.table({ Title: 'SingleLineText' }, [{ Title: 'Plan' }])
    for (let n = 0; n < 30; n++) await mention(`hidden ${n}`)
    await other.trpc.comments.create.mutate({ tableId, recordId: 1, text: `@(${ann.id}) still yours` })
    await access.setMembership(bench.baseId, ann.id, 'no-access')
    await sendIn(60_000)
    const [mail] = await sent(1)
    expect(mail?.text).toContain('still yours')
    expect(mail?.headers.subject).toContain('mentioned you on Plan')
    expect(mail?.text).not.toContain('hidden')
    await access.setMembership(bench.baseId, ann.id, 'editor')
  })

  test('collects what is due hourly', async () => {
    await mine().setSettings.mutate({ baseId: null, channels: { mentions: 'hourly' } })
    for (const text of ['one', 'two', 'three']) await mention(text)
    await sendIn(HOUR_MS)
    const [mail] = await sent(1)
    expect(mail?.headers.subject).toBe('3 new notifications')
    for (const text of ['one', 'two', 'three']) expect(mail?.text).toContain(text)
  })

  test('is one of at most twelve in an hour; the rest waits', async () => {
    const before = await bench.app.kernel.mail.countEvents(`notifications ${ann.id}`)
    await mine().setSettings.mutate({ baseId: null, channels: { mentions: 'mail' } })
    for (let n = before; n < 13; n++) {
      await mention(`number ${n}`)
      await sendIn(60_000)
    }
    await sent(12 - before)
    await sendIn(90_000)
    expect(smtp.mails).toEqual([])
    // As an hour later.
    const { db, tables } = bench.app.kernel.meta
    const mails = tables(defineOutboxTable)
    await db.update(mails).set({ createdAt: Date.now() - 2 * HOUR_MS })
    await sendIn(HOUR_MS + 60_000)
    const [mail] = await sent(1)
    expect(mail?.text).toContain('number 12')
    await db.update(mails).set({ createdAt: Date.now() - 2 * HOUR_MS })
  })

  test('is one of at most twelve in an hour also while one watched record goes on changing', async () => {
    const { kernel, services } = bench.app
    const target = { tableId: table.id, recordId: 1 }
    await mine().markAllRead.mutate()
    await mine().setSettings.mutate({ baseId: null, channels: { watches: 'mail' } })
    await mine().watch.mutate({ target, isOn: true })
    for (let n = 0; n < 14; n++) {
      await bench.rest.patch(table.path, { Id: 1, Title: `Roadmap ${n}` })
      await services.records.feed.settled(bench.baseId)
      await sendIn(60_000)
    }
    await kernel.mail.sendDue()
    expect(smtp.mails.splice(0)).toHaveLength(12)
    await mine().watch.mutate({ target, isOn: false })
    await mine().markAllRead.mutate()
    // As an hour later.
    const mails = kernel.meta.tables(defineOutboxTable)
    await kernel.meta.db.update(mails).set({ createdAt: Date.now() - 2 * HOUR_MS })
  })

  test('is not sent any more once its topic is turned down', async () => {
    await mention('too late')
    await mine().setSettings.mutate({ baseId: bench.baseId, isMuted: true })
    await sendIn(HOUR_MS)
    expect(smtp.mails).toEqual([])
    await mine().setSettings.mutate({ baseId: bench.baseId, isMuted: false })
    await mine().setSettings.mutate({ baseId: null, channels: { mentions: 'mail' } })
  })

  test('ends all mails by its link, without a session and for its recipient only', async () => {
    await mention()
    await sendIn(60_000)
    const [mail] = await sent(1)
    const link =
      /<https:\/\/sheaf\.example\.com(.*)>/.exec(mail?.headers['list-unsubscribe'] ?? '')?.[1] ?? ''
    const post = (path: string) =>
      fetch(`${bench.app.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: 'List-Unsubscribe=One-Click',
      })
    expect((await post(link.replace(ann.id, bench.owner.id))).status).toBe(400)
    expect((await post(link.slice(0, -1))).status).toBe(400)
    // Opening it, as scanners of mails do, changes nothing.
    expect((await fetch(`${bench.app.url}${link}`)).status).toBe(404)
    expect((await mine().settings.query()).isUnsubscribed).toBe(false)
    expect((await post(link)).status).toBe(200)
    expect((await mine().settings.query()).isUnsubscribed).toBe(true)
    await mention('no mail')
    await sendIn(60_000)
    expect(smtp.mails).toEqual([])
    await mine().setSettings.mutate({ baseId: null, isUnsubscribed: false })
  })
})

describe('a job', () => {
  const run = async (name: string, seconds: number, work: () => Promise<unknown>) => {
    const { jobs } = bench.app.kernel
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    jobs.register(name, { run: () => promise.then(work), recover: async () => null })
    const { id } = await jobs.start(name, {
      userId: ann.id,
      baseId: bench.baseId,
      input: { title: 'data.csv' },
    })
    const ended = new Promise<void>((done) => {
      const stop = bench.app.kernel.events.on('job.changed', (job) => {
        if (job.id !== id || job.status === 'waiting' || job.status === 'active') return
        stop()
        done()
      })
    })
    if (seconds > 0) setSystemTime(new Date(Date.now() + seconds * 1_000))
    if (name === 'never') reject()
    resolve()
    await ended
    setSystemTime()
    return (await mine().list.query({ unreadOnly: true })).notifications
  }

  test('notifies its owner of its end, unless it ended within seconds', async () => {
    await mine().markAllRead.mutate()
    expect(await run('import', 0, async () => null)).toEqual([])
    expect(await run('import', 20, async () => null)).toMatchObject([
      { kind: 'jobEnded', detail: { job: { kind: 'import', subject: 'data.csv', error: null } } },
    ])
    expect(
      await run('import', 20, async () => {
        throw new Error('internal')
      }),
    ).toMatchObject([{ detail: { job: { error: 'Something went wrong on the server' } } }, {}])
  })
})

describe('a daily mail', () => {
  /** Mentions Ann at a moment, does more, and returns when the mail is due. */
  async function dueFor(moment: string, more?: () => Promise<unknown>): Promise<string[]> {
    setSystemTime(new Date(moment))
    try {
      await mention('daily')
      await more?.()
      const { meta } = bench.app.kernel
      const { notifications } = meta.tables(defineNotificationTables)
      // Before the clock is set right: then the mail may be due, and a round of the server sends it.
      const rows = await meta.db.select().from(notifications).where(isNotNull(notifications.mailDueAt))
      return rows.map(({ mailDueAt }) => new Date(mailDueAt!).toISOString())
    } finally {
      setSystemTime()
    }
  }
  const set = (patch: object) => mine().setSettings.mutate({ baseId: null, ...patch })
  beforeEach(() => mine().markAllRead.mutate())
  beforeAll(() => set({ channels: { mentions: 'daily' } }))
  afterAll(() => set({ channels: { mentions: null } }))

  test.each([
    ['an hour that no clock has', { dailyHour: 24 }],
    ['a part of an hour', { dailyHour: 7.5 }],
    ['an unknown time zone', { timeZone: 'Mars/Olympus' }],
    ['a time of one base', { baseId: 'p00000000000000', dailyHour: 8 }],
  ])('is refused at %s', async (_, patch) => {
    await expect(set(patch)).rejects.toThrow()
    expect(await mine().settings.query()).toMatchObject({ dailyHour: 7, timeZone: 'UTC' })
  })

  test('is due at 7:00 in the time zone of the first browser, or at the chosen time', async () => {
    expect(await dueFor('2026-11-02T06:30:00Z')).toEqual(['2026-11-02T07:00:00.000Z'])
    await set({ browserTimeZone: 'America/New_York' })
    await set({ browserTimeZone: 'Asia/Tokyo' })
    expect(await mine().settings.query()).toMatchObject({ timeZone: 'America/New_York' })
    await sendIn(400 * 24 * HOUR_MS)
    smtp.mails.splice(0)
    // Clocks are set back between the two.
    expect(await dueFor('2026-10-30T12:00:00Z')).toEqual(['2026-10-31T11:00:00.000Z'])
    await sendIn(400 * 24 * HOUR_MS)
    expect(await dueFor('2026-10-31T20:00:00Z')).toEqual(['2026-11-01T12:00:00.000Z'])
    await sendIn(400 * 24 * HOUR_MS)
    const changed = () => set({ timeZone: 'Asia/Kolkata', dailyHour: 18 })
    expect(await dueFor('2026-10-31T20:00:00Z', changed)).toEqual(['2026-11-01T12:30:00.000Z'])
    await sendIn(400 * 24 * HOUR_MS)
    smtp.mails.splice(0)
  })
})

test('old notifications are removed, and all but the newest of a person', async () => {
  await bench.trpc.notifications.markAllRead.mutate()
  const { notices, forget } = bench.app.services.notifications
  const many = Array.from({ length: 1_010 }, (_, n) => ({
    kind: 'welcome' as const,
    userId: ann.id,
    key: `many ${n}`,
    actorId: null,
    at: new Date(Date.now() - n * 1_000).toISOString(),
  }))
  const old = { ...many[0]!, userId: bench.owner.id, key: 'old', at: '2020-01-01T00:00:00.000Z' }
  await bench.app.kernel.meta.atomically((await notices.prepare([...many, old])).statements)
  expect(await bench.trpc.notifications.unread.query()).toBe(1)
  await forget()
  expect(await bench.trpc.notifications.unread.query()).toBe(0)
  const kept = await bench.app.rest(ann.token).get('/api/v1/notifications?limit=1')
  expect(kept.body.pageInfo.totalRows).toBe(1_000)
  const first = await mine().list.query({ unreadOnly: true })
  const second = await mine().list.query({ unreadOnly: true, cursor: first.next })
  expect(first.notifications).toHaveLength(30)
  expect(second.notifications[0]!.at < first.notifications.at(-1)!.at).toBe(true)
  await expect(mine().list.query({ unreadOnly: true, cursor: 'x' })).rejects.toThrow('can’t be continued')
})
