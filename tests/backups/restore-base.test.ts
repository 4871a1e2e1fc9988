import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createBaseRestoreJob } from '../../modules/backups/restore-base.ts'
import type { UserActor } from '../../src/core/actor.ts'
import { createId } from '../../src/core/ids.ts'
import { compress, expand } from '../../src/db/backups/compression.ts'
import { doorOf, ended } from '../imports/support.ts'
import { type Bench, createBench, refusalOf, type TestTable } from '../records/support.ts'
import { createMember } from '../support/factories.ts'
import { BACKUP_TIMEOUT_MS, settingsOf, setVersion } from './support.ts'

setDefaultTimeout(BACKUP_TIMEOUT_MS)

let bench: Bench
let orders: TestTable
let customers: TestTable
let backupId: string
const place = mkdtempSync(join(tmpdir(), 'sheaf-places-'))

const settings = settingsOf(place)

beforeAll(async () => {
  bench = await createBench()
  const { trpc, rest } = bench
  customers = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'Ada' }, { Title: 'Bea' }])
  orders = await bench.table({ Title: 'SingleLineText', Qty: 'Number', Photo: 'Attachment' }, [
    { Title: 'o1', Qty: 2 },
    { Title: 'o2', Qty: 5 },
    { Title: 'o3', Qty: 7 },
  ])
  const add = (title: string, type: string, options: object) =>
    trpc.schema.createField.mutate({ tableId: orders.id, field: { title, type, options } as never })
  const link = await add('Customer', 'Links', { kind: 'mm', relatedTableId: customers.id })
  const double = await add('Double', 'Formula', { formula: '{Qty} * 2' })
  await trpc.records.write.mutate({
    change: {
      baseId: bench.baseId,
      operations: [{ kind: 'link', tableId: orders.id, fieldId: link.id, id: 1, targets: [1, 2] }],
    },
  })
  await rest.patch(orders.path, { Id: 1, Photo: await upload('a photo') })
  await trpc.views.update.mutate({
    viewId: orders.schema.views[0]?.id ?? '',
    patch: { filter: { fieldId: double.id, operator: 'gt', value: 5 } },
  })
  const comment = await trpc.comments.create.mutate({
    tableId: orders.id,
    recordId: 1,
    fieldId: double.id,
    text: 'Is it right?',
  })
  await trpc.comments.create.mutate({ tableId: orders.id, recordId: 1, parentId: comment.id, text: 'It is.' })
  await trpc.comments.react.mutate({ commentId: comment.id, emoji: '👍', isOn: true })
  await trpc.hooks.create.mutate({
    tableId: orders.id,
    title: 'Tell all',
    event: 'manual',
    operations: [],
    isActive: true,
    channel: { type: 'URL', payload: { path: 'https://example.com/hook' } },
  })
  await trpc.shares.save.mutate({ kind: 'base', targetId: bench.baseId, patch: {} })
  await trpc.backups.save.mutate(settings)
  expect(await end((await trpc.backups.run.mutate()).jobId)).toMatchObject({ status: 'completed' })
  backupId = (await trpc.backups.list.query())[0]?.id ?? ''
})
afterAll(async () => {
  await bench.stop()
  rmSync(place, { recursive: true, force: true })
})

const end = (jobId: string) => ended(doorOf(bench.app, bench.owner), jobId)

async function upload(text: string) {
  const form = new FormData()
  form.append('files', new File([text], 'photo.txt', { type: 'text/plain' }))
  const sent = await fetch(`${bench.app.url}/api/v2/storage/upload`, {
    method: 'POST',
    headers: { 'xc-auth': bench.owner.token },
    body: form,
  })
  return sent.json()
}

const records = async (tableId: string) =>
  (await bench.rest.get(`/api/v2/tables/${tableId}/records?fields=Title,Qty,Double,Customer`)).body.list

const tableOf = async (baseId: string, { title }: { title: string }) => {
  const found = (await bench.trpc.schema.tables.query({ baseId })).find((table) => table.title === title)
  if (!found) throw new Error(`There is no ${title}`)
  return bench.trpc.schema.table.query({ tableId: found.id })
}

const leftFolders = () => readdirSync(bench.app.config.dataDir).filter((name) => name.startsWith('restore-'))

const titles = async () => (await bench.trpc.bases.list.query()).map(({ title }) => title)

describe('restoring one base of a backup', () => {
  test('refuses an unknown backup, a base that is not in it, and everyone below super admin', async () => {
    const { restoreBase } = bench.trpc.backups
    const { baseId } = bench
    const refused = await refusalOf(restoreBase.mutate({ backupId: 'none', baseId }))
    expect(refused).toMatchObject({ status: 404, message: 'There is no such backup' })
    const path = `/api/v2/meta/backups/${backupId}/bases`
    const { status, body } = await bench.rest.post(`${path}/${createId('base')}/restore`, {})
    expect([status, body.message]).toEqual([404, 'This backup does not have the base'])
    expect((await bench.rest.post(`${path}/${baseId}/restore`, { title: 7 })).status).toBe(400)
    const owner = await createMember(bench.app, baseId, 'owner')
    const below = bench.app.trpc(owner.token).backups.restoreBase.mutate({ backupId, baseId })
    expect((await refusalOf(below)).status).toBe(403)
    expect(leftFolders()).toEqual([])
  })

  test('gives a new base with its records, links, views, comments and files, links to share and webhooks off', async () => {
    const before = await records(orders.id)
    // What happens after the backup is not in the restored base.
    await bench.rest.patch(orders.path, { Id: 2, Title: 'later' })
    await bench.rest.delete(orders.path, { Id: 3 })
    const path = `/api/v2/meta/backups/${backupId}/bases/${bench.baseId}/restore`
    const started = (await bench.rest.post(path, { title: 'From the backup' })).body
    const job = await end(started.jobId)
    expect(job).toMatchObject({ status: 'completed', subject: 'From the backup' })
    expect(job.result).toMatchObject({ id: started.baseId, title: 'From the backup', filesMissing: 0 })
    const { baseId } = started
    const restored = await tableOf(baseId, orders)
    expect(await records(restored.table.id)).toEqual(before)
    expect(before).toMatchObject([{ Title: 'o1', Qty: 2, Double: 4 }, { Title: 'o2' }, { Title: 'o3' }])
    const { trpc, rest } = bench
    const links = restored.fields.find(({ title }) => title === 'Customer')
    const linked = await rest.get(`/api/v2/tables/${restored.table.id}/links/${links?.id}/records/1`)
    expect(linked.body.list.map(({ Title }: { Title: string }) => Title)).toEqual(['Ada', 'Bea'])
    const viewed = await rest.get(
      `/api/v2/tables/${restored.table.id}/records?viewId=${restored.views[0]?.id}`,
    )
    expect(viewed.body.list).toHaveLength(2)
    // All under ids of their own.
    const original = await trpc.schema.table.query({ tableId: orders.id })
    for (const { id } of [...original.fields, ...original.views, original.table])
      expect(JSON.stringify(restored)).not.toContain(id)
    const { comments } = await trpc.comments.list.query({ tableId: restored.table.id, recordId: 1 })
    const double = restored.fields.find(({ title }) => title === 'Double')?.id ?? ''
    expect(comments).toMatchObject([
      { text: 'Is it right?', fieldId: double, reactions: [{ emoji: '👍' }] },
      { text: 'It is.', parentId: comments[0]?.id },
    ])
    const kept = await trpc.comments.list.query({ tableId: orders.id, recordId: 1 })
    expect(kept.comments).toHaveLength(2)
    expect(await trpc.hooks.list.query({ tableId: restored.table.id })).toMatchObject([
      { title: 'Tell all', isActive: false },
    ])
    expect(await trpc.shares.get.query({ kind: 'base', targetId: baseId })).toBeNull()
    expect(await trpc.bases.members.query({ baseId })).toMatchObject([{ email: bench.owner.email }])
    // Both go on by themselves.
    const newPath = `/api/v2/tables/${restored.table.id}/records`
    expect((await rest.post(newPath, { Title: 'new' })).body).toEqual({ Id: 4 })
    expect((await rest.get(`${orders.path}/2`)).body.Title).toBe('later')
    expect(leftFolders()).toEqual([])
  })

  test('names it after the day of the backup, and never like another base', async () => {
    const { restoreBase, list } = bench.trpc.backups
    const { title } = await bench.trpc.bases.get.query({ baseId: bench.baseId })
    const day = (await list.query())[0]?.summary?.at.slice(0, 10)
    for (let round = 0; round < 2; round++) {
      const { jobId } = await restoreBase.mutate({ backupId, baseId: bench.baseId })
      expect(await end(jobId)).toMatchObject({ status: 'completed' })
    }
    expect(await titles()).toEqual(expect.arrayContaining([`${title} ${day}`, `${title} ${day} 2`]))
  })

  test('brings files back that this server has lost, and counts those that are nowhere', async () => {
    const attachments = join(bench.app.config.dataDir, 'attachments')
    const [name = ''] = readdirSync(attachments, { recursive: true })
      .map(String)
      .filter((file) => file.endsWith('.txt'))
    const lost = join(attachments, name)
    rmSync(lost)
    const run = async () => {
      const { jobId, baseId } = await bench.trpc.backups.restoreBase.mutate({
        backupId,
        baseId: bench.baseId,
      })
      return { job: await end(jobId), baseId }
    }
    const first = await run()
    expect(first.job).toMatchObject({ status: 'completed', result: { filesMissing: 0 } })
    expect(readFileSync(lost, 'utf8')).toBe('a photo')
    const { table } = await tableOf(first.baseId, orders)
    const [photo] = (await bench.rest.get(`/api/v2/tables/${table.id}/records/1`)).body.Photo
    expect(await (await fetch(`${bench.app.url}/${photo.signedPath}`)).text()).toBe('a photo')
    // A backup without it cannot bring it back.
    rmSync(lost)
    expect(await end((await bench.trpc.backups.run.mutate()).jobId)).toMatchObject({ status: 'completed' })
    const [latest] = await bench.trpc.backups.list.query()
    const { jobId } = await bench.trpc.backups.restoreBase.mutate({
      backupId: latest?.id ?? '',
      baseId: bench.baseId,
    })
    expect(await end(jobId)).toMatchObject({ status: 'completed', result: { filesMissing: 1 } })
    // A row that was removed with its file comes back as well.
    const { kernel } = bench.app
    const { attachmentFiles, attachmentUses } = kernel.meta.tables(
      (await import('../../modules/records/tables.ts')).defineRecordsTables,
    )
    await kernel.meta.db.delete(attachmentUses)
    await kernel.meta.db.delete(attachmentFiles)
    expect((await run()).job).toMatchObject({ status: 'completed', result: { filesMissing: 0 } })
    expect(readFileSync(lost, 'utf8')).toBe('a photo')
  })

  test('leaves nothing when a part of the backup is damaged, and says so', async () => {
    const [before, known] = [await titles(), readdirSync(join(bench.app.config.dataDir, 'bases'))]
    const packs = readdirSync(join(place, 'packs'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
    const kept = packs.map((path) => [path, readFileSync(path)] as const)
    for (const path of packs) rmSync(path)
    const { jobId } = await bench.trpc.backups.restoreBase.mutate({ backupId, baseId: bench.baseId })
    expect(await end(jobId)).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(
        /^The base can’t be restored: (\S+\.db|The table \S+) cannot be restored: /,
      ),
    })
    for (const [path, bytes] of kept) writeFileSync(path, bytes)
    expect(await titles()).toEqual(before)
    expect(readdirSync(join(bench.app.config.dataDir, 'bases'))).toEqual(known)
    expect(leftFolders()).toEqual([])
    // The latest backup is none the worse.
    expect((await bench.trpc.backups.overview.query()).lastError).toBeNull()
  })

  test('removes what a server that was killed meanwhile has begun', async () => {
    const { kernel, services } = bench.app
    const [owner, newBaseId] = [{ id: bench.owner.id } as UserActor, createId('base')]
    const original = await services.bases.require(bench.baseId)
    await services.bases.copies.begin(owner, original, {
      baseId: newBaseId,
      title: 'Half',
      withSources: true,
    })
    const folder = 'restore-1-cutoff00'
    const file = kernel.sources.path(newBaseId)
    if (kernel.config.databaseUrl === null) writeFileSync(file, 'half')
    writeFileSync(join(kernel.config.dataDir, folder), 'half')
    const job = createBaseRestoreJob({
      kernel,
      ...services,
      openPlace: () => Promise.reject(new Error('not used')),
    })
    const input = {
      owner,
      backupId,
      baseId: bench.baseId,
      newBaseId,
      at: null,
      title: 'Half',
      folder,
      token: 'unused00',
    }
    expect(await job.recover(input, { id: 'job', userId: owner.id })).toBeNull()
    expect([existsSync(file), leftFolders()]).toEqual([false, []])
    const all = await services.bases.trashed()
    expect(all.map(({ title }) => title)).not.toContain('Half')
  })

  test('refuses a backup of another version, and names the command to use', async () => {
    await setVersion(join(place, 'manifests', backupId), '0.0.1')
    const refused = await refusalOf(bench.trpc.backups.restoreBase.mutate({ backupId, baseId: bench.baseId }))
    expect(refused.status).toBe(400)
    expect(refused.message).toMatch(/^Sheaf 0\.0\.1 made this backup.*sheaf restore/)
  })
})

describe('restoring one base to an earlier time', () => {
  const restoreAt = async (at: string) => {
    const path = `/api/v2/meta/backups/bases/${bench.baseId}/restore`
    const { status, body } = await bench.rest.post(path, { at })
    expect([status, body.msg]).toEqual([200, undefined])
    return { job: await end(body.jobId), baseId: body.baseId as string }
  }

  /** Right after everything that was done so far: the next change is of another millisecond. */
  async function momentNow(): Promise<string> {
    const at = new Date().toISOString()
    await Bun.sleep(3)
    return at
  }

  test('refuses the future, times before its history, a text that is no time, and everyone below super admin', async () => {
    const { baseId, trpc, app } = bench
    const refused = (at: string, by = trpc) => refusalOf(by.backups.restoreBaseAt.mutate({ baseId, at }))
    expect(await refused('2200-01-01T00:00:00Z')).toMatchObject({
      status: 400,
      message: 'This time is in the future',
    })
    expect((await refused('yesterday')).status).toBe(400)
    const unknown = trpc.backups.restoreBaseAt.mutate({ baseId: createId('base'), at: await momentNow() })
    expect((await refusalOf(unknown)).status).toBe(404)
    await trpc.backups.save.mutate({ ...settings, url: join(place, 'empty') })
    expect(await refused('2020-01-01T00:00:00Z')).toMatchObject({
      status: 400,
      message: expect.stringContaining('did not exist at that time'),
    })
    const before = await momentNow()
    await app.services.bases.saveHistory(baseId, { historySince: new Date().toISOString() })
    expect(await refused(before)).toMatchObject({
      status: 400,
      message: expect.stringContaining('The history goes back to'),
    })
    await app.services.bases.saveHistory(baseId, { historySince: null })
    await trpc.backups.save.mutate(settings)
    const owner = await createMember(app, baseId, 'owner')
    expect((await refused(before, app.trpc(owner.token))).status).toBe(403)
  })

  test('passes over the backup of an upgrade, whose metadata are of the version before', async () => {
    const at = await momentNow()
    expect(await end((await bench.trpc.backups.run.mutate()).jobId)).toMatchObject({ status: 'completed' })
    const id = (await bench.trpc.backups.list.query())[0]?.id ?? ''
    const [summary, manifest] = [join(place, 'summaries', id), join(place, 'manifests', id)]
    const text = Buffer.from((await expand(readFileSync(summary))) ?? []).toString()
    const changed = Buffer.from(text.replace('"kind":"manual"', '"kind":"upgrade"'))
    writeFileSync(summary, Buffer.concat(await compress(changed, 'normal')))
    // Whoever takes it fails.
    writeFileSync(manifest, 'damaged')
    expect((await restoreAt(at)).job).toMatchObject({ status: 'completed' })
    for (const path of [summary, manifest]) rmSync(path)
  })

  test('rewinds all tables with their records and links in a copy', async () => {
    const { trpc, rest, baseId: originalId } = bench
    const before = [await records(orders.id), await records(customers.id)]
    const at = await momentNow()
    await rest.patch(orders.path, { Id: 1, Title: 'changed', Qty: 100 })
    // Both ends of a link.
    await rest.delete(orders.path, { Id: 1 })
    await rest.delete(customers.path, { Id: 2 })
    await rest.post(customers.path, { Title: 'Cleo' })
    await rest.post(orders.path, { Title: 'o4', Qty: 1 })
    const added = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'since' }])
    const now = [await records(orders.id), await records(customers.id)]

    const fromPresent = await restoreAt(at)
    expect(fromPresent.job).toMatchObject({ status: 'completed', result: { notRewound: [] } })
    const tables = await trpc.schema.tables.query({ baseId: fromPresent.baseId })
    expect(tables.map(({ title }) => title)).not.toContain(added.title)
    const recordsIn = async (baseId: string) => [
      await records((await tableOf(baseId, orders)).table.id),
      await records((await tableOf(baseId, customers)).table.id),
    ]
    expect(await recordsIn(fromPresent.baseId)).toEqual(before)
    expect([await records(orders.id), await records(customers.id)]).toEqual(now)
    // The copy has a history of its own.
    expect((await trpc.records.undo.mutate({ baseId: fromPresent.baseId })).kind).toBeNull()

    await trpc.schema.deleteTable.mutate({ tableId: customers.id })
    expect(await recordsIn((await restoreAt(at)).baseId)).toEqual(before)
    await trpc.schema.restoreTable.mutate({ tableId: customers.id })

    // The first backup since still has a field that was deleted later.
    expect(await end((await trpc.backups.run.mutate()).jobId)).toMatchObject({ status: 'completed' })
    await trpc.schema.deleteField.mutate({ fieldId: orders.field('Qty').id })
    await trpc.bases.delete.mutate({ baseId: originalId })
    const fromBackup = await restoreAt(at)
    expect(fromBackup.job).toMatchObject({ status: 'completed', result: { notRewound: [] } })
    expect(await recordsIn(fromBackup.baseId)).toEqual(before)
    expect(leftFolders()).toEqual([])
  })
})
