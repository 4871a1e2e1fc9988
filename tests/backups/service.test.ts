import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { eq } from 'drizzle-orm'
import { defineAuthTables } from '../../modules/auth/tables.ts'
import { startServer } from '../../src/app.ts'
import type { Job } from '../../src/jobs.ts'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import { createTrpcClient } from '../support/client.ts'
import { createBase } from '../support/factories.ts'
import { until } from '../support/until.ts'
import { BACKUP_TIMEOUT_MS } from './support.ts'

setDefaultTimeout(BACKUP_TIMEOUT_MS)

let app: TestApp
let admin: TestUser
const place = mkdtempSync(join(tmpdir(), 'sheaf-places-'))

beforeAll(async () => {
  app = await createTestApp({ config: { metricsToken: 'a-token-of-sixteen-letters' } })
  admin = await app.signUp()
})
afterAll(async () => {
  await app.stop()
  rmSync(place, { recursive: true, force: true })
})

const settings = (url = join(place, 'first')) => ({
  url,
  endpoint: null,
  region: null,
  accessKeyId: null,
  frequency: 'off' as const,
  time: '03:30',
  weekday: 0,
  timeZone: 'Europe/Berlin',
  retention: { last: 2, daily: 0, weekly: 0, monthly: 0 },
  test: 'always' as const,
})

async function ended(jobId: string) {
  for (;;) {
    const job = await app.trpc(admin.token).jobs.get.query({ jobId })
    if (job.status !== 'waiting' && job.status !== 'active') return job
    await Bun.sleep(30)
  }
}

describe('backups of a server', () => {
  test('need settings first, refuse wrong ones, and name the reason', async () => {
    const { backups } = app.trpc(admin.token)
    expect(await backups.overview.query()).toMatchObject({ settings: null, nextAt: null })
    await expect(backups.run.mutate()).rejects.toThrow('Choose where backups are kept first')
    for (const [wrong, message] of [
      [{ url: 'ftp://host/x' }, 'is not a place for backups'],
      [{ url: '/proc/nothing' }, 'The backup failed: '],
      [{ url: app.config.dataDir }, 'would be in the data folder'],
      [{ url: `file:${join(app.config.dataDir, 'new')}` }, 'would be in the data folder'],
      [{ url: dirname(app.config.dataDir) }, 'has the data folder'],
      [{ timeZone: 'Mars/Olympus' }, 'Unknown time zone'],
      [{ passphrase: 'short' }, 'at least 16 characters'],
      [{ time: '24:00' }, ''],
    ] as const)
      await expect(backups.save.mutate({ ...settings(), ...wrong })).rejects.toThrow(message)
    expect((await backups.overview.query()).settings).toBeNull()
  })

  test('are made and tested while the server runs, listed, and pruned', async () => {
    const { backups } = app.trpc(admin.token)
    await createBase(app, admin, 'Shop')
    await backups.save.mutate(settings())
    const rest = app.rest(admin.token)
    for (let round = 0; round < 3; round++) {
      const { jobId } = (await rest.post('/api/v2/meta/backups', {})).body
      expect(await ended(jobId)).toMatchObject({ status: 'completed', error: null })
    }
    const listed = await backups.list.query()
    expect(listed).toHaveLength(2)
    expect(listed[0]).toMatchObject({
      summary: { kind: 'manual', hasSecrets: false },
      test: { problem: null },
    })
    expect(listed[0]?.summary?.bases.map(({ title }) => title)).toContain('Shop')
    const { body } = await rest.get('/api/v2/meta/backups')
    expect(body.list).toEqual(listed)
    expect(readdirSync(app.config.dataDir).filter((name) => name.startsWith('restore-'))).toEqual([])
    const metrics = await fetch(`${app.url}/metrics`, {
      headers: { authorization: 'Bearer a-token-of-sixteen-letters' },
    })
    const text = await metrics.text()
    expect(text).toMatch(
      /^sheaf_backup_last_success_timestamp_seconds 1\.\d+e\+?9|^sheaf_backup_last_success_timestamp_seconds \d{10}/m,
    )
    expect(text).toMatch(/^sheaf_backup_restore_test_success 1$/m)
  })

  test('tell all super admins when a restore test fails, and are repaired by the next backup', async () => {
    const trpc = app.trpc(admin.token)
    const [second, third] = [await app.signUp(), await app.signUp()]
    const { users } = app.kernel.meta.tables(defineAuthTables)
    await app.kernel.meta.db
      .update(users)
      .set({ roles: 'org-level-creator,super' })
      .where(eq(users.id, second.id))
    const packs = readdirSync(join(place, 'first', 'packs'), { recursive: true, withFileTypes: true })
    for (const pack of packs) if (pack.isFile()) rmSync(join(pack.parentPath, pack.name))
    const [latest] = await trpc.backups.list.query()
    const { jobId } = await trpc.backups.test.mutate({ backupId: latest?.id ?? '' })
    const job = await ended(jobId)
    const error = job.error ?? ''
    expect(job).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/can’t be restored: .*chunks are missing or damaged/),
    })
    expect((await trpc.backups.overview.query()).lastError?.reason).toBe(error)
    const { notifications } = await trpc.notifications.list.query({ unreadOnly: false })
    expect(notifications[0]).toMatchObject({ kind: 'jobEnded', detail: { job: { error } } })
    const newsOf = async ({ token }: TestUser) =>
      (await app.trpc(token).notifications.list.query({ unreadOnly: false })).notifications
    expect(await newsOf(second)).toContainEqual(
      expect.objectContaining({ detail: { job: { kind: 'backup-test', subject: 'Backup', error } } }),
    )
    expect((await newsOf(third)).some(({ kind }) => kind === 'jobEnded')).toBe(false)
    expect((await trpc.backups.list.query())[0]?.test?.problem).toContain('chunks are missing')
    const again = await trpc.backups.run.mutate()
    expect(await ended(again.jobId)).toMatchObject({ status: 'completed' })
    expect((await trpc.backups.overview.query()).lastError).toBeNull()
  })

  test('fail where the folder is gone, instead of beginning anew in an empty one', async () => {
    const { backups } = app.trpc(admin.token)
    const url = join(place, 'unmounted')
    await backups.save.mutate({ ...settings(url), test: 'never' })
    rmSync(url, { recursive: true })
    const { jobId } = await backups.run.mutate()
    expect(await ended(jobId)).toMatchObject({
      status: 'failed',
      error: expect.stringContaining(`There are no backups in the folder ${url}`),
    })
    await expect(backups.list.query()).rejects.toThrow('There are no backups in the folder')
    expect(existsSync(url)).toBe(false)
  })

  test('follow a schedule, once for each time, and keep secrets to themselves', async () => {
    const trpc = app.trpc(admin.token)
    const url = join(place, 'scheduled')
    await trpc.backups.save.mutate({
      ...settings(url),
      frequency: 'hourly',
      passphrase: 'a long passphrase',
      secretAccessKey: 'a secret key',
      test: 'weekly',
    })
    const overview = await trpc.backups.overview.query()
    expect(JSON.stringify(overview)).not.toMatch(/a long passphrase|a secret key/)
    expect(overview.settings).toMatchObject({ isEncrypted: true, hasSecretAccessKey: true })
    expect(new Date(overview.nextAt ?? '').getUTCMinutes()).toBe(30)
    // Not yet due.
    await app.services.backups.look(new Date())
    expect(await trpc.backups.list.query()).toEqual([])
    const due = new Date(Date.parse(overview.nextAt ?? '') + 1_000)
    // As two servers do that look a moment apart.
    const later = new Date(due.getTime() + 50)
    await Promise.all([app.services.backups.look(due), app.services.backups.look(later)])
    const { runningJobId } = await trpc.backups.overview.query()
    expect(await ended(runningJobId ?? '')).toMatchObject({ status: 'completed' })
    const listed = await trpc.backups.list.query()
    expect(listed).toHaveLength(1)
    expect(listed[0]).toMatchObject({
      summary: { kind: 'scheduled', hasSecrets: true },
      test: { problem: null },
    })
    await app.services.backups.look(later)
    const running = async () => (await trpc.backups.overview.query()).runningJobId
    expect(await running()).toBeNull()
    // The clock is a day ahead during a backup, and then set right.
    await app.services.backups.look(new Date(later.getTime() + 24 * 3_600_000))
    expect(await ended((await running()) ?? '')).toMatchObject({ status: 'completed' })
    await app.services.backups.look(new Date())
    expect(await running()).toBeNull()
    await app.services.backups.look(later)
    expect(await ended((await running()) ?? '')).toMatchObject({ status: 'completed' })
  })
})

test.each(['sqlite', 'postgres'] as const)(
  'of several requests at once, also to two servers, one starts a job, in %s',
  async (database) => {
    const own = await createTestApp({ database })
    const other = database === 'postgres' ? await startServer({ ...own.config, port: 0 }) : null
    try {
      const { token } = await own.signUp()
      const clients = [own.url, other?.url ?? own.url].map((url) => createTrpcClient(url, token))
      const [first] = clients
      await first?.backups.save.mutate({ ...settings(join(place, `at-once-${database}`)), test: 'never' })
      for (let round = 0; round < 3; round++) {
        const asked = await Promise.allSettled(
          [...clients, ...clients].map((client) => client.backups.run.mutate()),
        )
        const started = asked.flatMap((each) => (each.status === 'fulfilled' ? each.value.jobId : []))
        expect(started).toHaveLength(1)
        for (const each of asked)
          if (each.status === 'rejected') expect(String(each.reason)).toContain('is running')
        for (;;) {
          const { status } = (await first?.jobs.get.query({ jobId: started[0] ?? '' })) ?? {}
          if (status === 'completed') break
          expect(status).toMatch(/^(waiting|active)$/)
          await Bun.sleep(30)
        }
      }
    } finally {
      await other?.stop()
      await own.stop()
    }
  },
)

test.each(['sqlite', 'postgres'] as const)(
  'the scheduled backup waits for one that was started by hand, also on another server, in %s',
  async (database) => {
    const own = await createTestApp({ database })
    const other = database === 'postgres' ? await startServer({ ...own.config, port: 0 }) : null
    try {
      const { token } = await own.signUp()
      const { backups, jobs } = own.trpc(token)
      const url = join(place, `beside-${database}`)
      await backups.save.mutate({ ...settings(url), frequency: 'weekly', test: 'never' })
      const { nextAt } = await backups.overview.query()
      const due = new Date(Date.parse(nextAt ?? '') + 1_000)
      const { jobId } = await backups.run.mutate()
      const looksAt = (other ?? own).services.backups
      await looksAt.look(due)
      for (;;) {
        const { status } = await jobs.get.query({ jobId })
        if (status === 'completed') break
        expect(status).toMatch(/^(waiting|active)$/)
        await Bun.sleep(30)
      }
      let all: Job[] = []
      await until(async () => {
        await looksAt.look(due)
        all = await own.kernel.jobs.list({ kind: 'backup' })
        return all.length > 1
      }, 'The scheduled backup')
      const [scheduled] = all.filter(({ id }) => id !== jobId)
      expect(all).toHaveLength(2)
      const byHand = await jobs.get.query({ jobId })
      // It began after the end of the other one.
      expect(Date.parse(scheduled?.createdAt ?? '')).toBeGreaterThanOrEqual(Date.parse(byHand.updatedAt))
      for (;;) {
        const { status } = await jobs.get.query({ jobId: scheduled?.id ?? '' })
        if (status === 'completed') break
        expect(status).toMatch(/^(waiting|active)$/)
        await Bun.sleep(30)
      }
      expect((await backups.list.query()).map(({ summary }) => summary?.kind).toSorted()).toEqual([
        'manual',
        'scheduled',
      ])
    } finally {
      await other?.stop()
      await own.stop()
    }
  },
)
