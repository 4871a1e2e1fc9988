import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { listGroups } from '../../modules/records/read/groups/list-groups.ts'
import { countRecords, planPage } from '../../modules/records/read/plan.ts'
import type { PlanContext } from '../../modules/records/read/plan-cache.ts'
import { columnOf } from '../../modules/records/table/columns.ts'
import { dayIn, fromStored } from '../../src/core/dates.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { fieldType } from '../../src/core/fields/index.ts'
import type { Sort } from '../../src/core/model.ts'
import type { GroupKey, RecordGroup } from '../../src/core/query.ts'
import { summariesFor } from '../../src/core/summaries.ts'
import { pick, seeded } from '../core/random.ts'
import { ENGINES, type TestEngine } from './engines.ts'
import { MODEL, PEOPLE, ROWS, type Row } from './group-table.ts'
import { reference, rounded } from './summary-reference.ts'

const ZONE = 'Europe/Berlin'
const FIELDS = MODEL.fields.filter((field) => !field.isSystem && !field.isPrimaryKey)

/** The titles of a field of options; of people their ids by name. */
const ORDERS: Record<string, string[]> = {
  cSs: ['red', 'blue', 'dark red', 'Ünï'],
  cMs: ['red', 'blue', 'dark red', 'Ünï'],
  cU: ['us3', 'us2', 'us1'],
  cUs: ['us3', 'us2', 'us1'],
}

/** What a record groups by, in memory. */
function keyOf(row: Row, fieldId: string): CellValue {
  const value = row[fieldId] ?? null
  if (fieldId === 'cCb') return value === true
  if (value === null || value === '') return null
  if (fieldId === 'cDt') return dayIn(fromStored(String(value)) ?? 0, ZONE)
  if (fieldId !== 'cMs' && fieldId !== 'cUs') return value
  const known = fieldId === 'cUs' ? PEOPLE.map(({ id }) => id) : (ORDERS[fieldId] ?? [])
  const titles = String(value).split(',')
  if (titles.some((title) => !known.includes(title))) return value
  return titles.sort((a, b) => known.indexOf(a) - known.indexOf(b)).join(',')
}

/** Values that stand in order as the keys do: what is no option comes ahead of those that are, people who left last. */
function ranks(key: CellValue, fieldId: string): (number | string)[] {
  const order = ORDERS[fieldId]
  if (!order || key === null) return []
  if (fieldId === 'cSs') return [order.indexOf(String(key))]
  if (fieldId === 'cU') return [order.includes(String(key)) ? order.indexOf(String(key)) : order.length]
  const places = order.map((title, at) => (String(key).split(',').includes(title) ? `00${at}` : ''))
  return [places.join('')]
}

function compareKeys(a: CellValue, b: CellValue, fieldId: string): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null)
  const left = [...ranks(a, fieldId), a]
  const right = [...ranks(b, fieldId), b]
  for (const [at, one] of left.entries()) {
    const other = right[at]!
    const order =
      typeof one === 'string'
        ? Buffer.compare(Buffer.from(one), Buffer.from(String(other)))
        : Number(one) - Number(other)
    if (order !== 0) return order
  }
  return 0
}

/** The rows in order by group. */
const inOrder = (rows: readonly Row[], groups: readonly Sort[]): Row[] =>
  rows.toSorted((a, b) => {
    for (const { fieldId, direction } of groups) {
      const order = compareKeys(keyOf(a, fieldId), keyOf(b, fieldId), fieldId)
      if (order !== 0) return direction === 'asc' ? order : -order
    }
    return Number(a.cId) - Number(b.cId)
  })

function expectedGroups(
  rows: readonly Row[],
  groups: readonly Sort[],
  keys: CellValue[] = [],
): RecordGroup[] {
  const [level, ...deeper] = groups
  if (!level) return []
  const sorted = inOrder(rows, [level])
  const parts = Map.groupBy(sorted, (row) => keyOf(row, level.fieldId))
  return [...parts].flatMap(([key, own]) => [
    { keys: [...keys, key], count: own.length, summaries: {} },
    ...expectedGroups(own, deeper, [...keys, key]),
  ])
}

describe.each(ENGINES)('groups on $client', ({ open }) => {
  let engine: TestEngine
  let context: PlanContext
  let statements = 0

  const random = seeded(5)
  const randomGroups = (): Sort[] =>
    FIELDS.map((field) => ({ field, at: random() }))
      .sort((a, b) => a.at - b.at)
      .slice(0, pick(random, [1, 2, 3]))
      .map(({ field }) => ({ fieldId: field.id, direction: pick(random, ['asc', 'desc'] as const) }))

  beforeAll(async () => {
    engine = await open()
    context = {
      model: MODEL,
      view: null,
      dialect: engine.dialect,
      models: new Map([[MODEL.table.id, MODEL]]),
      moment: { now: new Date('2024-02-29T12:00:00Z'), timeZone: ZONE, actorId: null, people: PEOPLE },
    }
    const columns = MODEL.fields.map((column) => ({
      name: column.columnName,
      storage: fieldType(column.type).storage,
      required: false,
      defaultValue: null,
    }))
    const { dialect } = engine
    for (const statement of dialect.createTable(MODEL.table.tableName, columns)) await engine.rows(statement)
    const encodes = MODEL.fields.map((field) => engine.engine.dialect.encode(fieldType(field.type).storage))
    const rows = ROWS.map((row) => {
      const values = MODEL.fields.map((field, at) => {
        const value = row[field.id] ?? null
        return sql`${value === null ? null : (encodes[at]?.(value) ?? value)}`
      })
      return sql`(${sql.join(values, sql`, `)})`
    })
    await engine.rows(
      dialect.render(
        sql`insert into ${sql.identifier(MODEL.table.tableName)} (${sql.join(MODEL.fields.map(columnOf), sql`, `)})
          values ${sql.join(rows, sql`, `)}`,
      ),
    )
  })

  afterAll(() => engine.close())

  const groupsOf = (groups: Sort[], request: object = {}) => {
    statements = 0
    const asEngine = {
      dialect: engine.dialect,
      values: (statement: Parameters<TestEngine['rows']>[0]) => {
        statements++
        return engine.rows(statement)
      },
    }
    const selection = { tableId: MODEL.table.id }
    return listGroups(
      { engine: asEngine, context },
      { selection, groups, summaries: [], limit: 1000, offset: 0, ...request },
    )
  }

  const idsOf = async (query: { groups?: Sort[]; group?: GroupKey[] }): Promise<number[]> => {
    const shape = { kind: 'rows', links: 'first' } as const
    const { page } = planPage(context, { fields: [], shape, limit: 1000, offset: 0, ...query })
    return (await engine.rows(page)).map(([id]) => Number(id))
  }

  test('lists the groups of each field, in both directions, as rows in memory have them', async () => {
    for (const { id: fieldId } of FIELDS) {
      for (const direction of ['asc', 'desc'] as const) {
        const groups = [{ fieldId, direction }]
        expect([fieldId, (await groupsOf(groups)).groups]).toEqual([fieldId, expectedGroups(ROWS, groups)])
        expect([fieldId, await idsOf({ groups })]).toEqual([
          fieldId,
          inOrder(ROWS, groups).map((row) => Number(row.cId)),
        ])
      }
    }
  })

  test('lists groups of several levels in one statement each, and the records in the same order', async () => {
    for (let turn = 0; turn < 25; turn++) {
      const groups = randomGroups()
      const { groups: listed, hasMore } = await groupsOf(groups)
      expect([groups, listed, hasMore]).toEqual([groups, expectedGroups(ROWS, groups), false])
      expect(statements).toBe(groups.length)
      expect(await idsOf({ groups })).toEqual(inOrder(ROWS, groups).map((row) => Number(row.cId)))
    }
  })

  test('finds the records of a group by its values', async () => {
    for (const { id: fieldId } of FIELDS) {
      const { groups } = await groupsOf([{ fieldId, direction: 'asc' }])
      for (const { keys } of groups) {
        const group = [{ fieldId, value: keys[0] ?? null }]
        const own = ROWS.filter((row) => keyOf(row, fieldId) === keys[0]).map((row) => Number(row.cId))
        expect([group, await idsOf({ group })]).toEqual([group, own])
        const [count] = await engine.rows(engine.dialect.render(countRecords(context, { group }).query))
        expect(Number(count?.[0])).toBe(own.length)
      }
    }
  })

  test('pages by groups of the first level, each page with all that is below', async () => {
    for (const fieldId of ['cT', 'cMs', 'cDt', 'cCb', 'cDec', 'cD', 'cTm']) {
      const groups: Sort[] = [
        { fieldId, direction: 'desc' },
        { fieldId: 'cSs', direction: 'asc' },
      ]
      const paged: RecordGroup[] = []
      for (let offset = 0; ; offset += 2) {
        const page = await groupsOf(groups, { limit: 2, offset })
        paged.push(...page.groups)
        if (!page.hasMore) break
      }
      expect(paged).toEqual(expectedGroups(ROWS, groups))
    }
    expect(await groupsOf([{ fieldId: 'cT', direction: 'asc' }], { offset: 100 })).toEqual({
      groups: [],
      hasMore: false,
    })
  })

  test('sums up each group as its values in memory do', async () => {
    for (const field of FIELDS.filter(({ type }) => type !== 'Date' && type !== 'DateTime')) {
      for (const { key } of summariesFor(fieldType(field.type).summaries)) {
        const groups: Sort[] = [
          { fieldId: 'cSs', direction: 'asc' },
          { fieldId: 'cCb', direction: 'desc' },
        ]
        const summaries = [{ fieldId: field.id, summary: key }]
        const answer = await groupsOf(groups, { summaries })
        for (const group of answer.groups) {
          const own = ROWS.filter((row) =>
            group.keys.every((value, at) => keyOf(row, groups[at]!.fieldId) === value),
          )
          const expected = reference(
            key,
            own.map((row) => row[field.id] ?? null),
          )
          expect([field.title, key, group.keys, rounded(group.summaries[field.id])]).toEqual([
            field.title,
            key,
            group.keys,
            rounded(expected),
          ])
        }
      }
    }
  })
})
