import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createIndexStore } from '../../modules/indexes/store.ts'
import type { TableSchema } from '../../src/core/model.ts'
import { doorOf, ended } from '../imports/support.ts'
import { type Bench, benchOf } from '../records/support.ts'
import { connect, createForeign } from '../sources/support.ts'
import { createTestApp } from '../support/app.ts'
import { createBase } from '../support/factories.ts'
import { until } from '../support/until.ts'
import { performanceOf } from './support.ts'

const RECORDS = 6_000
const NAMES = {
  sqlite: `select name from sqlite_master where type = 'index' and tbl_name = 'task'`,
  postgres: `select indexname as name from pg_indexes where tablename = 'task'`,
  mariadb: `select distinct index_name as name from information_schema.statistics
    where table_schema = database() and table_name = 'task'`,
}
const series = (kind: keyof typeof NAMES) =>
  kind === 'postgres'
    ? `select i, 'name ' || (i % 40), (i * 7919) % ${RECORDS} from generate_series(1, ${RECORDS}) as n(i)`
    : `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${RECORDS})
      select i, ${kind === 'mariadb' ? `concat('name ', i % 40)` : `'name ' || (i % 40)`}, (i * 7919) % ${RECORDS} from n`
const STATEMENTS = (kind: keyof typeof NAMES) => [
  ...(kind === 'mariadb' ? ['set session max_recursive_iterations = 1000000'] : []),
  'create table task (id integer primary key, name varchar(40), num integer)',
  `insert into task (id, name, num) ${series(kind)}`,
  'create view open_task as select * from task where num > 10',
]

describe.each(['sqlite', 'postgres', 'mariadb'] as const)('indexes of a connected %s database', (kind) => {
  let bench: Bench
  let sourceId: string
  let ask: (statement: string) => Promise<Record<string, unknown>[]>
  let stop: () => Promise<void>
  let task: TableSchema
  let view: TableSchema

  beforeAll(async () => {
    // Every read of a large table counts as slow.
    const app = await createTestApp({ config: { indexSlowMs: 0.001 } })
    const owner = await app.signUp()
    bench = benchOf(app, owner, (await createBase(app, owner)).id)
    if (kind === 'sqlite') {
      const folder = join(app.config.dataDir, 'sources')
      mkdirSync(folder, { recursive: true })
      const file = new Database(join(folder, 'tasks.db'))
      for (const statement of STATEMENTS(kind)) file.run(statement)
      sourceId = await connect(bench, { client: 'sqlite3', connection: { filename: 'tasks.db' } })
      ask = async (statement) => file.query(statement).all() as Record<string, unknown>[]
      stop = async () => file.close()
    } else {
      const foreign = await createForeign(kind, STATEMENTS(kind))
      sourceId = await connect(bench, foreign.sent)
      ask = (statement) => foreign.ask(statement)
      stop = foreign.stop
    }
    const tables = await bench.trpc.schema.tables.query({ baseId: bench.baseId })
    const named = (name: string) => tables.find((table) => table.tableName === name)?.id ?? ''
    task = await bench.trpc.schema.table.query({ tableId: named('task') })
    view = await bench.trpc.schema.table.query({ tableId: named('open_task') })
  })
  afterAll(async () => {
    await bench.stop()
    await stop()
  })

  const term = ({ fields }: TableSchema, column: string) => ({
    fieldId: fields.find(({ columnName }) => columnName === column)?.id ?? '',
    as: 'value' as const,
    direction: 'asc' as const,
  })
  const path = ({ table }: TableSchema) => `/api/v2/meta/tables/${table.id}/indexes`
  const listed = async () => (await bench.rest.get(path(task))).body.list as { id: string; state: string }[]
  const inDatabase = async () =>
    (await ask(NAMES[kind])).map(({ name }) => String(name)).filter((name) => name.startsWith('sheaf_auto_'))
  const explain = async () => (await performanceOf(bench.trpc, task.table.id)).views[0]

  async function finished() {
    await until(
      async () => (await listed()).every(({ state }) => state !== 'building'),
      'The end of all builds',
    )
    return listed()
  }

  test('are refused for a database view, and while the source allows no schema changes', async () => {
    const ofView = await bench.rest.post(path(view), { terms: [term(view, 'num')] })
    expect([ofView.status, ofView.body.msg]).toEqual([400, expect.stringContaining('database view')])
    await bench.trpc.sources.update.mutate({
      baseId: bench.baseId,
      sourceId,
      isSchemaReadonly: true,
    })
    const refused = await bench.rest.post(path(task), { terms: [term(task, 'num')] })
    expect([refused.status, refused.body.msg]).toEqual([400, expect.stringContaining('doesn’t allow')])
    expect((await explain())?.suggestion).toBeNull()
    await bench.trpc.sources.update.mutate({
      baseId: bench.baseId,
      sourceId,
      isSchemaReadonly: false,
    })
    expect(await inDatabase()).toEqual([])
    expect(await listed()).toEqual([])
  })

  test('are never created automatically', async () => {
    const records = `/api/v2/tables/${task.table.id}/records`
    for (let at = 0; at < 12; at++) {
      const { status } = await bench.rest.get(`${records}?where=(name,eq,name%207)&sort=num&offset=${at}`)
      expect(status).toBe(200)
    }
    await bench.app.services.indexes.maintain(() => true)
    expect(await listed()).toEqual([])
    expect(await inDatabase()).toEqual([])
  })

  test('are created once when they are asked for, serve the view, and are dropped', async () => {
    const viewId = task.views[0]?.id ?? ''
    await bench.trpc.views.update.mutate({
      viewId,
      patch: { sorts: [{ fieldId: term(task, 'num').fieldId, direction: 'asc' }] },
    })
    const before = await explain()
    expect(before).toMatchObject({
      reads: RECORDS,
      returns: 25,
      matches: RECORDS,
      sorts: true,
      usesIndex: false,
    })
    const terms = before?.suggestion ?? []
    const records = `/api/v2/tables/${task.table.id}/records?viewId=${viewId}&limit=100`
    const page = (await bench.rest.get(records)).body.list
    const made = await Promise.all([1, 2, 3].map(() => bench.rest.post(path(task), { terms })))
    expect(new Set(made.map(({ body }) => body.id)).size).toBe(1)
    expect(await finished()).toMatchObject([{ state: 'ready', isAutomatic: false, error: null }])
    expect(await inDatabase()).toHaveLength(1)
    expect(await explain()).toMatchObject({ reads: 25, sorts: false, usesIndex: true, suggestion: null })
    expect((await bench.rest.get(records)).body.list).toEqual(page)
    const measured = await bench.trpc.indexes.measure.query({ tableId: task.table.id, viewId })
    expect(measured).toMatchObject({ returns: 25, matches: RECORDS })
    const { id } = (await listed())[0] ?? { id: '' }
    // Somebody else may have dropped it in the database.
    await ask(`drop index ${id}${kind === 'mariadb' ? ' on task' : ''}`)
    expect((await bench.rest.delete(`${path(task)}/${id}`)).status).toBe(200)
    expect(await inDatabase()).toEqual([])
    expect(await listed()).toEqual([])
  })

  test('stay where the database refuses a value', async () => {
    if (kind !== 'postgres') return
    const made = await bench.rest.post(path(task), { terms: [{ ...term(task, 'name'), as: 'group' }] })
    expect(await finished()).toMatchObject([{ id: made.body.id, state: 'ready' }])
    await ask('alter table task add constraint positive check (num > -5)')
    const records = `/api/v2/tables/${task.table.id}/records`
    const { status } = await bench.rest.post(records, { id: RECORDS + 1, name: 'refused', num: -10 })
    expect(status).toBe(400)
    expect(await inDatabase()).toEqual([made.body.id])
    await ask('alter table task drop constraint positive')
    expect((await bench.rest.delete(`${path(task)}/${made.body.id}`)).status).toBe(200)
  })

  test('are built for a copy in another base as well, where the fields keep their type', async () => {
    const made = await bench.rest.post(path(task), { terms: [term(task, 'name')] })
    await finished()
    const target = await createBase(bench.app, bench.owner)
    const { jobId, tableId } = await bench.trpc.copies.tableToBase.mutate({
      tableId: task.table.id,
      baseId: target.id,
    })
    expect(await ended(doorOf(bench.app, bench.owner), jobId)).toMatchObject({ status: 'completed' })
    const list = () => bench.trpc.indexes.list.query({ tableId })
    await until(async () => (await list())[0]?.state === 'ready', 'The index of the copy')
    const copy = await bench.trpc.schema.table.query({ tableId })
    const { title } = task.fields.find(({ columnName }) => columnName === 'name')!
    const name = copy.fields.find((field) => field.title === title)!
    expect(await list()).toMatchObject([
      { state: 'ready', isAutomatic: false, terms: [{ fieldId: name.id, as: 'value', direction: 'asc' }] },
    ])
    expect((await bench.rest.delete(`${path(task)}/${made.body.id}`)).status).toBe(200)
  })

  test('stay with their base when it is duplicated, and are reported', async () => {
    const made = await bench.rest.post(path(task), { terms: [term(task, 'name'), term(task, 'num')] })
    await finished()
    const { jobId, baseId } = await bench.trpc.copies.base.mutate({ baseId: bench.baseId, options: {} })
    const job = await ended(doorOf(bench.app, bench.owner), jobId)
    const titles = ['name', 'num'].map(
      (column) => task.fields.find(({ columnName }) => columnName === column)?.title,
    )
    expect(job).toMatchObject({
      status: 'completed',
      result: {
        id: baseId,
        notCopied: [{ kind: 'index', name: titles.join(', '), table: task.table.title }],
      },
    })
    const copy = (await bench.trpc.schema.tables.query({ baseId })).find(
      ({ tableName }) => tableName === 'task',
    )
    await bench.app.services.indexes.maintain(() => true)
    expect(await bench.trpc.indexes.list.query({ tableId: copy?.id ?? '' })).toEqual([])
    expect(await inDatabase()).toEqual([made.body.id])
    expect((await bench.rest.delete(`${path(task)}/${made.body.id}`)).status).toBe(200)
    const again = await bench.trpc.copies.base.mutate({ baseId: bench.baseId, options: {} })
    expect((await ended(doorOf(bench.app, bench.owner), again.jobId)).result).toEqual({ id: again.baseId })
  })

  test('that a killed server was building are built by the next one', async () => {
    const made = await bench.rest.post(path(task), { terms: [term(task, 'name')] })
    await finished()
    await ask(`drop index ${made.body.id}${kind === 'mariadb' ? ' on task' : ''}`)
    const store = createIndexStore(bench.app.kernel)
    await store.update(made.body.id, { state: 'building' })
    await bench.app.services.indexes.maintain(() => true)
    expect(await finished()).toMatchObject([{ id: made.body.id, state: 'ready' }])
    expect(await inDatabase()).toEqual([made.body.id])
    expect((await bench.rest.delete(`${path(task)}/${made.body.id}`)).status).toBe(200)
    expect(await inDatabase()).toEqual([])
  })
})
