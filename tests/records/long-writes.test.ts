import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Work } from '../../src/core/work.ts'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'

/** A formula over all of them takes minutes, and their file is so large that SQLite writes in a process. */
const ROWS = 60_000
const FILLER = 'x'.repeat(700)

const CANCELLED = 'The change was cancelled. Nothing was changed.'

/** A write that waits for its turn. */
interface Started {
  work: Work
  /** Lets it run. */
  release(): Promise<void>
  /** The message of its error; null where it succeeds. */
  outcome: Promise<string | null>
  /** As it is known to the server; undefined once it has ended. */
  now(): Readonly<Work> | undefined
  cancel(): Promise<void>
}

describe('a long write', () => {
  let app: TestApp
  let ann: TestUser
  let baseId: string
  let tableId: string
  let tableName: string
  let titleId: string
  let heavyId: string

  const trpc = () => app.trpc(ann.token)
  const schema = () => trpc().schema.table.query({ tableId })
  const count = async (): Promise<number> =>
    (await trpc().records.count.query({ selection: { tableId } })).count

  beforeAll(async () => {
    app = await createTestApp()
    ann = await app.signUp()
    baseId = (await trpc().bases.create.mutate({ title: 'Long' })).id
    const made = await trpc().schema.createTable.mutate({
      baseId,
      title: 'Tasks',
      fields: [
        { title: 'Title', type: 'SingleLineText' },
        { title: 'Note', type: 'LongText' },
      ],
    })
    tableId = made.table.id
    tableName = made.table.tableName
    titleId = made.fields.find(({ title }) => title === 'Title')?.id ?? ''
    // 100,000 characters, the most that REPEAT makes, replaced three times for each record.
    const text = 'REPEAT(RIGHT({Title}, 1), 100000)'
    const formula = `LEN(REPLACE(REPLACE(REPLACE(${text}, "1", "b"), "2", "c"), "3", "d"))`
    const heavy = { title: 'Heavy', type: 'Formula' as const, options: { formula } }
    heavyId = (await trpc().schema.createField.mutate({ tableId, field: heavy })).id
    const engine = await app.kernel.sources.engine(baseId)
    const { quote } = engine.dialect
    const column = (title: string) =>
      quote(made.fields.find((field) => field.title === title)?.columnName ?? '')
    await engine.writeScript([
      {
        sql: `insert into ${quote(tableName)} (${column('Title')}, ${column('Note')}, nc_order)
          with recursive ids(n) as (select 1 union all select n + 1 from ids where n < ${ROWS})
          select cast(n as text), '${FILLER}', n from ids`,
        params: [],
      },
    ])
    app.kernel.events.emit('records.changed', {
      id: 0,
      baseId,
      actorId: null,
      at: new Date().toISOString(),
      records: [],
      truncated: true,
      tableIds: [tableId],
    })
  })
  afterAll(() => app.stop())

  /** Starts a write while another one has its turn, and waits until it is announced. */
  async function start(write: () => Promise<unknown>): Promise<Started> {
    const engine = await app.kernel.sources.engine(baseId)
    const [running, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const other = engine.writeScript(async () => {
      running.resolve()
      await gate.promise
      return []
    })
    await running.promise
    const announced = Promise.withResolvers<Work>()
    const stop = app.kernel.events.on('work.changed', announced.resolve)
    const outcome = write().then(
      () => null,
      (error: Error) => error.message,
    )
    const work = await announced.promise
    stop()
    return {
      work,
      outcome,
      async release() {
        gate.resolve()
        await other
      },
      now: () => app.kernel.works.find(work.id),
      cancel: () => trpc().records.cancelWork.mutate({ baseId, workId: work.id }),
    }
  }

  /** Waits until a part of it is written. */
  async function underway({ now }: Started): Promise<void> {
    while (now()?.share === 0 || now()?.share === null) await Bun.sleep(1)
  }

  test('is stopped in the middle of a statement, and leaves all records', async () => {
    const filter = { fieldId: heavyId, operator: 'eq', value: 1 }
    const write = await start(() => trpc().records.deleteMatching.mutate({ selection: { tableId, filter } }))
    expect(write.work).toMatchObject({ kind: 'delete', tableId, canCancel: true, records: null })
    await write.release()
    // Its one statement would run for minutes.
    await Bun.sleep(300)
    expect(write.now()).toBeDefined()
    await write.cancel()
    expect(await write.outcome).toBe(CANCELLED)
    expect(await count()).toBe(ROWS)
    // The next one has its turn at once.
    const selection = { tableId, filter: { fieldId: titleId, operator: 'eq', value: '1' } }
    expect((await trpc().records.deleteMatching.mutate({ selection })).count).toBe(1)
    await trpc().records.undo.mutate({ baseId })
    expect(await count()).toBe(ROWS)
  })

  test('that changes the type of a field says how far it is, and is stopped on the way', async () => {
    const before = await schema()
    const columns = await columnsOf()
    const patch = { type: 'Number' as const }
    const write = await start(() => trpc().schema.updateField.mutate({ fieldId: titleId, patch }))
    expect(write.work).toMatchObject({ kind: 'convert', tableTitle: 'Tasks', fieldTitle: 'Title' })
    await write.release()
    await underway(write)
    expect(write.now()).toMatchObject({ records: ROWS, canCancel: true })
    await write.cancel()
    expect(await write.outcome).toBe(CANCELLED)
    expect((await schema()).fields).toEqual(before.fields)
    expect(await columnsOf()).toEqual(columns)
  })

  test('that takes back a change of type is one that can be stopped, too', async () => {
    await trpc().schema.updateField.mutate({ fieldId: titleId, patch: { type: 'Number' } })
    const before = await schema()
    const write = await start(() => trpc().records.undo.mutate({ baseId }))
    expect(write.work).toMatchObject({ kind: 'undo', tableTitle: 'Tasks' })
    await write.cancel()
    await write.release()
    expect(await write.outcome).toBe(CANCELLED)
    expect((await schema()).fields).toEqual(before.fields)
    await trpc().records.undo.mutate({ baseId })
    const after = (await schema()).fields.find(({ id }) => id === titleId)
    expect(after?.type).toBe('SingleLineText')
  })

  test('that numbers all records is stopped on the way', async () => {
    const columns = await columnsOf()
    const field = { title: 'Nr', type: 'AutoNumber' as const }
    const write = await start(() => trpc().schema.createField.mutate({ tableId, field }))
    expect(write.work).toMatchObject({ kind: 'fill', fieldTitle: 'Nr' })
    await write.release()
    await underway(write)
    await write.cancel()
    expect(await write.outcome).toBe(CANCELLED)
    expect((await schema()).fields.map(({ title }) => title)).not.toContain('Nr')
    expect(await columnsOf()).toEqual(columns)
  })

  test('of many named records is stopped on the way', async () => {
    const rows = Array.from({ length: 20_000 }, (_, index) => ({
      id: index + 1,
      values: { [titleId]: 'changed' },
    }))
    const operations = [{ kind: 'update' as const, tableId, rows }]
    const write = await start(() => trpc().records.write.mutate({ change: { baseId, operations } }))
    expect(write.work).toMatchObject({ kind: 'update', records: 20_000 })
    await write.release()
    await underway(write)
    await write.cancel()
    expect(await write.outcome).toBe(CANCELLED)
    const filter = { fieldId: titleId, operator: 'eq', value: 'changed' }
    expect((await trpc().records.count.query({ selection: { tableId, filter } })).count).toBe(0)
  })

  test('that deletes a field forever is announced, and cannot be stopped half-way', async () => {
    const field = { title: 'Old', type: 'SingleLineText' as const }
    const { id: fieldId } = await trpc().schema.createField.mutate({ tableId, field })
    await trpc().schema.deleteField.mutate({ fieldId })
    const write = await start(() =>
      trpc().trash.purge.mutate({ baseId, items: [{ kind: 'field', fieldId }] }),
    )
    expect(write.work).toMatchObject({ kind: 'purge', fieldTitle: 'Old', canCancel: false })
    await write.cancel()
    await write.release()
    expect(await write.outcome).toBeNull()
  })

  test('that deletes records forever, or restores them, is stopped and leaves them in the trash', async () => {
    const selection = { tableId, filter: { fieldId: titleId, operator: 'like', value: '999' } }
    const deleted = await trpc().records.deleteMatching.mutate({ selection })
    const trashed = async () => (await trpc().records.trashCounts.query({ baseId }))[0]?.count
    expect(await trashed()).toBe(deleted.count)
    const of = { tableId, changeId: deleted.id }
    for (const [kind, write] of [
      ['purge', () => trpc().records.purgeTrashed.mutate(of)],
      ['restore', () => trpc().records.restoreTrashed.mutate(of)],
    ] as const) {
      const started = await start(write)
      expect(started.work).toMatchObject({ kind, canCancel: true })
      await started.cancel()
      await started.release()
      expect(await started.outcome).toBe(CANCELLED)
      expect(await trashed()).toBe(deleted.count)
    }
    await trpc().records.restoreTrashed.mutate(of)
    expect(await count()).toBe(ROWS)
  })

  async function columnsOf(): Promise<unknown> {
    const engine = await app.kernel.sources.engine(baseId)
    return engine.all(engine.dialect.listColumns(tableName))
  }
})
