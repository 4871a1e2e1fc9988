import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { WALKED } from '../../modules/records/read/plan.ts'
import type { Filter } from '../../src/core/filters/index.ts'
import type { Engine, Statement } from '../../src/dialects/dialect.ts'
import { type Bench, createBench, type TestTable } from '../records/support.ts'
import { fillTable } from './support.ts'

const RECORDS = 150_000
const LIMIT = 25

describe('a filtered page in the own order of a table with the index of another query', () => {
  let bench: Bench
  let table: TestTable
  let engine: Engine
  let name: string
  /** The statements that look for a page among the first records. */
  const walks: string[] = []

  beforeAll(async () => {
    bench = await createBench()
    table = await bench.table({ Name: 'SingleLineText', Num: 'Number' })
    engine = await bench.app.kernel.sources.engine(bench.baseId)
    name = engine.dialect.quote(table.schema.table.tableName)
    await fillTable(bench.app.kernel, table, RECORDS)
    // A third each in turn, and one text that only the last records have.
    await write(`update ${name} set "Name" = case when id > 100000 then 'late' else 'state ' || (id % 3) end`)
    const terms = ['Name', 'Num'].map((title) => ({ fieldId: table.field(title).id, as: 'value' as const }))
    await bench.trpc.indexes.create.mutate({ tableId: table.id, terms })
    while ((await bench.trpc.indexes.list.query({ tableId: table.id })).some((one) => one.state !== 'ready'))
      await Bun.sleep(20)
    const { all } = engine
    engine.all = <T>(statement: Statement, options?: { scan?: boolean }) => {
      if (statement.sql.includes(`offset ${WALKED}`)) walks.push(statement.sql)
      return all<T>(statement, options)
    }
  })
  beforeEach(() => {
    walks.length = 0
  })
  afterAll(() => bench.stop())

  const write = (sql: string) => engine.writeScript([{ sql, params: [] }])

  const conditionOf = (title: string, operator: string, value: string | number): Filter => ({
    fieldId: table.field(title).id,
    operator,
    value,
  })

  async function planOf(filter: Filter, offset = 0) {
    const { id, email } = bench.owner
    const { records } = bench.app.services
    const actor = { kind: 'user' as const, id, email, orgRoles: ['super'], via: 'session' as const }
    const opened = await records.open(actor, table.id)
    const shape = { kind: 'rows', links: 'first' } as const
    return records.plan(opened, null, () => ({
      limit: LIMIT,
      offset,
      filter,
      fields: [table.field('Name'), table.field('Num')],
      shape,
    }))
  }

  /** Reads a page three times, each after a change of a record that it shows. */
  async function readAgain(value: string): Promise<Record<string, unknown>[]> {
    const where = `(Name,eq,${value})~and(Num,gte,0)`
    let list = await table.list(`?where=${where}&limit=${LIMIT}`)
    for (let turn = 1; turn < 4; turn++) {
      const { status } = await bench.rest.patch(table.path, { Id: list[0]!.Id, Num: turn })
      expect(status).toBe(200)
      list = await table.list(`?where=${where}&limit=${LIMIT}`)
    }
    return list
  }

  const firstIds = async (value: string) =>
    (
      await engine.values({
        sql: `select id from ${name} where "Name" = ? order by nc_order, id limit ${LIMIT}`,
        params: [value],
      })
    ).flat()

  test('ends with the page where many records match', async () => {
    const list = await readAgain('state 1')
    expect(walks.length).toBeGreaterThan(0)
    expect(list.map(({ Id }) => Id)).toEqual(await firstIds('state 1'))
  })

  test('is looked for among the first records once if these have too few', async () => {
    const list = await readAgain('late')
    expect(list.map(({ Id }) => Id)).toEqual(await firstIds('late'))
    await readAgain('late')
    expect(walks).toHaveLength(1)
  })

  test('is not looked for where few records match', async () => {
    expect(await readAgain('state 0').then(({ length }) => length)).toBe(LIMIT)
    walks.length = 0
    const where = '(Name,eq,state%200)~and(Num,lt,90)'
    for (let turn = 0; turn < 3; turn++) await table.list(`?where=${where}&limit=${LIMIT}&fields=Num`)
    expect(walks).toEqual([])
  })

  test('has the same records by either statement, without sorting those that match', async () => {
    await write(`update ${name} set nc_order = 30.5 where id in (90000, 400, 31)`)
    const children = [conditionOf('Name', 'eq', 'state 1'), conditionOf('Num', 'gt', 500)]
    const filters: Filter[] = [
      children[0]!,
      { join: 'and', children },
      { join: 'or', children },
      { join: 'and', not: true, children },
    ]
    for (const filter of filters) {
      for (const offset of [0, 30]) {
        const { page, amongFirst } = await planOf(filter, offset)
        const rows = await engine.values(page)
        expect(rows).toHaveLength(LIMIT)
        expect(await engine.values(amongFirst!)).toEqual(rows)
      }
    }
    const { page, amongFirst } = await planOf(filters[1]!)
    const { tableName } = table.schema.table
    expect(await engine.explain(page, tableName)).toMatchObject({ sorts: true })
    expect(await engine.explain(amongFirst!, tableName)).toMatchObject({ sorts: false })
  })

  test('is never taken from a table in which a record has no position', async () => {
    await write(`update ${name} set nc_order = null where id = 5`)
    const { page, amongFirst } = await planOf(conditionOf('Name', 'eq', 'state 1'))
    expect(await engine.values(page)).toHaveLength(LIMIT)
    expect(await engine.values(amongFirst!)).toEqual([])
    await write(`update ${name} set nc_order = 5 where id = 5`)
  })

  test('is read by one statement where it is sorted', async () => {
    const { records } = bench.app.services
    const { id, email } = bench.owner
    const actor = { kind: 'user' as const, id, email, orgRoles: ['super'], via: 'session' as const }
    const opened = await records.open(actor, table.id)
    const sorted = records.plan(opened, null, () => ({
      limit: LIMIT,
      offset: 0,
      filter: conditionOf('Name', 'eq', 'state 1'),
      sorts: [{ fieldId: table.field('Num').id, direction: 'asc' }],
      fields: [table.field('Name')],
      shape: { kind: 'rows', links: 'first' },
    }))
    expect(sorted.amongFirst).toBeNull()
  })
})
