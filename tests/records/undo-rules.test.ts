import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServer } from '../../src/app.ts'
import { currentCaller } from '../../src/caller.ts'
import { type Credentials, createRestClient, createTrpcClient } from '../support/client.ts'
import { createMember } from '../support/factories.ts'
import { createDatabase } from '../support/servers.ts'
import { EVERY_TYPE } from './every-type.ts'
import { type Bench, benchOf, createBench, dump, refusalOf, type TestTable } from './support.ts'

let bench: Bench
beforeAll(async () => {
  bench = await createBench()
})
afterAll(() => bench.stop())

const undo = () => bench.trpc.records.undo.mutate({ baseId: bench.baseId })
const redo = () => bench.trpc.records.redo.mutate({ baseId: bench.baseId })

/** The rows without what says when they were written. */
const rowsOf = async (table: TestTable) =>
  (await table.list()).map(({ UpdatedAt: _, CreatedAt: __, ...row }) => row)

describe('undo and redo', () => {
  test("is for one's own actions, and keeps what others have changed since", async () => {
    const table = await bench.table({ Title: 'SingleLineText', Num: 'Number' }, [
      { Title: 'a', Num: 1 },
      { Title: 'b', Num: 2 },
    ])
    const editor = await createMember(bench.app, bench.baseId, 'editor')
    const theirs = bench.app.rest(editor.token)
    await bench.rest.patch(table.path, [
      { Id: 1, Title: 'mine', Num: 10 },
      { Id: 2, Title: 'mine too' },
    ])
    await theirs.patch(table.path, { Id: 1, Num: 99 })
    expect(await undo()).toMatchObject({ kind: 'records.update', skipped: 1 })
    expect(await rowsOf(table)).toMatchObject([
      { Title: 'a', Num: 99 },
      { Title: 'b', Num: 2 },
    ])
    expect(await redo()).toMatchObject({ skipped: 0 })
    expect(await rowsOf(table)).toMatchObject([
      { Title: 'mine', Num: 99 },
      { Title: 'mine too', Num: 2 },
    ])
    await undo()
    const { applied } = await bench.app.trpc(editor.token).records.undo.mutate({ baseId: bench.baseId })
    expect(applied?.records).toHaveLength(1)
    expect((await rowsOf(table))[0]).toMatchObject({ Num: 10 })
    await theirs.delete(table.path, { Id: 2 })
    expect(await redo()).toMatchObject({ kind: 'records.update' })
    expect((await rowsOf(table)).map((row) => row.Id)).toEqual([1])
  })

  test('of a field, a table and a view go through the modules that own them', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }])
    const field = await bench.trpc.schema.createField.mutate({
      tableId: table.id,
      field: { type: 'Number', title: 'Late' },
    })
    await bench.rest.patch(table.path, { Id: 1, Late: 5 })
    await bench.trpc.schema.deleteField.mutate({ fieldId: field.id })
    expect((await table.list())[0]).not.toHaveProperty('Late')
    expect(await undo()).toMatchObject({ kind: 'field.delete' })
    expect((await table.list())[0]).toMatchObject({ Late: 5 })
    await undo()
    expect((await table.list())[0]).toMatchObject({ Late: null })
    await undo()
    expect((await table.list())[0]).not.toHaveProperty('Late')
    await redo()
    await redo()
    expect((await table.list())[0]).toMatchObject({ Late: 5 })
  })

  test('leave out values that their field would refuse by now', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Ss: EVERY_TYPE.Ss }, [
      { Title: 'x', Ss: 'red' },
      { Title: 'y', Ss: 'blue' },
    ])
    const editor = await createMember(bench.app, bench.baseId, 'editor')
    const theirs = bench.app.trpc(editor.token)
    await bench.app.rest(editor.token).patch(table.path, [
      { Id: 1, Ss: null },
      { Id: 2, Ss: null },
    ])
    const field = table.field('Ss')
    const choices = (field.options.choices as { title: string }[]).filter(({ title }) => title !== 'red')
    await bench.trpc.schema.updateField.mutate({ fieldId: field.id, patch: { options: { choices } } })
    expect(await theirs.records.undo.mutate({ baseId: bench.baseId })).toMatchObject({ skipped: 1 })
    expect(await rowsOf(table)).toMatchObject([{ Ss: null }, { Ss: 'blue' }])
  })

  test('of an update of thousands, where some were changed since', async () => {
    const table = await bench.table({
      Title: 'SingleLineText',
      Num: 'Number',
      Cb: 'Checkbox',
      before: 'Decimal',
    })
    await bench.rest.post(
      table.path,
      Array.from({ length: 2500 }, (_, index) => ({
        Title: `${index}`,
        Num: index % 3 ? index : null,
        Cb: index % 2,
        before: index / 7,
      })),
    )
    const editor = await createMember(bench.app, bench.baseId, 'editor')
    const page = async () =>
      (await table.list('?limit=1000&offset=0')).map(({ Title, Num, Cb, before }) => [Title, Num, Cb, before])
    const original = await page()
    const values = table.values({ Title: 'same', Num: 7, Cb: true, before: null })
    await bench.trpc.records.updateMatching.mutate({ selection: { tableId: table.id }, values })
    const updated = await page()
    await bench.app.rest(editor.token).patch(table.path, [
      { Id: 1, Title: 'theirs' },
      { Id: 2, Num: 8, Cb: false },
    ])
    expect(await undo()).toMatchObject({ skipped: 3, records: 2500 })
    const [first, second, ...rest] = await page()
    expect(first).toEqual(['theirs', ...original[0]!.slice(1)])
    expect(second).toEqual(['1', 8, bench.app.flag(false), original[1]![3]])
    expect(rest).toEqual(original.slice(2))
    expect(await redo()).toMatchObject({ skipped: 0 })
    expect((await page()).slice(2)).toEqual(updated.slice(2))
    expect((await page())[0]).toEqual(['theirs', 7, bench.app.flag(true), null])
    await undo()
    expect((await page()).slice(2)).toEqual(original.slice(2))
    const { entries } = await bench.trpc.records.history.query({ tableId: table.id, recordId: 99 })
    expect(entries.map(({ kind }) => kind)).toEqual([
      'undo',
      'redo',
      'undo',
      'records.update',
      'records.insert',
    ])
    expect(entries[0]?.changes).toContainEqual({
      fieldId: table.field('Cb').id,
      before: true,
      after: false,
    })
  })

  test('say so where what comes back would break a rule, and change nothing', async () => {
    const table = await bench.table({ Title: { type: 'SingleLineText', unique: true } }, [{ Title: 'a' }])
    await bench.rest.delete(table.path, { Id: 1 })
    const editor = await createMember(bench.app, bench.baseId, 'editor')
    await bench.app.rest(editor.token).post(table.path, { Title: 'a' })
    const before = await dump(bench)
    expect(await refusalOf(undo())).toMatchObject({ code: 'DATABASE_ERROR', status: 400 })
    expect(await dump(bench)).toEqual(before)
    await bench.app.rest(editor.token).delete(table.path, { Id: 2 })
    await undo()
    expect(await table.titles()).toEqual(['a'])
  })

  test('go on with what came before, where one is refused and asked for once more', async () => {
    const table = await bench.table({ Title: { type: 'SingleLineText', unique: true }, Num: 'Number' }, [
      { Title: 'a' },
      { Title: 'b', Num: 1 },
    ])
    await bench.rest.patch(table.path, { Id: 2, Num: 2 })
    await bench.rest.delete(table.path, { Id: 1 })
    const editor = await createMember(bench.app, bench.baseId, 'editor')
    await bench.app.rest(editor.token).post(table.path, { Title: 'a' })
    expect((await refusalOf(undo())).message).toContain('Undo once more')
    expect(await undo()).toMatchObject({ kind: 'records.update' })
    expect(await rowsOf(table)).toMatchObject([{ Title: 'b', Num: 1 }, { Title: 'a' }])
  })

  test('are refused to viewers, and for bases that are not there', async () => {
    const viewer = await createMember(bench.app, bench.baseId, 'viewer')
    const trpc = bench.app.trpc(viewer.token)
    expect(await refusalOf(trpc.records.undo.mutate({ baseId: bench.baseId }))).toMatchObject({
      code: 'PERMISSION_DENIED',
    })
    expect(await refusalOf(trpc.records.redo.mutate({ baseId: bench.baseId }))).toMatchObject({
      code: 'PERMISSION_DENIED',
    })
    for (const baseId of ['pnope', 'p00000000000000', '../../etc']) {
      expect(await refusalOf(bench.trpc.records.undo.mutate({ baseId }))).toMatchObject({
        code: 'BASE_NOT_FOUND',
        status: 404,
      })
      expect(await refusalOf(bench.trpc.records.redo.mutate({ baseId }))).toMatchObject({
        code: 'BASE_NOT_FOUND',
      })
      expect(await refusalOf(bench.trpc.records.people.query({ baseId }))).toMatchObject({
        code: 'BASE_NOT_FOUND',
      })
      expect(await bench.app.kernel.sources.exists(baseId)).toBe(false)
    }
  })

  test('survive a restart', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'sheaf-undo-'))
    const isPostgres = bench.app.kernel.meta.client === 'pg'
    const database = isPostgres ? await createDatabase('postgres') : null
    const config = { ...bench.app.config, dataDir, databaseUrl: database?.url ?? null }
    let server = await startServer(config)
    try {
      const password = 'correct horse battery'
      const { token } = await createTrpcClient(server.url).auth.signUp.mutate({
        email: 'a@example.com',
        password,
      })
      const connect = () => ({
        ...bench.app,
        url: server.url,
        trpc: (t?: Credentials) => createTrpcClient(server.url, t),
        rest: (t?: Credentials) => createRestClient(server.url, t),
      })
      const base = await createTrpcClient(server.url, token).bases.create.mutate({ title: 'Kept' })
      const owner = { id: '', email: 'a@example.com', token }
      const table = await benchOf(connect(), owner, base.id).table({ Title: 'SingleLineText' }, [
        { Title: '0' },
      ])
      const patch = (title: string) =>
        createRestClient(server.url, token).patch(table.path, { Id: 1, Title: title })
      await patch('1')
      await patch('2')
      await createTrpcClient(server.url, token).records.undo.mutate({ baseId: base.id })
      await server.stop()
      server = await startServer(config)
      const trpc = createTrpcClient(server.url, token)
      const title = async () => (await createRestClient(server.url, token).get(`${table.path}/1`)).body.Title
      expect(await title()).toBe('1')
      await trpc.records.redo.mutate({ baseId: base.id })
      expect(await title()).toBe('2')
      await trpc.records.undo.mutate({ baseId: base.id })
      await trpc.records.undo.mutate({ baseId: base.id })
      expect(await title()).toBe('0')
    } finally {
      await server.stop()
      await database?.drop()
      rmSync(dataDir, { recursive: true, force: true })
    }
  })
})

describe('undo of a text that looks like a number', () => {
  test('brings the text before it back', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Notes: 'LongText' }, [
      { Title: '1', Notes: '007' },
    ])
    await bench.rest.patch(table.path, { Id: 1, Title: '2', Notes: '8' })
    expect(await undo()).toMatchObject({ records: 1, skipped: 0 })
    expect(await table.list('?fields=Title,Notes')).toEqual([{ Title: '1', Notes: '007' }])
  })
})

test('a claim that cannot be released does not make the undo of a field fail', async () => {
  const table = await bench.table({ Title: 'SingleLineText' })
  const patch = { title: 'Renamed' }
  await bench.trpc.schema.updateField.mutate({ fieldId: table.field('Title').id, patch })
  const { claims } = bench.app.kernel.meta.cluster
  const { release } = claims
  const spy = spyOn(claims, 'release').mockImplementation(async (key) => {
    await release(key)
    if (key === `undo ${bench.baseId}`) throw new Error('The connection is lost')
  })
  try {
    expect(await undo()).toMatchObject({ kind: 'field.update' })
    expect(spy).toHaveBeenCalled()
  } finally {
    spy.mockRestore()
  }
})

describe('options that were renamed since', () => {
  type Choice = { id: string; title: string; color: string }
  const choice = (title: string) => ({ title })

  test.each(['SingleSelect', 'MultiSelect'] as const)(
    'are the same ones to undo, redo and the trash: %s',
    async (type) => {
      const options = { choices: ['To do', 'Doing', 'Done'].map(choice) }
      const table = await bench.table({ Title: 'SingleLineText', Status: { type, options } }, [
        { Title: 'Card', Status: 'To do' },
        { Title: 'Other', Status: 'Done' },
      ])
      const fieldId = table.field('Status').id
      const rename = async (names: Record<string, string>) => {
        const { fields } = await bench.trpc.schema.table.query({ tableId: table.id })
        const { choices } = (fields.find(({ id }) => id === fieldId)?.options ?? {}) as { choices: Choice[] }
        const renamed = choices.map((one) => ({ ...one, title: names[one.title] ?? one.title }))
        await bench.trpc.schema.updateField.mutate({ fieldId, patch: { options: { choices: renamed } } })
      }
      const status = async () => (await table.list()).map(({ Status }) => Status)
      const { baseId } = bench
      const latest = async () =>
        (await bench.trpc.records.nextAction.query({ baseId, direction: 'undo' }))?.id ?? 0

      await bench.rest.patch(table.path, { Id: 1, Status: 'Doing' })
      const entryId = await latest()
      await rename({ 'To do': 'Open', Doing: 'Running' })
      expect(await status()).toEqual(['Running', 'Done'])
      const preview = await bench.trpc.records.previewRevert.query({ baseId, entryId })
      expect(preview.kept.total).toBe(0)
      expect(await bench.trpc.records.undo.mutate({ baseId, entryId })).toMatchObject({ skipped: 0 })
      expect(await status()).toEqual(['Open', 'Done'])
      await rename({ Running: 'Going', Open: 'New' })
      expect(await bench.trpc.records.redo.mutate({ baseId, entryId })).toMatchObject({ skipped: 0 })
      expect(await status()).toEqual(['Going', 'Done'])

      // The undo of a renaming is one, too.
      const renaming = await latest()
      await bench.rest.patch(table.path, { Id: 2, Status: 'Going' })
      const second = await latest()
      await bench.trpc.records.undo.mutate({ baseId, entryId: renaming })
      await bench.trpc.records.undo.mutate({ baseId, entryId: second })
      expect(await status()).toEqual(['Running', 'Done'])

      await bench.rest.delete(table.path, { Id: 1 })
      await rename({ Running: 'Under way' })
      const restored = { tableId: table.id, recordIds: [1] }
      await bench.trpc.records.restoreTrashed.mutate(restored)
      expect(await status()).toEqual(['Under way', 'Done'])
    },
  )

  test.each(['SingleSelect', 'MultiSelect'] as const)(
    'are the same ones to changes of 1,000 and more records: %s',
    async (type) => {
      const options = { choices: ['To do', 'Doing', 'Done', 'Late'].map(choice) }
      const titles = ['To do', 'Doing', 'Done', type === 'MultiSelect' ? 'Done,To do,Doing' : 'To do']
      const rows = Array.from({ length: 1_000 }, (_, at) => ({ Status: titles[at % 4] }))
      const table = await bench.table({ Title: 'SingleLineText', Status: { type, options } }, rows)
      const { trpc, baseId } = bench
      const fieldId = table.field('Status').id
      const change = async (next: (choices: Choice[]) => object[]) => {
        const { fields } = await trpc.schema.table.query({ tableId: table.id })
        const { choices } = (fields.find(({ id }) => id === fieldId)?.options ?? {}) as { choices: Choice[] }
        await trpc.schema.updateField.mutate({ fieldId, patch: { options: { choices: next(choices) } } })
      }
      const rename = (names: Record<string, string>) =>
        change((choices) => choices.map((one) => ({ ...one, title: names[one.title] ?? one.title })))
      const latest = async () => (await trpc.records.nextAction.query({ baseId, direction: 'undo' }))?.id ?? 0
      const status = async () => (await table.list()).slice(0, 7).map(({ Status }) => Status)
      const all = { tableId: table.id }
      const list = (...parts: string[]) => (type === 'MultiSelect' ? parts.join(',') : parts[1])

      await trpc.records.updateMatching.mutate({ selection: all, values: { [fieldId]: 'Doing' } })
      const update = await latest()
      await rename({ 'To do': 'Doing', Doing: 'To do', Done: 'It’s "done"' })
      await bench.rest.patch(table.path, { Id: 3, Status: 'Late' })
      const preview = await trpc.records.previewRevert.query({ baseId, entryId: update })
      expect(preview.kept.total).toBe(1)
      expect(await trpc.records.undo.mutate({ baseId, entryId: update })).toMatchObject({ skipped: 1 })
      const done = 'It’s "done"'
      const undone = ['Doing', 'To do', 'Late', list(done, 'Doing', 'To do'), 'Doing', 'To do', done]
      expect(await status()).toEqual(undone)

      await rename({ 'To do': 'Started' })
      expect(await trpc.records.redo.mutate({ baseId, entryId: update })).toMatchObject({ skipped: 0 })
      expect(await status()).toEqual(['Started', 'Started', 'Late', ...Array(4).fill('Started')])
      await trpc.records.undo.mutate({ baseId, entryId: update })

      await trpc.records.deleteMatching.mutate({ selection: all })
      const deletion = await latest()
      await rename({ Doing: 'Open' })
      await trpc.records.undo.mutate({ baseId, entryId: deletion })
      const restored = ['Open', 'Started', 'Late', list(done, 'Open', 'Started'), 'Open', 'Started', done]
      expect(await status()).toEqual(restored)

      // Options that are gone, and one that has got the title of such an option: it is another one.
      await trpc.records.updateMatching.mutate({ selection: all, values: { [fieldId]: 'Open' } })
      const opened = await trpc.records.undo.mutate({ baseId, entryId: await latest() })
      const moment = { ...all, before: opened.applied?.id ?? 0, keep: [] }
      const { changeId } = await trpc.records.restoreTable.mutate(moment)
      expect(new Set(await status())).toEqual(new Set(['Open']))
      await change((choices) => choices.filter(({ title }) => title !== done && title !== 'Late'))
      await rename({ Started: 'Late', Open: 'Opened' })
      const left = { skipped: type === 'MultiSelect' ? 500 : 250 }
      expect(await trpc.records.undo.mutate({ baseId, entryId: changeId })).toMatchObject(left)
      expect(await status()).toEqual(['Opened', 'Late', 'Opened', 'Opened', 'Opened', 'Late', 'Opened'])
    },
  )

  test('are looked up without waiting for long reads of the log', async () => {
    const options = { choices: ['To do', 'Done'].map(choice) }
    const table = await bench.table({ Title: 'SingleLineText', Status: { type: 'SingleSelect', options } }, [
      { Title: 'Card', Status: 'To do' },
    ])
    await bench.rest.patch(table.path, { Id: 1, Status: 'Done' })
    const engine = await bench.app.kernel.sources.engine(bench.baseId)
    const scans: string[] = []
    const { all } = engine
    const spy = spyOn(engine, 'all').mockImplementation((statement, how) => {
      if (how?.scan && currentCaller() && statement.sql.includes('sheaf_changes')) scans.push(statement.sql)
      return all(statement, how)
    })
    try {
      expect(await undo()).toMatchObject({ kind: 'records.update', skipped: 0 })
    } finally {
      spy.mockRestore()
    }
    expect(scans).toEqual([])
    expect((await table.list()).map(({ Status }) => Status)).toEqual(['To do'])
  })

  test('stay as they are where they are gone', async () => {
    const options = { choices: ['To do', 'Doing', 'Done'].map(choice) }
    const table = await bench.table({ Title: 'SingleLineText', Status: { type: 'SingleSelect', options } }, [
      { Title: 'Card', Status: 'To do' },
    ])
    await bench.rest.patch(table.path, { Id: 1, Status: 'Doing' })
    const { baseId } = bench
    const action = await bench.trpc.records.nextAction.query({ baseId, direction: 'undo' })
    const { id: fieldId, options: now } = table.field('Status')
    const choices = (now as { choices: Choice[] }).choices.filter(({ title }) => title !== 'To do')
    await bench.trpc.schema.updateField.mutate({ fieldId, patch: { options: { choices } } })
    const undone = await bench.trpc.records.undo.mutate({ baseId, entryId: action?.id })
    expect(undone).toMatchObject({ skipped: 1 })
    expect((await table.list()).map(({ Status }) => Status)).toEqual(['Doing'])
  })

  test('are not those that have their titles since, unless these were added with them', async () => {
    const options = { choices: ['To do', 'Doing', 'Done'].map(choice) }
    const table = await bench.table({ Title: 'SingleLineText', Status: { type: 'SingleSelect', options } }, [
      { Title: 'Card', Status: 'To do' },
      { Title: 'Other', Status: 'Done' },
    ])
    const { baseId, trpc } = bench
    const fieldId = table.field('Status').id
    const change = async (next: (choices: Choice[]) => object[]) => {
      const { fields } = await trpc.schema.table.query({ tableId: table.id })
      const { choices } = (fields.find(({ id }) => id === fieldId)?.options ?? {}) as { choices: Choice[] }
      await trpc.schema.updateField.mutate({ fieldId, patch: { options: { choices: next(choices) } } })
    }
    const latest = async () => (await trpc.records.nextAction.query({ baseId, direction: 'undo' }))?.id ?? 0
    const added = await latest()
    await bench.rest.patch(table.path, [
      { Id: 1, Status: 'Doing' },
      { Id: 2, Status: 'Doing' },
    ])
    const entryId = await latest()
    await change((choices) => choices.filter(({ title }) => title !== 'To do' && title !== 'Done'))
    await change((choices) => [...choices.map((one) => ({ ...one, title: 'To do' })), { title: 'Done' }])
    await change((choices) =>
      choices.map((one) => ({ ...one, title: one.title === 'Done' ? 'Finished' : one.title })),
    )
    const status = async () => (await table.list()).map(({ Status }) => Status)
    expect(await status()).toEqual(['To do', 'To do'])
    expect(await trpc.records.undo.mutate({ baseId, entryId })).toMatchObject({ skipped: 1 })
    expect(await status()).toEqual(['To do', 'Finished'])
    await bench.rest.patch(table.path, { Id: 2, Status: 'To do' })
    const [first, second] = [1, 2].map((recordId) => ({ tableId: table.id, recordId, entryId: added }))
    expect((await trpc.records.previewRecordVersion.query(first!)).left).toEqual(['Status'])
    await trpc.records.restoreRecordVersion.mutate(second!)
    expect(await status()).toEqual(['To do', 'Finished'])
  })
})
