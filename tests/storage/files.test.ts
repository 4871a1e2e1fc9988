import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { and, eq, isNotNull } from 'drizzle-orm'
import { defineBasesTables } from '../../modules/bases/tables.ts'
import { defineRecordsTables } from '../../modules/records/tables.ts'
import { doorOf, ended } from '../imports/support.ts'
import { uploadOne } from '../records/attachments-support.ts'
import { type Bench, benchOf, refusalOf, type TestTable } from '../records/support.ts'
import { connect, createForeign } from '../sources/support.ts'
import { createTestApp, META_DATABASES } from '../support/app.ts'
import { createBase, createMember } from '../support/factories.ts'
import { until } from '../support/until.ts'

const DAY_MS = 24 * 60 * 60 * 1000

describe.each(META_DATABASES)('files of attachments, on %s', (database) => {
  let bench: Bench
  let table: TestTable
  beforeAll(async () => {
    const app = await createTestApp({ database, config: { historyDays: 30 } })
    const owner = await app.signUp()
    bench = benchOf(app, owner, (await createBase(app, owner)).id)
    table = await bench.table({ Title: 'SingleLineText', Files: 'Attachment' })
  })
  afterAll(() => bench.stop())

  const records = () => bench.app.kernel.meta.tables(defineRecordsTables)
  const attachments = () => bench.app.services.records.attachments
  const hasRow = async (path: string) => {
    const { attachmentFiles } = records()
    const rows = await bench.app.kernel.meta.db
      .select()
      .from(attachmentFiles)
      .where(eq(attachmentFiles.path, path))
    return rows.length > 0
  }
  const isKept = async (path: string) => {
    const isKnown = await hasRow(path)
    expect(isOnDisk(path)).toBe(isKnown)
    return isKnown
  }
  const isOnDisk = (path: string): boolean => {
    const folder = join(bench.app.config.dataDir, 'attachments')
    const names = existsSync(folder) ? readdirSync(folder, { recursive: true }).map(String) : []
    return names.some((name) => path.endsWith(name.split('/').at(-1) ?? '-'))
  }
  /** A file in a cell of a new record; uploaded some days ago. */
  async function attach(days: number, to = table): Promise<{ id: number; path: string }> {
    const { path } = await uploadOne(bench, bench.owner.token, 'a.txt', `text ${crypto.randomUUID()}`)
    const { body } = await bench.rest.post(to.path, { Title: 'x', Files: [{ path }] })
    await age(path, days)
    return { id: body.Id, path }
  }
  /** Makes a file one that was uploaded some days ago. */
  async function age(path: string, days: number) {
    const { attachmentFiles } = records()
    const createdAt = new Date(Date.now() - days * DAY_MS).toISOString()
    await bench.app.kernel.meta.db
      .update(attachmentFiles)
      .set({ createdAt })
      .where(eq(attachmentFiles.path, path))
  }
  /** Two looks with a day between them, and the sweep that follows. */
  async function twoLooks(baseId = bench.baseId) {
    await attachments().sweepBase(baseId)
    const { attachmentUses } = records()
    const dayAgo = new Date(Date.now() - DAY_MS - 1000).toISOString()
    await bench.app.kernel.meta.db
      .update(attachmentUses)
      .set({ unusedSince: dayAgo })
      .where(isNotNull(attachmentUses.unusedSince))
    await attachments().sweepBase(baseId)
    await attachments().sweep()
  }
  /** @param writeOnce the last entry is always kept, so another one has to follow */
  async function forgetHistory(
    baseId = bench.baseId,
    writeOnce: () => Promise<unknown> = () => bench.rest.post(table.path, { Title: 'last' }),
  ) {
    const engine = await bench.app.kernel.sources.engine(baseId)
    const at = new Date(Date.now() - 31 * DAY_MS).toISOString()
    await engine.writeScript([{ sql: `update sheaf_changes set at = '${at}'`, params: [] }])
    await writeOnce()
    const base = (await bench.app.services.bases.all()).find(({ id }) => id === baseId)
    await bench.app.services.storage.purge(base!)
  }

  test('stay while a cell, the log or the trash names them, in any table or column', async () => {
    const inCell = await attach(5)
    const emptied = await attach(5)
    await bench.rest.patch(table.path, { Id: emptied.id, Files: null })
    const deleted = await attach(5)
    await bench.rest.delete(table.path, { Id: deleted.id })
    const other = await bench.table({ Title: 'SingleLineText', Files: 'Attachment', More: 'Attachment' })
    const inTrash = await attach(5, other)
    await bench.trpc.schema.deleteTable.mutate({ tableId: other.id })
    await twoLooks()
    for (const { path } of [inCell, emptied, deleted, inTrash]) expect(await isKept(path)).toBe(true)
    await forgetHistory()
    await twoLooks()
    expect(await isKept(inCell.path)).toBe(true)
    expect(await isKept(inTrash.path)).toBe(true)
    for (const { path } of [emptied, deleted]) expect(await isKept(path)).toBe(false)
  })

  test('stay for a day after the upload, and after the first look; who names one again keeps it', async () => {
    const young = await attach(0)
    const old = await attach(5)
    const again = await attach(5)
    for (const { id } of [young, old, again]) await bench.rest.patch(table.path, { Id: id, Files: null })
    await forgetHistory()
    for (let look = 0; look < 3; look++) {
      await attachments().sweepBase(bench.baseId)
      await attachments().sweep()
    }
    expect([await isKept(young.path), await isKept(old.path)]).toEqual([true, true])
    await bench.rest.patch(table.path, { Id: again.id, Files: [{ path: again.path }] })
    await twoLooks()
    expect([await isKept(young.path), await isKept(old.path), await isKept(again.path)]).toEqual([
      true,
      false,
      true,
    ])
  })

  test('go soon after what named them is deleted forever, without waiting for the daily round', async () => {
    const { id, path } = await attach(5)
    const kept = await attach(5)
    await bench.rest.delete(table.path, { Id: id })
    await bench.rest.patch(table.path, { Id: kept.id, Title: 'named' })
    const timers = spyOn(globalThis, 'setTimeout')
    try {
      await bench.trpc.records.purgeTrashed.mutate({ tableId: table.id, recordIds: [id] })
      // No other timer has a delay like this one.
      const delayed = () => timers.mock.calls.find(([, ms]) => Number(ms) > 60_000 && Number(ms) < 70_000)
      // The first look ends in the background and sets the timer of the second one.
      await until(() => delayed() !== undefined)
      const [lookAgain, delayMs] = delayed() ?? []
      expect(await isKept(path)).toBe(true)

      const { attachmentUses } = records()
      const unusedSince = new Date(Date.now() - Number(delayMs)).toISOString()
      await bench.app.kernel.meta.db
        .update(attachmentUses)
        .set({ unusedSince })
        .where(eq(attachmentUses.path, path))
      ;(lookAgain as () => void)()
      // Its row goes last, after the file in the store.
      await until(async () => !(await hasRow(path)))
      expect([await isKept(path), await isKept(kept.path)]).toEqual([false, true])
    } finally {
      timers.mockRestore()
    }
  })

  test('stay while a job copies records that name them, although no scan finds these yet', async () => {
    const { path } = await attach(5)
    const copy = (await createBase(bench.app, bench.owner)).id
    const { claimKnown } = attachments()
    const claims = spyOn(attachments(), 'claimKnown').mockImplementation(async (...asked) => {
      const known = await claimKnown(...asked)
      // Its records wait for the last step of the job.
      await twoLooks(copy)
      return known
    })
    try {
      const { jobId } = await bench.trpc.copies.tableToBase.mutate({ tableId: table.id, baseId: copy })
      expect(await ended(doorOf(bench.app, bench.owner), jobId)).toMatchObject({ status: 'completed' })
      expect(claims).toHaveBeenCalled()
    } finally {
      claims.mockRestore()
    }
    expect((await attachments().ofBase(copy, [path])).map((file) => file.path)).toEqual([path])
    await twoLooks(copy)
    expect((await attachments().ofBase(copy, [path])).map((file) => file.path)).toEqual([path])
  })

  test('of a base that is copied belong to the copy from the moment it appears', async () => {
    const { path } = await attach(5)
    const appeared = Promise.withResolvers<string[]>()
    const { body } = await bench.rest.post(`/api/v2/meta/duplicate/${bench.baseId}`, {})
    const stopListening = bench.app.kernel.events.on('schema.changed', ({ baseId }) => {
      if (baseId !== body.base_id) return
      // The first thing that is read after the copy appeared.
      appeared.resolve(
        attachments()
          .ofBase(baseId, [path])
          .then((found) => found.map((file) => file.path)),
      )
    })
    try {
      const job = await ended(doorOf(bench.app, bench.owner), body.id)
      expect(job).toMatchObject({ status: 'completed', error: null })
      expect(await appeared.promise).toEqual([path])
      // The original keeps its files as long as a job of it runs.
      expect((await bench.app.kernel.jobs.find(body.id))?.baseId).toBe(bench.baseId)
    } finally {
      stopListening()
    }
    await bench.trpc.bases.delete.mutate({ baseId: body.base_id })
    await bench.trpc.trash.purgeBase.mutate({ baseId: body.base_id })
  })

  describe('named by a write while a scan finds them unused', () => {
    /** A file that the base uses no more since long, but has not forgotten yet. */
    async function attachUnused(): Promise<string> {
      const { id, path } = await attach(5)
      await bench.rest.patch(table.path, { Id: id, Files: null })
      await forgetHistory()
      await attachments().sweepBase(bench.baseId)
      const { attachmentUses } = records()
      await bench.app.kernel.meta.db
        .update(attachmentUses)
        .set({ unusedSince: new Date(Date.now() - 2 * DAY_MS).toISOString() })
        .where(and(eq(attachmentUses.path, path), isNotNull(attachmentUses.unusedSince)))
      return path
    }
    /** A member writes files into a cell; `meanwhile` runs between the check of their access and the write. */
    async function writeWhile(paths: string[], meanwhile: () => Promise<unknown>) {
      const other = benchOf(bench.app, bench.owner, (await createBase(bench.app, bench.owner)).id)
      const theirs = await other.table({ Title: 'SingleLineText', Files: 'Attachment' })
      const member = await createMember(bench.app, bench.baseId, 'editor')
      await bench.app.services.auth.access.setMembership(other.baseId, member.id, 'viewer')
      // The member may name this file as a viewer of the other base, which takes a moment to find out.
      const another = await attach(5, theirs)
      const { access } = bench.app.services.auth
      const { baseRole } = access
      const roles = spyOn(access, 'baseRole').mockImplementation(async (...asked) => {
        if (asked[1] === other.baseId) await meanwhile()
        return baseRole(...asked)
      })
      try {
        const rest = benchOf(bench.app, member, bench.baseId).rest
        return await rest.post(table.path, { Files: [...paths, another.path].map((path) => ({ path })) })
      } finally {
        expect(roles).toHaveBeenCalledWith(expect.anything(), other.baseId)
        roles.mockRestore()
      }
    }
    const isUsed = async (path: string) => (await attachments().ofBase(bench.baseId, [path])).length === 1

    test('stay if the write comes first', async () => {
      const path = await attachUnused()
      const { status } = await writeWhile([path], () => attachments().sweepBase(bench.baseId))
      expect(status).toBe(200)
      expect([await isUsed(path), await isKept(path)]).toEqual([true, true])
    })

    test('are refused if they are gone', async () => {
      const path = await attachUnused()
      const { status, body } = await writeWhile([path], async () => {
        await attachments().sweepBase(bench.baseId)
        await attachments().sweep()
      })
      expect([status, body.msg]).toEqual([400, expect.stringContaining(path.slice(-100))])
      expect([await isUsed(path), await isKept(path)]).toEqual([false, false])
    })

    test('are refused, and lost for a restored base, while their content is being removed', async () => {
      const path = await attachUnused()
      await attachments().sweepBase(bench.baseId)
      const row = (
        await bench.app.kernel.meta.db
          .select()
          .from(records().attachmentFiles)
          .where(eq(records().attachmentFiles.path, path))
      )[0]!
      const { store } = bench.app.kernel.files.current()
      const { remove } = store
      const reached = Promise.withResolvers<void>()
      const release = Promise.withResolvers<void>()
      const removals = spyOn(store, 'remove').mockImplementation(async (key) => {
        if (path.endsWith(key)) {
          reached.resolve()
          await release.promise
        }
        return remove(key)
      })
      try {
        const swept = attachments().sweep()
        await reached.promise
        const restored = (await createBase(bench.app, bench.owner)).id
        const lost = await attachments().shareKnown(restored, [row])
        const { status } = await bench.rest.post(table.path, { Files: [{ path }] })
        release.resolve()
        await swept
        expect([lost.map((file) => file.path), status]).toEqual([[path], 400])
        expect(await isKept(path)).toBe(false)
      } finally {
        release.resolve()
        removals.mockRestore()
      }
    })
  })

  test('go after the jobs of the base, if what named them is deleted forever while one runs', async () => {
    const { id, path } = await attach(5)
    await bench.rest.delete(table.path, { Id: id })
    const timers = spyOn(globalThis, 'setTimeout')
    const scans = () => timers.mock.calls.filter(([, ms]) => Number(ms) > 60_000 && Number(ms) < 70_000)
    /** Runs the next scan, as after its delay. */
    const scanNext = async (run: number) => {
      await until(() => scans().length > run)
      await bench.app.kernel.meta.db
        .update(records().attachmentUses)
        .set({ unusedSince: new Date(Date.now() - 61_000).toISOString() })
        .where(isNotNull(records().attachmentUses.unusedSince))
      ;(scans()[run]![0] as () => void)()
    }
    const release = Promise.withResolvers<void>()
    bench.app.kernel.jobs.register('held', { run: () => release.promise, recover: async () => null })
    try {
      const userId = bench.owner.id
      const job = await bench.app.kernel.jobs.start('held', { userId, baseId: bench.baseId, input: {} })
      await bench.trpc.records.purgeTrashed.mutate({ tableId: table.id, recordIds: [id] })
      await scanNext(0)
      await scanNext(1)
      await until(() => scans().length > 2)
      expect(await isKept(path)).toBe(true)
      release.resolve()
      await ended(doorOf(bench.app, bench.owner), job.id)
      await scanNext(2)
      await scanNext(3)
      await until(async () => !(await hasRow(path)))
      expect(await isKept(path)).toBe(false)
    } finally {
      release.resolve()
      timers.mockRestore()
    }
  })

  test('that cells of a connected database may name stay', async () => {
    const foreign = await createForeign('postgres', [
      'create table docs (id int primary key)',
      'insert into docs values (1), (2)',
    ])
    try {
      const other = benchOf(bench.app, bench.owner, (await createBase(bench.app, bench.owner)).id)
      const sourceId = await connect(other, foreign.sent)
      const tables = await bench.trpc.schema.tables.query({ baseId: other.baseId })
      const docs = tables.find((one) => one.sourceId === sourceId && one.title.toLowerCase() === 'docs')
      await bench.trpc.schema.createField.mutate({
        tableId: docs?.id ?? '',
        field: { type: 'Attachment', title: 'Files' },
      })
      const { path } = await uploadOne(bench, bench.owner.token, 'a.txt', `text ${crypto.randomUUID()}`)
      const rest = `/api/v2/tables/${docs?.id}/records`
      const { status } = await bench.rest.patch(rest, { id: 1, Files: [{ path }] })
      expect(status).toBe(200)
      await age(path, 5)
      await forgetHistory(other.baseId, () =>
        bench.rest.patch(rest, { id: 2, Files: [{ url: 'https://example.com/a.txt' }] }),
      )
      await twoLooks(other.baseId)
      expect(await isKept(path)).toBe(true)
    } finally {
      await foreign.stop()
    }
  })

  test('of two bases stay until neither names them, and go with a base that is deleted forever', async () => {
    const { path } = await attach(5)
    const { body } = await bench.rest.post(`/api/v2/meta/duplicate/${bench.baseId}`, {})
    expect(await ended(doorOf(bench.app, bench.owner), body.id)).toMatchObject({
      status: 'completed',
      error: null,
    })
    const copy = body.base_id
    const list = (await bench.trpc.schema.tables.query({ baseId: copy })).map(({ id }) => id)
    expect(list.length).toBeGreaterThan(0)
    const { trash } = bench.trpc
    expect(await refusalOf(trash.purgeBase.mutate({ baseId: copy }))).toMatchObject({
      code: 'BASE_NOT_FOUND',
    })
    await bench.trpc.bases.delete.mutate({ baseId: bench.baseId })
    const creator = await createMember(bench.app, copy, 'creator')
    await bench.trpc.bases.delete.mutate({ baseId: copy })
    expect(
      await refusalOf(bench.app.trpc(creator.token).trash.purgeBase.mutate({ baseId: copy })),
    ).toMatchObject({ code: 'PERMISSION_DENIED' })
    await trash.purgeBase.mutate({ baseId: copy })
    expect(await refusalOf(bench.trpc.bases.restore.mutate({ baseId: copy }))).toMatchObject({
      code: 'BASE_NOT_FOUND',
    })
    expect(existsSync(bench.app.kernel.sources.path(copy))).toBe(false)
    expect(await isKept(path)).toBe(true)
    await bench.trpc.bases.restore.mutate({ baseId: bench.baseId })
    expect((await bench.rest.get(table.path)).status).toBe(200)

    // In the trash for longer than it keeps its history, it goes by itself.
    await bench.trpc.bases.delete.mutate({ baseId: bench.baseId })
    const ageBase = async (days: number) => {
      const { bases } = bench.app.kernel.meta.tables(defineBasesTables)
      const deletedAt = new Date(Date.now() - days * DAY_MS).toISOString()
      await bench.app.kernel.meta.db.update(bases).set({ deletedAt }).where(eq(bases.id, bench.baseId))
    }
    await ageBase(29)
    await bench.app.services.storage.purgeDue()
    expect((await bench.trpc.bases.list.query({ trash: true })).map(({ id }) => id)).toEqual([bench.baseId])
    await ageBase(31)
    await bench.app.services.storage.purgeDue()
    expect(await bench.trpc.bases.list.query({ trash: true })).toEqual([])
    expect(await isKept(path)).toBe(false)
    expect(await bench.app.kernel.sources.exists(bench.baseId)).toBe(false)
  })
})
