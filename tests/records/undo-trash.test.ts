import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { findAction } from '../../src/db/change-log/actions.ts'
import { markUndone } from '../../src/db/change-log/append.ts'
import { lastChangeId } from '../../src/db/change-log/entry.ts'
import { removeEntries } from '../../src/db/change-log/removal.ts'
import { createMember } from '../support/factories.ts'
import { until } from '../support/until.ts'
import { type Bench, createBench, refusalOf, type TestTable } from './support.ts'

let bench: Bench
beforeAll(async () => {
  bench = await createBench()
})
afterAll(() => bench.stop())

const undo = () => bench.trpc.records.undo.mutate({ baseId: bench.baseId })

/** The rows without what says when they were written. */
const rowsOf = async (table: TestTable) =>
  (await table.list()).map(({ UpdatedAt: _, CreatedAt: __, ...row }) => row)

/** Fields in the trash keep their columns, which the records that come back have to fill. */
describe('undo', () => {
  test('brings back a deleted record with the values of a field that is in the trash', async () => {
    for (const remove of [
      (table: TestTable) => bench.rest.delete(table.path, [{ Id: 1 }, { Id: 2 }]),
      (table: TestTable) => bench.trpc.records.deleteMatching.mutate({ selection: { tableId: table.id } }),
    ]) {
      const table = await bench.table({ Title: 'SingleLineText', Gone: 'Number', Done: 'Checkbox' }, [
        { Title: 'a', Gone: 5, Done: true },
        { Title: 'b', Gone: 6 },
      ])
      await bench.trpc.schema.deleteField.mutate({ fieldId: table.field('Gone').id })
      await remove(table)
      expect(await table.total()).toBe(0)
      await undo()
      await bench.trpc.schema.restoreField.mutate({ fieldId: table.field('Gone').id })
      expect(await rowsOf(table)).toMatchObject([
        { Title: 'a', Gone: 5, Done: bench.app.flag(true) },
        { Title: 'b', Gone: 6, Done: bench.app.flag(false) },
      ])
    }
  })

  test.each([3, 1_200])(
    'of a deletion of %i records keeps the values of fields that were in the trash then and are back by now',
    async (count) => {
      const rows = Array.from({ length: count }, (_, index) => ({ Title: `r${index}`, Note: `n${index}` }))
      const table = await bench.table({ Title: 'SingleLineText', Note: 'SingleLineText' }, rows)
      const fieldId = table.field('Note').id
      const before = await rowsOf(table)
      await bench.trpc.schema.deleteField.mutate({ fieldId })
      await bench.trpc.records.deleteMatching.mutate({ selection: { tableId: table.id } })
      const creator = await createMember(bench.app, bench.baseId, 'creator')
      await bench.app.trpc(creator.token).schema.restoreField.mutate({ fieldId })
      expect(await undo()).toMatchObject({ kind: 'records.delete', records: count })
      expect(await rowsOf(table)).toEqual(before)
    },
  )

  test.each([3, 1_200])(
    'of a deletion of %i records keeps the values of fields that went to the trash since',
    async (count) => {
      const rows = Array.from({ length: count }, (_, index) => ({
        Title: `r${index}`,
        Done: index % 2 === 0,
      }))
      const table = await bench.table({ Title: 'SingleLineText', Done: 'Checkbox' }, rows)
      const fieldId = table.field('Done').id
      const before = await rowsOf(table)
      await bench.trpc.records.deleteMatching.mutate({ selection: { tableId: table.id } })
      const creator = await createMember(bench.app, bench.baseId, 'creator')
      const theirs = bench.app.trpc(creator.token)
      await theirs.schema.deleteField.mutate({ fieldId })
      expect(await undo()).toMatchObject({ kind: 'records.delete', records: count })
      await theirs.schema.restoreField.mutate({ fieldId })
      expect(await rowsOf(table)).toEqual(before)
    },
  )

  test('says what stands in the way where a field in the trash kept its values apart', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Code: 'SingleLineText' }, [
      { Title: 'a', Code: 'x' },
    ])
    const fieldId = table.field('Code').id
    await bench.trpc.schema.updateField.mutate({ fieldId, patch: { unique: true } })
    await bench.rest.delete(table.path, { Id: 1 })
    const creator = await createMember(bench.app, bench.baseId, 'creator')
    const theirs = bench.app.trpc(creator.token)
    await bench.app.rest(creator.token).post(table.path, { Title: 'b', Code: 'x' })
    await theirs.schema.deleteField.mutate({ fieldId })
    expect((await refusalOf(undo())).message).toStartWith(
      'A field in the trash requires unique values. Restore it first. Undo once more to skip it',
    )
  })

  test.each([3, 1_200])(
    'of a deletion of %i records leaves out values of a converted field',
    async (count) => {
      const rows = Array.from({ length: count }, (_, index) => ({ Title: `r${index}`, Qty: 'many' }))
      const table = await bench.table({ Title: 'SingleLineText', Qty: 'SingleLineText' }, rows)
      await bench.trpc.records.deleteMatching.mutate({ selection: { tableId: table.id } })
      const creator = await createMember(bench.app, bench.baseId, 'creator')
      const change = { fieldId: table.field('Qty').id, patch: { type: 'Number' as const } }
      await bench.app.trpc(creator.token).schema.updateField.mutate(change)
      expect(await undo()).toMatchObject({ kind: 'records.delete', records: count })
      expect((await rowsOf(table)).every(({ Qty }) => Qty === null)).toBe(true)
      expect(await table.total()).toBe(count)
    },
  )
})

/** Changes of whole tables let short writes go ahead for five seconds. */
const LET_AHEAD_MS = 5_200

/** The results of calls that have read what they write before clean-ups, which write before them. */
async function behind(cleanUps: (() => Promise<unknown>)[], calls: (() => Promise<unknown>)[]) {
  const engine = await bench.app.kernel.sources.engine(bench.baseId)
  const [held, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const write = engine.exclusively(() => {
    held.resolve()
    return ended.promise
  })
  await held.promise
  const cleaned = Promise.all(cleanUps.map((cleanUp) => cleanUp()))
  await Bun.sleep(LET_AHEAD_MS)
  const results = Promise.allSettled(calls.map((call) => call()))
  await Bun.sleep(500)
  ended.resolve()
  await Promise.all([write, cleaned])
  return (await results).map((result) =>
    result.status === 'fulfilled' ? 'done' : result.reason.data?.appCode,
  )
}

describe('what a clean-up has removed while it waited', () => {
  /** A deletion of all records of a new table, and what may bring them back. */
  const deletionOf = async (count: number) => {
    const rows = Array.from({ length: count }, (_, index) => ({ Title: `r${index}` }))
    const table = await bench.table({ Title: 'SingleLineText' }, rows)
    await bench.trpc.records.deleteMatching.mutate({ selection: { tableId: table.id } })
    const [record] = (await bench.trpc.records.trash.query({ tableId: table.id })).records
    const deletion = { tableId: table.id, changeId: record?.changeId ?? 0 }
    const creator = await createMember(bench.app, bench.baseId, 'creator')
    const theirs = bench.app.trpc(creator.token).records
    return {
      table,
      deletion,
      undo: () => bench.trpc.records.undo.mutate({ baseId: bench.baseId, entryId: deletion.changeId }),
      restore: () => theirs.restoreTrashed.mutate(deletion),
    }
  }

  test.each([3, 1_200])(
    'is not brought back by the undo of a deletion of %i records, or the restoration of somebody else’s',
    async (count) => {
      const [first, second] = [await deletionOf(count), await deletionOf(count)]
      await bench.table({ Title: 'SingleLineText' }, [{ Title: 'later' }])
      const engine = await bench.app.kernel.sources.engine(bench.baseId)
      const removeHistory = () => removeEntries(engine, second.deletion.changeId)
      expect(await behind([removeHistory], [first.undo, second.restore])).toEqual([
        'GENERIC_NOT_FOUND',
        'RECORD_NOT_FOUND',
      ])
      expect([await first.table.total(), await second.table.total()]).toEqual([0, 0])
    },
  )

  test('is not brought back if it was deleted forever', async () => {
    const { table, deletion, restore } = await deletionOf(3)
    const { id: viewId } = await bench.trpc.views.create.mutate({
      tableId: table.id,
      kind: 'grid',
      title: 'Gone',
    })
    await bench.trpc.views.delete.mutate({ viewId })
    const { actions } = await bench.trpc.records.deletedViews.query({ baseId: bench.baseId })
    const view = { baseId: bench.baseId, entryId: actions[0]?.id ?? 0 }
    const { purgeTrashed, deleteViewForever, undo } = bench.trpc.records
    expect(
      await behind(
        [() => purgeTrashed.mutate(deletion), () => deleteViewForever.mutate(view)],
        [restore, () => undo.mutate(view)],
      ),
    ).toEqual(['RECORD_NOT_FOUND', 'CONFLICT'])
    const { views } = await bench.trpc.schema.table.query({ tableId: table.id })
    expect(views.map(({ title }) => title)).not.toContain('Gone')
    expect(await table.total()).toBe(0)
  })
})

describe('restoring single records from the trash', () => {
  const from = {
    'the trash': ({ id }: TestTable) =>
      bench.trpc.records.restoreTrashed.mutate({ tableId: id, recordIds: [2] }),
    async 'a version'({ id }: TestTable) {
      // The entry that has deleted it.
      const entryId = await lastChangeId(await bench.app.kernel.sources.engine(bench.baseId))
      return bench.trpc.records.restoreRecordVersion.mutate({ tableId: id, recordId: 2, entryId })
    },
  }

  // The three connections for scans are those of all bases.
  test.skipIf(process.env.TEST_HOME !== 'postgres').each(['the trash', 'a version'] as const)(
    'does not keep other writers waiting for scans, by %s',
    async (source) => {
      const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }, { Title: 'b' }])
      const others = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'old' }])
      await bench.rest.delete(table.path, [{ Id: 1 }, { Id: 2 }])
      const engine = await bench.app.kernel.sources.engine(bench.baseId)
      const held = Promise.withResolvers<void>()
      const write = engine.exclusively(() => held.promise)
      const restored = from[source](table)
      await Bun.sleep(500)
      const statement = { sql: 'select pg_sleep(60)', params: [] }
      // They end by being cancelled.
      const scans = Promise.allSettled(Array.from({ length: 3 }, () => engine.all(statement, { scan: true })))
      const running = `from pg_stat_activity where datname = current_database() and state = 'active'
        and pid <> pg_backend_pid() and query like '%select pg_sleep(60)'`
      await until(async () => (await engine.all({ sql: `select pid ${running}`, params: [] })).length === 3)
      held.resolve()
      await write
      const edited = bench.rest.patch(others.path, { Id: 1, Title: 'new' })
      const first = await Promise.race([edited.then(() => 'the edit'), scans.then(() => 'the scans')])
      expect(first).toBe('the edit')
      expect((await edited).status).toBe(200)
      await engine.all({ sql: `select pg_cancel_backend(pid) ${running}`, params: [] })
      await restored
      expect(await table.titles()).toEqual(['b'])
      await scans
    },
  )
})

describe('undo of what another server has undone while it waited', () => {
  const rename = {
    field: (table: TestTable) =>
      bench.trpc.schema.updateField.mutate({ fieldId: table.field('Title').id, patch: { title: 'Second' } }),
    view: ({ schema }: TestTable) =>
      bench.trpc.views.update.mutate({ viewId: schema.views[0]?.id ?? '', patch: { title: 'Second' } }),
  }

  test.each(['field', 'view'] as const)('changes nothing of a %s', async (kind) => {
    const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a' }])
    await rename[kind](table)
    const { baseId } = bench
    const engine = await bench.app.kernel.sources.engine(baseId)
    const entryId = await lastChangeId(engine)
    const schema = () => bench.trpc.schema.table.query({ tableId: table.id })
    const before = await schema()
    const ofAnotherServer = () =>
      engine.write((tx) => markUndone(tx, engine.dialect, entryId, entryId + 1_000))
    let answer: unknown
    const late = async () => {
      answer = await bench.trpc.records.undo.mutate({ baseId, entryId })
    }
    expect(await behind([ofAnotherServer], [late])).toEqual(['done'])
    expect(answer).toMatchObject({ applied: null, kind: `${kind}.update`, records: 0, skipped: 0 })
    expect(await schema()).toEqual(before)
    expect(await lastChangeId(engine)).toBe(entryId)
  })
})

describe('redo of what another server has redone, and undone again, while it waited', () => {
  test.each([3, 1_200])('changes nothing, for %i records', async (count) => {
    const rows = Array.from({ length: count }, (_, index) => ({ Title: `r${index}` }))
    const table = await bench.table({ Title: 'SingleLineText' }, rows)
    await bench.trpc.records.deleteMatching.mutate({ selection: { tableId: table.id } })
    const { baseId } = bench
    const entryId = (await bench.trpc.records.trash.query({ tableId: table.id })).records[0]?.changeId ?? 0
    await undo()
    const engine = await bench.app.kernel.sources.engine(baseId)
    const last = await lastChangeId(engine)
    const again = last + 1_000
    const ofAnotherServer = () =>
      engine.write(async (tx) => {
        await markUndone(tx, engine.dialect, entryId, null)
        await markUndone(tx, engine.dialect, entryId, again)
      })
    let answer: unknown
    const redo = async () => {
      answer = await bench.trpc.records.redo.mutate({ baseId, entryId })
    }
    expect(await behind([ofAnotherServer], [redo])).toEqual(['done'])
    expect(answer).toEqual({ applied: null, kind: 'records.delete', records: 0, skipped: 0 })
    expect(await findAction(engine, entryId)).toMatchObject({ undoneBy: again })
    expect([await lastChangeId(engine), await table.total()]).toEqual([last, count])
  })
})
