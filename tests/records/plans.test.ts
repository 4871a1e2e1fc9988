import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { listGroups } from '../../modules/records/read/groups/list-groups.ts'
import { planPage } from '../../modules/records/read/plan.ts'
import type { PlanContext } from '../../modules/records/read/plan-cache.ts'
import { createPlanCache, type PlanCache } from '../../modules/records/read/plan-cache.ts'
import { summarize } from '../../modules/records/read/summaries.ts'
import { createTableModel, type TableModel } from '../../modules/schema/model/model.ts'
import type { Condition, FilterMoment } from '../../src/core/filters/index.ts'
import type { GroupRequest } from '../../src/core/query.ts'
import { sqlite } from '../../src/dialects/sqlite.ts'
import { MODEL } from '../dialects/fixture-table.ts'
import type { TestUser } from '../support/app.ts'
import { createMember } from '../support/factories.ts'
import { type Bench, createBench, type TestTable } from './support.ts'

const text = MODEL.field('cT')!
/** The table of the dialects' tests with a field of people, as a version of its own. */
const modelOf = (): TableModel => {
  const [first] = MODEL.stored
  const who = {
    ...first!,
    id: 'cWho',
    title: 'Who',
    type: 'User',
    columnName: 'who',
    isPrimaryKey: false,
  } as const
  return createTableModel(MODEL.table, [...MODEL.stored, who])
}

const ANN = { id: 'us1', email: 'ann@example.com', displayName: 'Ann' }

function contextOf(model: TableModel, moment: Partial<FilterMoment> = {}): PlanContext {
  return {
    model,
    view: null,
    dialect: sqlite,
    models: new Map([[model.table.id, model]]),
    moment: { now: new Date(), actorId: ANN.id, people: [ANN], ...moment },
  }
}

describe('a plan', () => {
  const model = modelOf()

  /** Plans the same filter twice, in two contexts; how often it was compiled. */
  function compiled(condition: Condition, first = contextOf(model), second = contextOf(model)): number {
    const planOf = createPlanCache()
    let times = 0
    for (const context of [first, second]) {
      planOf(context, JSON.stringify(condition), (watched) => {
        times++
        const shape = { kind: 'titled', withKey: false } as const
        return planPage(watched, { fields: [text], shape, filter: condition, limit: 25, offset: 0 })
      })
    }
    return times
  }

  test.each<[string, Condition]>([
    ['a text', { fieldId: 'cT', operator: 'like', value: 'a' }],
    ['a number', { fieldId: 'cNum', operator: 'gt', value: 3 }],
    ['a certain day', { fieldId: 'cD', operator: 'eq', operand: 'exactDate', value: '2024-02-29' }],
    ['a certain person', { fieldId: 'cWho', operator: 'anyof', value: ['us2'] }],
  ])('of a filter by %s is compiled once', (_, condition) => {
    expect(compiled(condition)).toBe(1)
  })

  test.each<[string, Condition]>([
    ['today', { fieldId: 'cD', operator: 'eq', operand: 'today', value: null }],
    ['the last days', { fieldId: 'cD', operator: 'isWithin', operand: 'pastNumberOfDays', value: 3 }],
    ['whoever asks', { fieldId: 'cWho', operator: 'anyof', value: ['@me'] }],
    ['the names of people', { fieldId: 'cWho', operator: 'like', value: 'ann' }],
  ])('of a filter by %s is compiled for each call', (_, condition) => {
    expect(compiled(condition)).toBe(2)
  })

  test('is compiled again for another version of the table, and for another time zone', () => {
    const condition: Condition = { fieldId: 'cT', operator: 'like', value: 'a' }
    expect(compiled(condition, contextOf(model), contextOf(modelOf()))).toBe(2)
    expect(compiled(condition, contextOf(model), contextOf(model, { timeZone: 'Asia/Tokyo' }))).toBe(2)
  })
})

describe('a filter', () => {
  const model = modelOf()
  const filter: Condition = { fieldId: 'cT', operator: 'like', value: 'a' }
  const summaries = [{ fieldId: 'cNum', summary: 'sum' }]
  const request: GroupRequest = {
    selection: { tableId: model.table.id, filter },
    groups: [
      { fieldId: 'cSs', direction: 'asc' },
      { fieldId: 'cD', direction: 'asc' },
    ],
    summaries,
    limit: 1,
    offset: 0,
  }

  /** Reads one group more than the page has, so that the second level is narrowed to the groups of the page. */
  const engine = {
    dialect: sqlite,
    values: async () => [
      ['red', 1, 1],
      ['blue', 1, 1],
    ],
  }

  async function readGroupedScreen(plans: PlanCache): Promise<void> {
    const context = { ...contextOf(model), plans }
    const shape = { kind: 'rows', links: 'first' } as const
    planPage(context, { fields: [text], shape, filter, groups: request.groups, limit: 25, offset: 0 })
    await listGroups({ engine, context }, request)
    await summarize(engine, context, { filter }, summaries)
  }

  test('is compiled once for a page, its groups and its summaries, which are compiled once for each', async () => {
    const cache = createPlanCache()
    const compilations: string[] = []
    const plans: PlanCache = (context, key, compile) =>
      cache(context, key, (watched) => {
        compilations.push(watched.narrow ? 'narrowed' : (key?.split(' ')[0] ?? 'uncached'))
        return compile(watched)
      })
    await readGroupedScreen(plans)
    expect(compilations.toSorted()).toEqual(['groups', 'narrowed', 'summaries', 'where'])
    compilations.length = 0
    await readGroupedScreen(plans)
    expect(compilations).toEqual(['narrowed'])
  })
})

describe('the same query, asked again', () => {
  let bench: Bench
  let table: TestTable
  let ann: TestUser

  beforeAll(async () => {
    bench = await createBench()
    ann = await createMember(bench.app, bench.baseId, 'editor')
    table = await bench.table({ Title: 'SingleLineText', Who: 'User', Count: 'Number' })
    const { status } = await bench.rest.post(table.path, [
      { Title: 'Own', Who: bench.owner.id, Count: 1 },
      { Title: 'Hers', Who: ann.id, Count: 2 },
    ])
    expect(status).toBe(200)
  })
  afterAll(() => bench.stop())

  const titles = async (query: string): Promise<string> => {
    const { body } = await bench.rest.get(`${table.path}?${query}`)
    return body.list.map((row: { Title: string }) => row.Title).join()
  }

  test('means the person who asks by @me', async () => {
    const filter = { fieldId: table.field('Who').id, operator: 'anyof', value: ['@me'] }
    const query = { tableId: table.id, filter, fieldIds: [table.field('Title').id], limit: 10, offset: 0 }
    for (const [user, title] of [
      [bench.owner, 'Own'],
      [ann, 'Hers'],
      [bench.owner, 'Own'],
    ] as const) {
      const { rows } = await bench.app.trpc(user.token).records.list.query({ query })
      expect(rows.map(([own]) => own)).toEqual([title])
    }
  })

  test('sees records that were written meanwhile, in its page and in its count', async () => {
    const where = `where=${encodeURIComponent('(Count,gt,5)')}`
    expect(await titles(where)).toBe('')
    await bench.rest.post(table.path, { Title: 'New', Count: 7 })
    const { body } = await bench.rest.get(`${table.path}?${where}`)
    expect(body.list.map((row: { Title: string }) => row.Title)).toEqual(['New'])
    expect(body.pageInfo.totalRows).toBe(1)
  })

  test('follows a field that was renamed, and refuses its former name', async () => {
    const where = `where=${encodeURIComponent('(Count,eq,1)')}`
    expect(await titles(where)).toBe('Own')
    expect(await titles(where)).toBe('Own')
    await bench.trpc.schema.updateField.mutate({
      fieldId: table.field('Count').id,
      patch: { title: 'Amount' },
    })
    expect((await bench.rest.get(`${table.path}?${where}`)).status).not.toBe(200)
    expect(await titles(`where=${encodeURIComponent('(Amount,eq,1)')}`)).toBe('Own')
  })

  test('groups and sums up the records that were written meanwhile', async () => {
    const selection = {
      tableId: table.id,
      filter: { fieldId: table.field('Count').id, operator: 'gt', value: 100 },
    }
    const summaries = [{ fieldId: table.field('Count').id, summary: 'sum' }]
    const groups = [{ fieldId: table.field('Title').id, direction: 'asc' as const }]
    const read = async () => {
      const request = { selection, groups, summaries, limit: 10, offset: 0 }
      const page = await bench.trpc.records.groups.query({ request })
      const totals = await bench.trpc.records.summaries.query({ selection, summaries })
      return [page.groups.map(({ keys }) => keys[0]), Object.values(totals)]
    }
    expect((await read())[0]).toEqual([])
    await bench.rest.post(table.path, [
      { Title: 'One', Count: 101 },
      { Title: 'Two', Count: 102 },
    ])
    expect(await read()).toEqual([['One', 'Two'], [203]])
  })
})
