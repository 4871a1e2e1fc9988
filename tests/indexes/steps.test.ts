import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createIndexStore } from '../../modules/indexes/store.ts'
import { createUnfinished } from '../../src/dialects/sqlite-unfinished-index.ts'
import { type Bench, createBench, type TestTable } from '../records/support.ts'
import { until } from '../support/until.ts'
import { fillTable, indexNames } from './support.ts'

/** Enough for a build in steps. */
const MANY = 120_000

let bench: Bench
let table: TestTable
// Each has a base of its own: the server goes on with the indexes of tables that others have altered behind its back.
beforeEach(async () => {
  // The server adds no indexes of its own meanwhile.
  bench = await createBench({ config: { indexSlowMs: 0 } })
  table = await bench.table({
    Name: 'SingleLineText',
    Num: 'Number',
    Price: 'Decimal',
  })
  await fillTable(bench.app.kernel, table, MANY)
})
afterEach(() => bench.stop())

const term = (title: string, direction: 'asc' | 'desc' = 'asc') => ({
  fieldId: table.field(title).id,
  as: 'value' as const,
  direction,
})
const create = (...terms: ReturnType<typeof term>[]) =>
  bench.trpc.indexes.create.mutate({ tableId: table.id, terms })
const list = () => bench.trpc.indexes.list.query({ tableId: table.id })
const built = () =>
  until(async () => (await list()).every(({ state }) => state !== 'building'), 'The end of all builds')

const maintain = () => bench.app.services.indexes.maintain(() => true)

const pathOf = () => join(bench.app.kernel.config.dataDir, 'bases', `${bench.baseId}.db`)

/** Reads the file of the base by a connection of its own. */
function read<T>(run: (file: Database) => T): T {
  const file = new Database(pathOf(), { readonly: true })
  try {
    return run(file)
  } finally {
    file.close()
  }
}

const unfinished = () =>
  read((file) =>
    file
      .query("select name from sqlite_schema where name like 'sheaf#_unfinished#_%' escape '#'")
      .values()
      .flat(),
  )

/** Expects the whole file to be sound, and an index to give the same records in the same order as the table. */
function expectSound(indexId: string, order: string): void {
  read((file) => {
    expect(file.query('pragma integrity_check').values()).toEqual([['ok']])
    const name = table.schema.table.tableName
    const digest = (by: string) =>
      Bun.hash(JSON.stringify(file.query(`select id from "${name}" ${by} order by ${order}, id`).values()))
    expect(digest(`indexed by "${indexId}"`)).toBe(digest('not indexed'))
  })
  expect(unfinished()).toEqual([])
}

/** Changes records without one of the indexes, which misses the changes. */
function changeWithout(indexId: string, change: string): void {
  const file = new DatabaseSync(pathOf(), { defensive: false, timeout: 5000 })
  const schema = (sql: string, ...values: (string | number)[]) => {
    file.exec('pragma writable_schema = on')
    file.prepare(sql).run(...values)
    file.exec('pragma writable_schema = reset')
  }
  file.exec('begin immediate')
  const row = file.prepare('select rowid as id, * from sqlite_schema where name = ?').get(indexId)
  schema('delete from sqlite_schema where name = ?', indexId)
  file.exec(`update "${table.schema.table.tableName}" set ${change}`)
  schema(
    'insert into sqlite_schema (rowid, type, name, tbl_name, rootpage, sql) values (?, ?, ?, ?, ?, ?)',
    ...(Object.values(row ?? {}) as (string | number)[]),
  )
  file.exec('commit')
  file.close()
}

/** Builds an index again, as after a server that was killed before it had checked it. */
async function buildAgain(indexId: string): Promise<void> {
  await createIndexStore(bench.app.kernel).update(indexId, { state: 'building' })
  await maintain()
  await built()
}

describe('an index of a large table in a file', () => {
  test('has every record, also those that are written while it is built', async () => {
    const { columnName: name } = table.field('Name')
    const { columnName: num } = table.field('Num')
    const { id } = await create(term('Name'), term('Num', 'desc'))
    let isBuilding = true
    let meanwhile = 0
    const building = built().finally(() => {
      isBuilding = false
    })
    const { rest } = bench
    for (let at = 1; isBuilding; at++) {
      const records = [
        { Id: at * 97, Name: at % 3 ? `name ${at % 50}` : null, Num: at % 4 ? -at : null },
        { Id: MANY - at, Name: 'NAME 7' },
      ]
      expect((await rest.patch(table.path, records)).status).toBe(200)
      expect((await rest.post(table.path, [{ Name: `new ${at}`, Num: at }, {}])).status).toBe(200)
      expect((await rest.delete(table.path, [{ Id: at * 89 + 1 }])).status).toBe(200)
      if (unfinished().length > 0) meanwhile++
    }
    await building
    expect(meanwhile).toBeGreaterThan(3)
    expect(await list()).toMatchObject([{ id, state: 'ready', error: null }])
    expectSound(id, `"${name}", "${num}" desc`)
    const plan = read((file) =>
      file
        .query(
          `explain query plan select id from "${table.schema.table.tableName}" where "${name}" = 'name 7' order by "${num}" desc`,
        )
        .values()
        .flat(),
    )
    expect(plan.join(' ')).toContain(id)
    const { body } = await rest.get(`${table.path}?where=(Name,eq,NAME%207)&limit=1`)
    expect(body.pageInfo.totalRows).toBeGreaterThan(0)
    // Writes go on with the finished index.
    expect((await rest.patch(table.path, [{ Id: 4, Name: 'later', Num: null }])).status).toBe(200)
    expect((await rest.delete(table.path, [{ Id: 5 }])).status).toBe(200)
    expectSound(id, `"${name}", "${num}" desc`)
  })

  test('is not built if somebody drops it meanwhile', async () => {
    const { id } = await create(term('Num'))
    await until(() => unfinished().length > 0, 'The first step')
    await bench.trpc.indexes.drop.mutate({ tableId: table.id, indexId: id })
    expect(await list()).toEqual([])
    expect(unfinished()).toEqual([])
    expect(await indexNames(bench.app.kernel, table)).toEqual([])
    expect(read((file) => file.query('pragma integrity_check').values())).toEqual([['ok']])
    expect(await table.total()).toBe(MANY)
  })

  test('is built again if another column of its table is purged meanwhile, and not if its own is', async () => {
    const engine = await bench.app.kernel.sources.engine(bench.baseId)
    /** As a purge does it. */
    const purge = async (title: string) => {
      await until(() => unfinished().length > 0, 'The first step')
      const { dialect } = engine
      await engine.writeScript(async () => [
        ...(await indexNames(bench.app.kernel, table)).flatMap((name) => dialect.dropAutomaticIndex(name)),
        ...dialect.dropColumn(table.schema.table.tableName, table.field(title).columnName),
      ])
    }
    // The server compares its indexes with the file once, and not later when some are missing.
    const first = await create(term('Price'))
    await built()
    await maintain()
    await bench.trpc.indexes.drop.mutate({ tableId: table.id, indexId: first.id })
    const { id } = await create(term('Num'), term('Name'))
    await purge('Price')
    await built()
    expect(await list()).toMatchObject([{ id, state: 'ready', error: null }])
    expectSound(id, `"${table.field('Num').columnName}", "${table.field('Name').columnName}"`)
    const other = await create(term('Name'))
    await purge('Num')
    await built()
    expect(await list()).toMatchObject([{ id }, { id: other.id, state: 'ready' }])
    await create(term('Name', 'desc'))
    await purge('Name')
    await built()
    expect((await list()).map(({ state }) => state)).toEqual(['ready', 'ready', 'failed'])
    expect(unfinished()).toEqual([])
    expect(read((file) => file.query('pragma integrity_check').values())).toEqual([['ok']])
  })

  test('is not built if its table is deleted for good meanwhile', async () => {
    await create(term('Num'))
    await until(() => unfinished().length > 0, 'The first step')
    const engine = await bench.app.kernel.sources.engine(bench.baseId)
    await engine.writeScript(engine.dialect.dropTable(table.schema.table.tableName))
    await built()
    expect((await list()).map(({ state }) => state)).toEqual(['failed'])
    expect(unfinished()).toEqual([])
    expect(read((file) => file.query('pragma integrity_check').values())).toEqual([['ok']])
  })

  test('goes with its table if its server was killed and the table is deleted for good', async () => {
    const { id: tableId, tableName } = table.schema.table
    const num = table.field('Num').columnName
    const left = createUnfinished({
      name: 'sheaf_auto_left',
      table: tableName,
      terms: [`"${num}"`],
      key: 'id',
      columns: [[num, 'integer']],
    })
    const engine = await bench.app.kernel.sources.engine(bench.baseId)
    await engine.writeScript(left.map((sql) => ({ sql, params: [] })))
    await bench.trpc.schema.deleteTable.mutate({ tableId })
    const items = [{ kind: 'table' as const, tableId }]
    expect(await bench.trpc.trash.purge.mutate({ baseId: bench.baseId, items })).toMatchObject({ failed: [] })
    expect(unfinished()).toEqual([])
  })

  test('has every record if the file is rewritten meanwhile, as those of early versions are to reclaim space', async () => {
    const file = new Database(pathOf())
    file.run('pragma busy_timeout = 5000')
    file.run('pragma auto_vacuum = none')
    file.run('vacuum')
    file.close()
    const { id } = await create(term('Num'))
    const pages = () =>
      read((opened) => opened.query(`select 1 from dbstat where name = '${id}'`).values().length)
    await until(() => pages() > 20, 'Some steps')
    const engine = await bench.app.kernel.sources.engine(bench.baseId)
    await engine.storage?.compact(true)
    await built()
    expect(await list()).toMatchObject([{ id, state: 'ready', error: null }])
    expectSound(id, `"${table.field('Num').columnName}"`)
  })

  test('is built again if a killed server has not checked it and it is wrong', async () => {
    const { id } = await create(term('Num'))
    await built()
    changeWithout(id, `"${table.field('Num').columnName}" = -5 where id < 100`)
    expect(read((own) => own.query('pragma integrity_check').values())).not.toEqual([['ok']])
    await buildAgain(id)
    expect(await list()).toMatchObject([{ id, state: 'ready', error: null }])
    expectSound(id, `"${table.field('Num').columnName}"`)
  })

  test('is built where the table was damaged before, and is checked nevertheless', async () => {
    const damaged = await create(term('Name'))
    await built()
    // More faults than SQLite tells of one table.
    changeWithout(damaged.id, `"${table.field('Name').columnName}" = 'missed' where id <= 150`)
    const faults = () =>
      read((file) => file.query('pragma integrity_check(1000)').values().flat().map(String))
    const before = faults()
    expect(before.length).toBeGreaterThan(100)
    expect(before.every((fault) => fault.endsWith(damaged.id))).toBe(true)
    const { id } = await create(term('Num'))
    await built()
    const ready = [
      { id: damaged.id, state: 'ready' },
      { id, state: 'ready', error: null },
    ] as const
    expect(await list()).toMatchObject([...ready])
    expect(faults()).toEqual(before)

    changeWithout(id, `"${table.field('Num').columnName}" = -5 where id > ${MANY - 100}`)
    expect(faults()).not.toEqual(before)
    await buildAgain(id)
    expect(await list()).toMatchObject([...ready])
    expect(faults()).toEqual(before)
  })

  test('of a formula has its values', async () => {
    await bench.trpc.schema.createField.mutate({
      tableId: table.id,
      field: { title: 'Half', type: 'Formula', options: { formula: '{Num} * 2' } },
    })
    const { fields } = await bench.trpc.schema.table.query({ tableId: table.id })
    const half = fields.find(({ title }) => title === 'Half')!
    const { id } = await create({ ...term('Num', 'desc'), fieldId: half.id })
    do {
      expect(
        (
          await bench.rest.patch(table.path, [
            { Id: 9, Num: null },
            { Id: MANY - 9, Num: 1 },
          ])
        ).status,
      ).toBe(200)
    } while ((await list())[0]?.state === 'building')
    expect(await list()).toMatchObject([{ id, state: 'ready', error: null }])
    expectSound(id, 'id')
  })
})
